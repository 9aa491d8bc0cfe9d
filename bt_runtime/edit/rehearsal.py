"""A tree is tried without a robot: a manual clock, and stand-ins for skills that answer as a person says.

All that was clicked is one test case. It is played anew after each click, so it can be kept as a test file as it is.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from py_trees.common import Status

from bt_runtime.debug.script import Act, Double, Later, Script
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.language.loader import Loader
from bt_runtime.run.run import Tree
from bt_runtime.testing.case import Case, Move, Subject, moved
from bt_runtime.testing.trial import Trial
from bt_runtime.tree.describe.gist import family_of
from bt_runtime.tree.node import FAILURE, RUNNING, SUCCESS, path_of
from bt_runtime.types import Json

MOST_MOVES = 400
ANSWERS = {"success": SUCCESS, "failure": FAILURE}
Place = tuple[int, int]  # line and column of a node in the file


class Node(NamedTuple):
    """A node as it stands after the last move."""

    path: str
    status: str
    visits: int
    asks: bool  # a stand-in that runs, and waits for its answer


class Rehearsal:
    def __init__(self, text: str, path: Path, project: Path | None) -> None:
        loader = Loader(project)
        checked = loader.text(text, str(path), path.parent)
        self.tree = Tree(checked.sound(), lambda: Loader(project), tuple(checked.diagnostics), loader, ())
        self.path = path
        self.inputs: dict[str, Json] = {}
        self.acts: dict[str, list[Act]] = {}  # path of a stand-in → what each of its starts ended with
        self.moves: list[Move] = []
        self.places: dict[str, Place] = {}
        self.stands: list[str] = []
        with Trial(self.tree, inputs=self._samples(), slow=None) as trial:
            for node in trial.run.nodes():
                spec = getattr(node, "spec", None)
                at = path_of(node)
                if spec is not None and spec.file == str(path):
                    self.places.setdefault(at, (spec.span.line, spec.span.column))
                if family_of(node) in ("skill", "agent") and not node.children:
                    self.stands.append(at)
        self.trial_of = self._played()

    def _samples(self) -> dict[str, Json]:
        """A value for each input that must be given."""
        made: dict[str, Json] = dict(self.inputs)
        zero: Mapping[str, Json] = {"integer": 0, "number": 0.0, "boolean": False, "list": [], "object": {}}
        for port in self.tree.spec.inputs.values():
            if port.required and port.name not in made:
                made[port.name] = port.choices[0] if port.choices else zero.get(port.type, "")
        return made

    # What a person does ----------------------------------------------------------------------

    def tick(self, times: int = 1) -> None:
        """So many ticks, each when the tree wants it."""
        self._move(("step", max(1, min(times, 1000))))

    def set(self, entry: str, value: Json) -> None:
        self._move(("set", entry, value))

    def halt(self) -> None:
        self._move(("halt",))

    def answer(self, path: str, result: str) -> None:
        """The stand-in at this path ends with this result, and the tree is ticked."""
        if result not in ANSWERS:
            raise BtError(f"a skill ends with success or failure, not `{result:.20}`", "")
        script = self.trial_of.doubles.get(path)
        if path not in self.asking() or not isinstance(script, _Noted):
            raise BtError("this skill does not run now", "tick until it does")
        acts = self.acts.setdefault(path, [])
        del acts[script.started - 1 :]
        waited = script.polls - script.before
        acts.append(Later(waited, ANSWERS[result]) if waited else ANSWERS[result])
        self._move(("tick", 1))

    def chance(self, seed: int, most: int = 60) -> None:
        """Goes on at random: each skill succeeds three times of four, after a tick or some."""
        draw = random.Random(seed)
        for _ in range(most):
            if self.over or len(self.moves) >= MOST_MOVES:
                return
            asking = self.asking()
            if asking and draw.random() < 0.7:
                self.answer(draw.choice(asking), "success" if draw.random() < 0.75 else "failure")
            else:
                self.tick()

    def again(self) -> None:
        """From the beginning, with nothing clicked."""
        self.acts, self.moves = {}, []
        self.trial_of = self._played()

    def back(self) -> None:
        """The last move is taken back."""
        if self.moves:
            self.moves.pop()
            self.trial_of = self._played()

    def _move(self, move: Move) -> None:
        if len(self.moves) >= MOST_MOVES:
            raise BtError(f"{MOST_MOVES} moves are enough for one story", "begin again")
        self.moves.append(move)
        try:
            self.trial_of = self._played()
        except BtError:
            self.moves.pop()
            self.trial_of = self._played()
            raise

    def _played(self) -> Trial:
        doubles = {path: _Noted([*self.acts.get(path, []), RUNNING]) for path in self.stands}
        with Trial(self.tree, substitute=doubles, inputs=self._samples(), slow=None) as trial:
            for move in self.moves:
                if trial.ticks and trial.status is not RUNNING and move[0] in ("step", "tick"):
                    break
                moved(trial, move)
            self.shown = self._nodes(trial)
            self.board = dict(trial.run.blackboard.snapshot())
            self.lines = [getattr(line, "text", str(line)) for line in trial.lines][-50:]
            self.now, self.over = trial.clock.now(), bool(trial.ticks) and trial.status is not RUNNING
            self.status = trial.status if trial.ticks else Status.INVALID
        return trial

    def _nodes(self, trial: Trial) -> dict[str, Node]:
        made = {}
        for node in trial.run.nodes():
            path = path_of(node)
            asks = isinstance(node, Double) and node.status is RUNNING
            made[path] = Node(path, node.status.name, trial.visits[path], asks)
        return made

    def asking(self) -> list[str]:
        """The stand-ins that wait for an answer."""
        return [node.path for node in self.shown.values() if node.asks]

    # What comes of it ------------------------------------------------------------------------

    def told(self) -> dict[str, Json]:
        """The state for the page: nodes by their place in the file."""
        nodes = []
        for path, node in self.shown.items():
            if path in self.places:
                line, column = self.places[path]
                nodes.append([line, column, node.status[0], node.visits, node.asks, path])
        return {
            "nodes": nodes, "status": self.status.name.lower(), "seconds": round(self.now, 3), "moves": len(self.moves),
            "lines": self.lines, "board": {name: _shown(value) for name, value in sorted(self.board.items())},
        }  # fmt: skip

    def as_test(self) -> str:
        """What was clicked, as a test that pytest runs: it holds the result that the tree came to."""
        doubles = {path: [*acts, RUNNING] for path, acts in self.acts.items()}
        doubles |= {path: [RUNNING] for path in self.stands if path not in doubles}
        case = Case(inputs=self._samples(), doubles=doubles, moves=tuple(self.moves))
        text = Subject(self.tree).as_test(case, "btr edit")
        name = "".join(c if c.isalnum() else "_" for c in self.tree.name).strip("_").lower()
        text = text.replace(f"def test_{name}_keeps_its_promises", f"def test_{name}_as_it_was_played")
        text = text.replace('"""Found by `btr edit`."""', '"""Played in `btr edit`."""')
        status = self.status.name
        if status != "INVALID":
            text = text.replace(
                "        assert not trial.crashes\n",
                f"        assert trial.status is {status}\n        assert not trial.crashes\n",
            )
            head, _, rest = text.partition("\n")
            names = sorted({*head.removeprefix("from bt_runtime.testing import ").split(", "), status})
            text = f"from bt_runtime.testing import {', '.join(names)}\n{rest}"
        return text


def _shown(value: Json) -> str:
    """A value as somebody would write it."""
    try:
        return json.dumps(value, ensure_ascii=False)[:200]
    except (TypeError, ValueError):
        return repr(value)[:200]


class _Noted(Script):
    """A script that knows how often it was asked before the start that runs."""

    before = 0

    def begin(self, params: dict[str, Json]) -> Later:
        self.before = self.polls
        return super().begin(params)

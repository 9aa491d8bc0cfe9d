"""A tree is tried without a robot: a manual clock, and stand-ins for skills that answer as a person says.

All that was clicked is one test case. It is played anew after each click, so it can be kept as a test file as it is.
"""

from __future__ import annotations

import random
from pathlib import Path

from bt_author.edit.played import PlayedTree
from bt_author.edit.unsaved_loader import NO_TEXTS, Texts
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.run.debug.script import Act, LaterResult, Script
from bt_runtime.testing.case import Case, Move, Subject, moved
from bt_runtime.testing.trial import Trial
from bt_runtime.tree.node import FAILURE, RUNNING, SUCCESS
from bt_runtime.types import Json

MOST_MOVES = 400
ANSWERS = {"success": SUCCESS, "failure": FAILURE}


class Rehearsal(PlayedTree):
    def __init__(self, text: str, path: Path, project: Path | None, texts: Texts = NO_TEXTS) -> None:
        super().__init__(text, path, project, texts)
        self.acts: dict[str, list[Act]] = {}  # path of a stand-in → what each of its starts ended with
        self.moves: list[Move] = []
        self.trial_of = self._played()

    @property
    def begun(self) -> bool:
        return bool(self.trial_of.ticks)

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
        acts.append(LaterResult(waited, ANSWERS[result]) if waited else ANSWERS[result])
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
        with Trial(self.tree, substitute=doubles, inputs=self.samples(), slow=None) as trial:
            for move in self.moves:
                if trial.ticks and trial.status is not RUNNING and move[0] in ("step", "tick"):
                    break
                moved(trial, move)
            self.look(trial)
        return trial

    def asking(self) -> list[str]:
        """The stand-ins that wait for an answer."""
        return [node.path for node in self.shown.values() if node.asks]

    # What comes of it ------------------------------------------------------------------------

    def told(self) -> dict[str, Json]:
        return {**super().told(), "moves": len(self.moves)}

    def as_test(self) -> str:
        """What was clicked, as a test that pytest runs: it holds the result that the tree came to."""
        doubles = {path: [*acts, RUNNING] for path, acts in self.acts.items()}
        doubles |= {path: [RUNNING] for path in self.stands if path not in doubles}
        case = Case(inputs=self.samples(), doubles=doubles, moves=tuple(self.moves))
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


class _Noted(Script):
    """A script that knows how often it was asked before the start that runs."""

    before = 0

    def begin(self, params: dict[str, Json]) -> LaterResult:
        self.before = self.polls
        return super().begin(params)

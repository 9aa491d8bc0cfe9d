"""A tree that is played on a manual clock, in the shape that the page shows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from py_trees.common import Status

from bt_author.edit.unsaved_loader import NO_TEXTS, Texts, UnsavedLoader
from bt_runtime.language.kinds.kind import Field
from bt_runtime.language.spec import Port
from bt_runtime.run.debug.script import Double, outputs_of
from bt_runtime.run.run import Tree
from bt_runtime.testing.trial import Trial
from bt_runtime.tree.describe.gist import family_of
from bt_runtime.tree.node import RUNNING, path_of
from bt_runtime.types import Json

MOST_LINES = 50
Place = tuple[int, int]  # line and column of a node in the file


class PlayedNode(NamedTuple):
    """A node as it stands after the last move."""

    path: str
    status: str
    visits: int
    asks: bool  # a stand-in that runs, and waits for its answer


class PlayedTree:
    """A tree of a text, and its state after the moves that were made. No skill's code is imported."""

    def __init__(self, text: str, path: Path, project: Path | None, texts: Texts = NO_TEXTS) -> None:
        loader = UnsavedLoader(project, texts)
        checked = loader.text(text, str(path), path.parent)
        self.tree = Tree(checked.sound(), lambda: UnsavedLoader(project, texts), tuple(checked.diagnostics), loader, ())
        self.path = path
        self.trial: Trial | None = None
        self.inputs: dict[str, Json] = {}
        self.places: dict[str, Place] = {}
        self.stands: list[str] = []  # paths of skills and agents
        self.gives: dict[str, list[Field]] = {}  # path → outputs that are written into entries
        with Trial(self.tree, inputs=self.samples(), slow=None) as trial:
            for node in trial.run.nodes():
                spec = getattr(node, "spec", None)
                at = path_of(node)
                if spec is not None and spec.file == str(path):
                    self.places.setdefault(at, (spec.span.line, spec.span.column))
                if family_of(node) in ("skill", "agent") and not node.children:
                    self.stands.append(at)
                    self.gives[at] = outputs_of(node)

    def samples(self) -> dict[str, Json]:
        """A value for each input that must be given."""
        made: dict[str, Json] = dict(self.inputs)
        zero: Mapping[str, Json] = {"integer": 0, "number": 0.0, "boolean": False, "list": [], "object": {}}
        for port in self.tree.spec.inputs.values():
            if port.required and port.name not in made:
                made[port.name] = port.choices[0] if port.choices else zero.get(port.type, "")
        return made

    def close(self) -> None:
        if self.trial is not None:
            self.trial.close()
            self.trial = None

    def look(self, trial: Trial) -> None:
        """Keeps the state of the trial for the page."""
        self.shown: dict[str, PlayedNode] = {}
        for node in trial.run.nodes():
            path = path_of(node)
            asks = isinstance(node, Double) and node.status is RUNNING
            self.shown[path] = PlayedNode(path, node.status.name, trial.visits[path], asks)
        self.board = dict(trial.run.blackboard.snapshot())
        self.lines = [getattr(line, "text", str(line)) for line in trial.lines][-MOST_LINES:]
        self.now, self.over = trial.clock.now(), bool(trial.ticks) and trial.status is not RUNNING
        self.status = trial.status if trial.ticks else Status.INVALID

    def told(self) -> dict[str, Json]:
        """The state for the page: nodes by their place in the file."""
        nodes = []
        for path, node in self.shown.items():
            if path in self.places:
                line, column = self.places[path]
                nodes.append([line, column, node.status[0], node.visits, node.asks, path])
        return {
            "nodes": nodes, "status": self.status.name.lower(), "seconds": round(self.now, 3),
            "lines": self.lines, "board": {name: worded(value) for name, value in sorted(self.board.items())},
            "ports": [described(port) for port in self.tree.spec.ports.values()],
        }  # fmt: skip


def described(port: Port | Field) -> Json:
    """Describes an entry or an output for its control: a switch, a slider, a list."""
    bounds = (port.minimum, port.maximum)
    return [
        port.name,
        port.type,
        *bounds,
        [worded(choice) for choice in port.choices],
        bool(getattr(port, "outside", None)),
        port.about,
    ]


def worded(value: Json) -> str:
    """A value as somebody would write it."""
    try:
        return json.dumps(value, ensure_ascii=False)[:200]
    except (TypeError, ValueError):
        return repr(value)[:200]

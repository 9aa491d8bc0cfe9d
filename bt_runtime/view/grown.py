"""A tree's shape, told by a journal's table of nodes: who stands below whom, and what has made way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.journal.layout import NodeRow
from bt_runtime.language.kinds.registry import BUILT_IN
from bt_runtime.tree.node import path_of
from bt_runtime.types import Json
from bt_runtime.view.event import Event
from bt_runtime.view.gist import family_of, gist


class Grown:
    def __init__(self, head: Mapping[str, Any]) -> None:
        self.numbers: dict[str, int] = {}  # path → the node behind its guards
        self.parents: dict[int, int] = {}
        self.children: dict[int, list[int]] = {}
        self.places: dict[int, int] = {}
        self.paths: dict[int, str] = {}
        self.rows: dict[int, list[Json]] = {}  # as they were shown
        self.grafts: list[Json] = []  # told, and not yet shown
        self.known = _described(head)

    def take(self, rows: Sequence[NodeRow], at: float, tick: int) -> Event:
        """New nodes, parents first, as one change of shape."""
        add: list[Json] = []
        gone: list[int] = []
        touched: set[int] = set()
        before: NodeRow | None = None
        fresh = {row.number for row in rows}
        for row in rows:
            guarded = before is not None and before.path == row.path and before.number == row.number - 1
            old = self.numbers.get(row.path)
            if old is not None and old not in fresh:
                gone += self.drop(old)
            above = row.path.rpartition("/")[0]
            parent = before.number if guarded and before is not None else self.numbers.get(above, -1)
            self._stand(row, parent)
            touched.add(parent)
            segment = "." if guarded else row.path.rpartition("/")[2]
            family, says = self.known.get(row.path, (_family(row.kind), ""))
            name = row.name if row.name != row.kind else ""
            add.append(self.rows.setdefault(row.number, [row.number, parent, segment, row.kind, family, name, says]))
            before = row
        order = {number: self.children[number] for number in touched if number in self.children}
        grafts, self.grafts = self.grafts, []
        return {"k": "shape", "t": at, "add": add, "gone": gone, "order": order, "grafts": grafts}

    def _stand(self, row: NodeRow, parent: int) -> None:
        self.numbers[row.path] = row.number
        self.paths[row.number], self.parents[row.number], self.places[row.number] = row.path, parent, row.place
        beside = self.children.setdefault(parent, [])
        beside.insert(min(row.place, len(beside)), row.number)

    def removed(self, path: str, at: float) -> Event | None:
        number = self.numbers.get(path)
        if number is None:
            return None
        parent, grafts = self.parents[number], self.grafts
        self.grafts = []
        gone = self.drop(number)
        order = {parent: self.children.get(parent, [])}
        return {"k": "shape", "t": at, "add": [], "gone": gone, "order": order, "grafts": grafts}

    def drop(self, number: int) -> list[int]:
        """This node and all below have left."""
        while self.parents.get(number, -1) >= 0 and self.paths[self.parents[number]] == self.paths[number]:
            number = self.parents[number]  # its guards go with it
        parent = self.parents.get(number, -1)
        if number in self.children.get(parent, ()):
            self.children[parent].remove(number)
        gone, todo = [], [number]
        while todo:
            at = todo.pop()
            gone.append(at)
            todo.extend(self.children.pop(at, ()))
            path = self.paths.pop(at, "")
            self.rows.pop(at, None)
            if self.numbers.get(path) == at:
                del self.numbers[path]
        return gone

    def says(self, path: str, text: str, at: float) -> Event | None:
        """A subtree was given its goal: that is what its node is about."""
        row = self.rows.get(self.numbers.get(path, -1))
        if row is None or row[3] != "tree" or row[6] == text:
            return None
        number: int = row[0]
        self.rows[number] = [*row[:6], text]
        return {"k": "shape", "t": at, "add": [self.rows[number]], "gone": [], "order": {}}

    def changes(self, told: str) -> list[Json]:
        """`4R 3R 2R 7i`, the last of each node."""
        found: dict[int, Json] = {}
        for change in told.split():
            found[int(change[:-1])] = change[-1].upper()
        return [[number, status] for number, status in found.items() if number in self.paths]


def _family(kind: str) -> str:
    """Of a node that grew: one that every tree has, a class of Python's, or a skill."""
    found = BUILT_IN.get(kind)
    return found.family if found is not None else "foreign" if kind[:1].isupper() else "skill"


def _described(head: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """What the nodes of the tree as it was written say, when this version can still load it."""
    from bt_runtime.run.run import Run, load

    try:
        tree = load(str(head["text"]) + "\n")
        with Run(tree, inputs={n: p.default if not p.required else "" for n, p in tree.spec.inputs.items()}) as run:
            return {path_of(node): (family_of(node), gist(node)) for node in run.nodes()}
    except (BtError, KeyError, OSError, TypeError, ValueError):
        return {}

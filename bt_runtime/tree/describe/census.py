"""Numbers a tree's nodes; finds added and removed ones, also those changed without our API."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.events import Counted, Placed, Reshaped, Tick
from bt_runtime.tree.describe.gist import family_of, gist, kind_of
from bt_runtime.tree.node import FAILURE, INVALID, RUNNING, SUCCESS, Node, segment_of

LONGEST = 200  # characters of a name
LETTERS = {Status.INVALID: "I", Status.RUNNING: "R", Status.SUCCESS: "S", Status.FAILURE: "F"}
RESET = "i"  # letter of a node whose result a new round cleared


class Census:
    """Numbers nodes by their `seen_as`; a replayed run repeats the numbers."""

    def __init__(self) -> None:
        self.nodes: dict[int, Behaviour] = {}
        self.orders: dict[int, list[int]] = {}
        self.foreign: dict[int, tuple[Behaviour, Status, str]] = {}  # and their last status and message
        self.stale = True  # the shape may be another one
        self.last = 0

    def whole(self, root: Behaviour) -> Reshaped:
        """Returns all nodes as last counted."""
        if not self.nodes and (first := self.take(root)):
            return first
        order = {number: list(below) for number, below in self.orders.items()}
        return Reshaped(sorted(map(self._placed, self.nodes.values())), (), order, _counted(self.nodes.values()))

    def take(self, root: Behaviour) -> Reshaped | None:
        """Recounts; returns None without changes."""
        self.stale = False
        new: list[Behaviour] = []
        order: dict[int, list[int]] = {}
        seen: set[int] = set()
        todo = [root]
        while todo:
            node = todo.pop()
            number = self._number(node)
            if number not in self.nodes:
                self.nodes[number] = node
                new.append(node)
            seen.add(number)
            todo.extend(reversed(node.children))
        for number in seen:
            node = self.nodes[number]
            below = [child.seen_as for child in node.children]  # type: ignore[attr-defined]
            if below != self.orders.get(number, []):
                order[number] = self.orders[number] = below
        gone = [number for number in self.nodes if number not in seen]
        for number in gone:
            for kept in (self.nodes, self.orders, self.foreign):
                kept.pop(number, None)
        if not (new or gone or order):
            return None
        return Reshaped([self._placed(node) for node in new], gone, order, _counted(new))

    def silent(
        self, changes: list[tuple[Behaviour, Status]], resets: Sequence[Behaviour], said: dict[Behaviour, str]
    ) -> None:
        """Adds what foreign nodes show besides what was told of them: py_trees changes its own in silence."""
        told = {id(node): status for node, status in changes}
        told.update((id(node), INVALID) for node in resets)
        for number, (node, status, before) in self.foreign.items():
            if told.get(id(node), status) is not node.status:
                changes.append((node, node.status))
            if before != node.feedback_message:
                said[node] = node.feedback_message
            self.foreign[number] = node, node.status, node.feedback_message

    def _number(self, node: Any) -> int:
        number: int = getattr(node, "seen_as", 0)
        if self.nodes.get(number) is node:
            return number
        self.last += 1
        node.seen_as = self.last
        if not isinstance(node, Node):
            self.foreign[self.last] = node, INVALID, ""
        return self.last

    def _placed(self, node: Any) -> Placed:
        parent = node.parent.seen_as if node.parent is not None else -1
        kind, name = kind_of(node), node.name[:LONGEST]
        return Placed(
            node.seen_as, parent, segment_of(node), kind, family_of(node), name if name != kind else "", gist(node)
        )


def _counted(nodes: Iterable[Any]) -> list[Counted]:
    return [Counted(node.seen_as, node, node.parent) for node in nodes]


def statuses(tick: Tick) -> list[tuple[int, str]]:
    """Returns (number, letter) in order; nodes that were reset come last, with the letter `i`."""
    changes: Any = tick.changes
    resets: Any = tick.resets
    changed = [  # not by LETTERS: hashing a Status calls Python code
        (node.seen_as, "S" if now is SUCCESS else "R" if now is RUNNING else "F" if now is FAILURE else "I")
        for node, now in changes
        if node.seen_as
    ]
    return [*changed, *((node.seen_as, RESET) for node in resets if node.seen_as)] if resets else changed


def feedback(tick: Tick) -> list[tuple[int, str]]:
    said: Any = tick.said
    return [(node.seen_as, text) for node, text in said if node.seen_as]

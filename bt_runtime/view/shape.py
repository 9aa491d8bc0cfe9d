"""A tree's nodes by number, and what has changed since they were last numbered."""

from __future__ import annotations

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.tree.node import TRANSPARENT, segment_of
from bt_runtime.types import Json
from bt_runtime.view.event import SIGNS, Event
from bt_runtime.view.gist import family_of, gist, kind_of
from bt_runtime.view.plain import clipped


class Shape:
    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}  # id() of a node in the tree → its number
        self.nodes: dict[int, Behaviour] = {}  # number → node: held, so that no id() is used twice
        self.paths: dict[str, int] = {}
        self.orders: dict[int, list[int]] = {}
        self.shown: dict[int, tuple[Status, str]] = {}
        self._next = 0

    def of(self, node: Behaviour) -> int | None:
        return self.numbers.get(id(node))

    def survey(self, root: Behaviour) -> Event | None:
        """Walks the tree; None when it is as it was."""
        add: list[Json] = []
        order: dict[int, list[int]] = {}
        seen: set[int] = set()
        self.paths = {}
        todo: list[tuple[Behaviour, int, str]] = [(root, -1, "")]
        while todo:
            node, parent, above = todo.pop()
            number, new = self._numbered(node)
            seen.add(number)
            segment = segment_of(node)
            path = above if segment == TRANSPARENT else f"{above}/{segment}"
            self.paths[path] = number
            if new:
                name = node.name if node.name != kind_of(node) else ""
                words = (segment, kind_of(node), family_of(node), clipped(name, 200), gist(node))
                add.append([number, parent, *words])
            children = [self._numbered(c, peek=True)[0] for c in node.children]
            if children != self.orders.get(number, []):
                order[number] = self.orders[number] = children
            todo.extend((c, number, path) for c in reversed(node.children))
        gone = [n for n in self.nodes if n not in seen]
        self._forget(gone)
        if not (add or gone or order):
            return None
        return {"k": "shape", "add": add, "gone": gone, "order": order}

    def change(self, node: Behaviour) -> list[Json] | None:
        """[number, status, feedback] when it is not what was shown last."""
        number = self.numbers.get(id(node))
        if number is None:
            return None
        status, feedback = node.status, node.feedback_message
        before = self.shown.get(number, (Status.INVALID, ""))
        if status is before[0] and feedback == before[1]:
            return None
        self.shown[number] = (status, feedback)
        told: list[Json] = [number, SIGNS.get(status, "I")]
        if feedback != before[1]:
            told.append(clipped(str(feedback or ""), 400))
        return told

    def changes(self, nodes: list[Behaviour]) -> list[Json]:
        """Of these nodes and of what below them was cleared without a word when they began again."""
        found: list[Json] = []
        todo, seen = list(nodes), set()
        while todo:
            node = todo.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            told = self.change(node)
            if told is not None:
                found.append(told)
            todo.extend(node.children)
        return found

    def _numbered(self, node: Behaviour, peek: bool = False) -> tuple[int, bool]:
        """Its number, and whether it has not been seen before (a child that is only named is seen later)."""
        number = self.numbers.get(id(node))
        if number is None:
            number = self.numbers[id(node)] = self._next
            self._next += 1
        if peek or number in self.nodes:
            return number, False
        self.nodes[number] = node
        return number, True

    def _forget(self, gone: list[int]) -> None:
        for number in gone:
            self.numbers.pop(id(self.nodes.pop(number)), None)
            self.orders.pop(number, None)
            self.shown.pop(number, None)

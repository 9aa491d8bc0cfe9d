"""Which nodes of a running tree are shown when the window is too small: what runs first, then what has run."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from py_trees.common import Status

from bt_runtime.tree.node import TRANSPARENT


class Branch(Protocol):
    """Whatever has a status and children of its own sort: a node, or a goal."""

    @property
    def children(self) -> Sequence[Any]: ...
    @property
    def status(self) -> Status: ...


B = TypeVar("B", bound=Branch)


class Row(NamedTuple, Generic[B]):
    depth: int
    node: B | None  # None: children that are left out here
    status: Status
    hidden: int  # children of this node that are not shown, or how many are left out here


class _Opened(NamedTuple):
    first: int
    last: int  # exclusive


def inner(node: B) -> B:
    """The node itself, behind its guards."""
    while node.children and getattr(node.children[0], "segment", "") == TRANSPARENT:
        node = node.children[0]
    return node


def outline(root: B, rows: int) -> list[Row[B]]:
    """At most so many rows, in the order of the tree."""
    opened = _open(root, rows)
    out: list[Row[B]] = []
    todo: list[tuple[B | None, int, int]] = [(root, 0, 0)]
    while todo:
        node, depth, left_out = todo.pop()
        if node is None:
            out.append(Row(depth, None, Status.INVALID, left_out))
            continue
        children = list(inner(node).children)
        part = opened.get(id(node))
        out.append(Row(depth, node, node.status, 0 if part else len(children)))
        if part is None:
            continue
        if part.last < len(children):
            todo.append((None, depth + 1, len(children) - part.last))
        todo.extend((child, depth + 1, 0) for child in reversed(children[part.first : part.last]))
        if part.first:
            todo.append((None, depth + 1, part.first))
    return out[:rows]


def _open(root: Branch, rows: int) -> dict[int, _Opened]:
    """Which nodes show their children, and which of them; nothing is walked that is not shown."""
    opened: dict[int, _Opened] = {}
    used, order = 1, 0
    heap: list[tuple[int, int, int, Branch]] = [(0, 0, 0, root)]
    while heap and used < rows:
        _, depth, _, node = heapq.heappop(heap)
        children = list(inner(node).children)
        if not children:
            continue
        part, cost = _part(children, rows - used)
        if part is None:
            continue
        opened[id(node)] = part
        used += cost
        for child in children[part.first : part.last]:
            order += 1
            heapq.heappush(heap, (_rank(child), depth + 1, order, child))
    return opened


def _rank(node: Branch) -> int:
    return {Status.RUNNING: 0, Status.FAILURE: 1, Status.SUCCESS: 2}.get(node.status, 3)


def _part(children: list[Any], room: int) -> tuple[_Opened | None, int]:
    """All children when there is room, else those around the one that runs."""
    count = len(children)
    if count <= room:
        return _Opened(0, count), count
    width = room - 2  # two rows say what is left out
    if width < 1:
        return None, 0
    live = [i for i, c in enumerate(children) if c.status is Status.RUNNING]
    live = live or [i for i, c in enumerate(children) if c.status is not Status.INVALID][-1:] or [0]
    first = min(max(0, live[0] - width // 2), count - width)
    part = _Opened(first, first + width)
    return part, width + (part.first > 0) + (part.last < count)

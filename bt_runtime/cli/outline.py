"""Which nodes of a running tree are shown when the window is too small: what runs first, then what has run."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from bt_runtime.tree.census import LETTERS

if TYPE_CHECKING:
    from bt_runtime.view.picture import Picture, Spot

B = TypeVar("B")
Below = Callable[[Any], Sequence[Any]]
Letter = Callable[[Any], str]  # R, S, F or I


class Row(NamedTuple, Generic[B]):
    depth: int
    node: B | None  # None: children that are left out here
    status: str  # R, S, F or I
    hidden: int  # children of this node that are not shown, or how many are left out here


class _Opened(NamedTuple):
    first: int
    last: int  # exclusive


def _children(node: Any) -> Sequence[Any]:
    return list(node.children)


def _letter(node: Any) -> str:
    return LETTERS[node.status]


def drawn(picture: Picture, rows: int) -> list[Row[Spot]]:
    """The outline of a picture; a guard stands for what it guards."""
    top = picture.top
    return outline(top, rows, lambda spot: picture.below(picture.inner(spot)), lambda spot: spot.status) if top else []


def outline(root: B, rows: int, below: Below = _children, letter: Letter = _letter) -> list[Row[B]]:
    """At most so many rows, in the order of the tree."""
    opened = _open(root, rows, below, letter)
    out: list[Row[B]] = []
    todo: list[tuple[B | None, int, int]] = [(root, 0, 0)]
    while todo:
        node, depth, left_out = todo.pop()
        if node is None:
            out.append(Row(depth, None, "I", left_out))
            continue
        children = below(node)
        part = opened.get(id(node))
        out.append(Row(depth, node, letter(node), 0 if part else len(children)))
        if part is None:
            continue
        if part.last < len(children):
            todo.append((None, depth + 1, len(children) - part.last))
        todo.extend((child, depth + 1, 0) for child in reversed(children[part.first : part.last]))
        if part.first:
            todo.append((None, depth + 1, part.first))
    return out[:rows]


def _open(root: Any, rows: int, below: Below, letter: Letter) -> dict[int, _Opened]:
    """Which nodes show their children, and which of them; nothing is walked that is not shown."""
    opened: dict[int, _Opened] = {}
    used, order = 1, 0
    heap: list[tuple[int, int, int, Any]] = [(0, 0, 0, root)]
    while heap and used < rows:
        _, depth, _, node = heapq.heappop(heap)
        children = below(node)
        if not children:
            continue
        part, cost = _part([letter(child) for child in children], rows - used)
        if part is None:
            continue
        opened[id(node)] = part
        used += cost
        for child in children[part.first : part.last]:
            order += 1
            heapq.heappush(heap, ("RFSI".index(letter(child)), depth + 1, order, child))
    return opened


def _part(letters: list[str], room: int) -> tuple[_Opened | None, int]:
    """All children when there is room, else those around the one that runs."""
    count = len(letters)
    if count <= room:
        return _Opened(0, count), count
    width = room - 2  # two rows say what is left out
    if width < 1:
        return None, 0
    live = [i for i, letter in enumerate(letters) if letter == "R"]
    live = live or [i for i, letter in enumerate(letters) if letter != "I"][-1:] or [0]
    first = min(max(0, live[0] - width // 2), count - width)
    part = _Opened(first, first + width)
    return part, width + (part.first > 0) + (part.last < count)

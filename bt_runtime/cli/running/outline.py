"""Selects the nodes of a running tree for a small window: running ones first, then ended ones."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from bt_runtime.tree.describe.census import LETTERS

if TYPE_CHECKING:
    from bt_runtime.run.view.picture import PagePicture, Spot

B = TypeVar("B")
Below = Callable[[Any], Sequence[Any]]
Letter = Callable[[Any], str]  # R, S, F or I
Works = Callable[[Any], bool]  # does it do something, rather than wait or look
AT_WORK = ("skill", "agent", "foreign")
MOST_ENDS = 5000  # nodes that run, of which those are chosen that are shown


class OutlineRow(NamedTuple, Generic[B]):
    depth: int
    node: B | None  # None: children that are left out here
    status: str  # R, S, F or I
    hidden: int  # children of this node that are not shown, or how many are left out here


def _children(node: Any) -> Sequence[Any]:
    return list(node.children)


def _letter(node: Any) -> str:
    return LETTERS[node.status]


def _alike(node: Any) -> bool:
    return False


def drawn(picture: PagePicture, rows: int) -> list[OutlineRow[Spot]]:
    """Returns the outline of a picture; a guard is shown as the node that it guards."""
    top = picture.top
    if top is None:
        return []
    inner = picture.inner
    return outline(
        top, rows, lambda spot: picture.below(inner(spot)), lambda spot: spot.status,
        lambda spot: inner(spot).row[4] in AT_WORK,
    )  # fmt: skip


def outline(
    root: B, rows: int, below: Below = _children, letter: Letter = _letter, works: Works = _alike
) -> list[OutlineRow[B]]:
    """Returns at most `rows` rows in tree order; keeps running nodes as far as they fit."""
    kept, above = _running(root, rows, below, letter, works)
    if above:  # not even one way down fits: its end does
        return [
            OutlineRow(0, None, "I", above),
            *(OutlineRow(above + i, node, "R", 0) for i, node in enumerate(kept[1 - rows :])),
        ]
    shown = _open(root, rows, kept, below, letter)
    out: list[OutlineRow[B]] = []
    todo: list[tuple[B | None, int, int]] = [(root, 0, 0)]
    while todo:
        node, depth, left_out = todo.pop()
        if node is None:
            out.append(OutlineRow(depth, None, "I", left_out))
            continue
        children = below(node)
        part = shown.get(id(node), _NONE)
        hidden = len(children) - len(part.places)
        out.append(OutlineRow(depth, node, letter(node), 0 if part.marked else hidden))
        if part.marked and part.places[-1] + 1 < len(children):
            todo.append((None, depth + 1, len(children) - part.places[-1] - 1))
        todo.extend((children[place], depth + 1, 0) for place in reversed(part.places))
        if part.marked and part.places[0]:
            todo.append((None, depth + 1, part.places[0]))
    return out[:rows]


class _Shown(NamedTuple):
    places: Sequence[int]  # places of the shown children
    marked: bool = False  # do rows before and after them say what is left out


_NONE = _Shown(())


def _running(root: B, rows: int, below: Below, letter: Letter, works: Works) -> tuple[list[B], int]:
    """Selects the nodes on the path to the running leaves, and counts those that do not fit."""
    ends: list[list[B]] = []
    todo: list[list[B]] = [[root]]
    while todo and len(ends) < MOST_ENDS:
        way = todo.pop()
        live = [child for child in below(way[-1]) if letter(child) == "R"]
        todo.extend([*way, child] for child in reversed(live))
        if not live:
            ends.append(way)
    ends.sort(key=lambda way: not works(way[-1]))
    kept: dict[int, B] = {id(root): root}
    for way in ends:
        new = [node for node in way if id(node) not in kept]
        if len(kept) + len(new) <= rows:
            kept.update((id(node), node) for node in new)
        elif len(kept) == 1 and rows > 1:
            return way, len(way) - rows + 1
    return list(kept.values()), 0


def _open(root: Any, rows: int, kept: Sequence[Any], below: Below, letter: Letter) -> dict[int, _Shown]:
    """Decides which children each node shows; visits shown nodes only."""
    must = {id(node) for node in kept}
    shown: dict[int, _Shown] = {}
    used, order = len(must), 0
    heap: list[tuple[int, int, int, Any]] = [(0, 0, 0, root)]
    while heap:
        _, depth, _, node = heapq.heappop(heap)
        children = below(node)
        if not children:
            continue
        have = [place for place, child in enumerate(children) if id(child) in must]
        part, cost = _part([letter(child) for child in children], have, rows - used)
        if not part.places:
            continue
        shown[id(node)] = part
        used += cost
        for place in part.places:
            order += 1
            heapq.heappush(heap, ("RFSI".index(letter(children[place])), depth + 1, order, children[place]))
    return shown


def _part(letters: list[str], have: list[int], room: int) -> tuple[_Shown, int]:
    """Selects all children if they fit, else those around the running one, else only the required ones."""
    count = len(letters)
    if count - len(have) <= room:
        return _Shown(range(count)), count - len(have)
    live = have or [i for i, letter in enumerate(letters) if letter == "R"]
    live = live or [i for i, letter in enumerate(letters) if letter != "I"][-1:] or [0]
    width = len(have) + room - 2  # two rows say what is left out
    if width < 1 or width <= len(have) or live[-1] - live[0] >= width:
        return _Shown(have), 0
    first = min(max(0, live[0] - (width - (live[-1] - live[0])) // 2), count - width)
    part = range(first, first + width)
    return _Shown(part, True), width - len(have) + (first > 0) + (part[-1] + 1 < count)

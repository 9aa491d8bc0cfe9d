"""Converts a run's events to journal notes. The page of a live run receives these notes too."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from bt_runtime.events import Counted, Crash, Halt, Reshaped, Tick
from bt_runtime.journal.layout import NodeRow
from bt_runtime.tree.describe.facts import by_source, rows
from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_runtime.tree.context import Context

TRACEBACK = 8000  # characters of one
ROWS = 256  # nodes that one entry tells of: to write more at once would hold a tick up
Note = tuple[str, dict[str, Json]]


def notes(tick: Tick) -> Iterator[Note]:
    """Returns notes of the tick's grafts, and of its halts, grouped by reason."""
    for graft in tick.grafts:
        yield "graft", {"how": graft.how, "path": graft.path, "yaml": graft.text}
    reasons: dict[Halt, list[int]] = {}
    for node, why in tick.halts:
        reasons.setdefault(why, []).append(getattr(node, "seen_as", 0))
    for why, numbers in reasons.items():
        yield "halted", {"by": why.by, "reason": why.reason, "nodes": numbers}


def shapes(shape: Reshaped) -> Iterator[Note]:
    """Yields a change of shape in several notes for a large tree: removed nodes come first, then the new ones, then
    the order."""
    order = [(str(number), list(below)) for number, below in shape.order.items()]
    add, gone = list(map(list, shape.add)), list(shape.gone)
    while add or gone or order:
        rest = ROWS - len(add[:ROWS])
        yield "shape", {"add": add[:ROWS], "gone": gone, "order": dict(order[:rest])}
        add, gone, order = add[ROWS:], [], order[rest:]


def broken(crash: Crash) -> Note:
    """Notes a crash. Keeps the end of a long traceback, which shows the cause."""
    return "crash", {"path": crash.path, "message": crash.message, "traceback": crash.traceback[-TRACEBACK:]}


def known(shape: Reshaped) -> Iterator[tuple[dict[str, str], Callable[[], dict[str, Json]]]]:
    """Yields the text of a file and what tells of its nodes; of a large tree several times."""
    for (file, text), nodes in by_source(shape.nodes).items():
        for at in range(0, len(nodes), ROWS):
            yield {"text": text}, partial(_facts, file, nodes[at : at + ROWS])


def _facts(file: str, nodes: Sequence[Counted]) -> dict[str, Json]:
    return {"file": file, "nodes": rows(nodes)}


def spending(context: Context) -> dict[str, int]:
    """Returns the whole run's spending so far; empty for a run without decisions."""
    spent = context.services.spent
    names = ("decisions", "tokens", "steps", "nodes")
    return {name: getattr(spent, name) for name in names} if spent is not None else {}


class Rows:
    """The rows of a journal's table of nodes."""

    def __init__(self) -> None:
        self.paths: dict[int, str] = {}

    def of(self, shape: Reshaped, tick: int) -> list[NodeRow]:
        found = []
        for number in shape.gone:
            self.paths.pop(number, None)
        places = {child: place for below in shape.order.values() for place, child in enumerate(below)}
        for node in shape.add:
            above = self.paths.get(node.parent, "")
            path = self.paths[node.number] = above if node.segment == "." else f"{above}/{node.segment}"
            place = places.get(node.number, 0)
            found.append(NodeRow(node.number, path, node.kind, node.name or node.kind, tick, place))
        return found

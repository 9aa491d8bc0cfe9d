"""Rebuilds the tree's shape from an older journal's table of nodes, which has no messages of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from bt_runtime.journal.layout import NodeRow
from bt_runtime.journal.notes import Note
from bt_runtime.types import Json


class Older:
    def __init__(self) -> None:
        self.at: dict[str, list[int]] = {}  # path → the nodes there, guards first
        self.children: dict[int, list[int]] = {}

    def shapes(self, rows: Sequence[NodeRow], told: Iterable[Note]) -> Iterator[Note]:
        """Returns the changes of shape in one tick: new nodes and removed ones."""
        add: list[Json] = []
        touched: set[int] = set()
        left = (str(body["path"]) for kind, body in told if kind == "graft" and body["how"] == "remove")
        gone = [number for path in left for number in self._drop(path, touched)]
        fresh = {row.number for row in rows}
        for row in rows:
            if not fresh.issuperset(self.at.get(row.path, ())):
                gone += self._drop(row.path, touched)
            here = self.at.setdefault(row.path, [])
            above = here or self.at.get(row.path.rpartition("/")[0], [])
            parent, segment = above[-1] if above else -1, "." if here else row.path.rpartition("/")[2]
            here.append(row.number)
            beside = self.children.setdefault(parent, [])
            beside.insert(min(row.place, len(beside)), row.number)
            touched.add(parent)
            name = row.name if row.name != row.kind else ""
            add.append([row.number, parent, segment, row.kind, "", name, ""])
        order = {str(number): self.children[number] for number in touched if number in self.children}
        if add or gone:
            yield "shape", {"add": add, "gone": gone, "order": order}

    def _drop(self, path: str, touched: set[int]) -> list[int]:
        """Removes the node at this path, and all below it."""
        left = [at for at in self.at if at == path or at.startswith(f"{path}/")]
        gone = {number for at in left for number in self.at.pop(at)}
        for number in gone:
            self.children.pop(number, None)
        for parent, below in self.children.items():
            if not gone.isdisjoint(below):
                below[:] = [number for number in below if number not in gone]
                touched.add(parent)
        return list(gone)

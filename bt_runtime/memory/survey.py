"""Cells of a large store: drawn once, written beside the vectors, read back by every process."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.memory.cells import SAMPLE, Cells, cell_count, draw_cells, nearest_cells
from bt_runtime.memory.store import Kept, Store
from bt_runtime.memory.vector import check_seals

PAGE = 20_000
OUTGROWN = 4  # times as many goals as the cells were drawn from: draw anew


def load_cells(store: Store, db: sqlite3.Connection, owner: Kept, size: int) -> Cells:
    centres = _known_centres(db, owner, size)
    fresh = centres is None
    if centres is None:
        centres = draw_cells(_sample(db, owner, size), cell_count(size))
    index = Cells(centres, _fetcher(store, owner))
    homes: list[tuple[int, int]] = []
    cursor = db.execute(
        "SELECT v.goal, v.vector, v.seal, c.cell FROM vectors v LEFT JOIN cells c ON c.goal = v.goal"
        " WHERE v.embedder = ? ORDER BY v.goal",
        (owner.id,),
    )
    while page := cursor.fetchmany(PAGE):
        check_seals(store.path, ((goal, blob, kept) for goal, blob, kept, _ in page), owner.dim)
        homes += _add_page(index, page, owner.dim, fresh)
    if not store.readonly and len(homes) >= PAGE:
        with suppress(BtError):  # a read-only or full disk: the next process draws its own
            _write(store, owner, centres if fresh else None, homes, size)
    return index


def _add_page(
    index: Cells, page: list[tuple[int, bytes, int, int | None]], dim: int, fresh: bool
) -> list[tuple[int, int]]:
    """Adds the page; answers the cells that the store did not know."""
    import numpy as np

    blobs = [blob for _, blob, *_ in page]
    cells = np.array([-1 if fresh or cell is None else cell for *_, cell in page], dtype=np.int64)
    cells[cells >= len(index.centres)] = -1
    unknown = np.flatnonzero(cells < 0)
    if len(unknown):
        rows = np.frombuffer(b"".join(blobs[i] for i in unknown), dtype="<f4").reshape(len(unknown), dim)
        cells[unknown] = nearest_cells(rows, index.centres)
    index.add([goal for goal, *_ in page], blobs, cells)
    return [(page[i][0], int(cells[i])) for i in unknown]


def _known_centres(db: sqlite3.Connection, owner: Kept, size: int) -> Any | None:
    import numpy as np

    row = db.execute("SELECT value FROM meta WHERE key = ?", (f"cells:{owner.id}",)).fetchone()
    if row is None:
        return None
    drawn_from, blob = int.from_bytes(row[0][:8], "little"), row[0][8:]
    if drawn_from * OUTGROWN < size or len(blob) % (4 * owner.dim):
        return None
    return np.frombuffer(blob, dtype="<f4").reshape(-1, owner.dim)


def _sample(db: sqlite3.Connection, owner: Kept, size: int) -> Any:
    """Evenly over the store, so that no age is left out."""
    import numpy as np

    step = max(1, size // (SAMPLE * cell_count(size)))
    rows = db.execute("SELECT vector FROM vectors WHERE embedder = ? AND id % ? = 0", (owner.id, step))
    return np.frombuffer(b"".join(blob for (blob,) in rows), dtype="<f4").reshape(-1, owner.dim)


def _write(store: Store, owner: Kept, centres: Any | None, homes: Sequence[tuple[int, int]], size: int) -> None:
    with store.writing() as db:
        if centres is not None:
            value = size.to_bytes(8, "little") + centres.astype("<f4").tobytes()
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (f"cells:{owner.id}", value))
            db.execute("DELETE FROM cells")
        known = "INSERT OR REPLACE INTO cells SELECT ?, ? WHERE EXISTS (SELECT 1 FROM goals WHERE id = ?)"
        db.executemany(known, ((goal, cell, goal) for goal, cell in homes))


def _fetcher(store: Store, owner: Kept) -> Callable[[Sequence[int]], list[tuple[int, bytes]]]:
    def fetch(goals: Sequence[int]) -> list[tuple[int, bytes]]:
        found: list[tuple[int, bytes]] = []
        with store.pool.borrow() as db:
            for at in range(0, len(goals), 1000):
                part = goals[at : at + 1000]
                marks = ",".join("?" * len(part))
                sql = f"SELECT goal, vector FROM vectors WHERE goal IN ({marks}) AND embedder = ?"
                found += db.execute(sql, (*part, owner.id)).fetchall()
        return found

    return fetch

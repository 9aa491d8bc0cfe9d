"""Cells of a large store: drawn once, written beside the vectors, mapped or read back by every process."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any
from zlib import crc32

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.memory import mapped
from bt_runtime.memory.cells import SAMPLE, Cells, cell_count, draw_cells, nearest_cells
from bt_runtime.memory.store import Kept, Store
from bt_runtime.memory.vector import check_seals

PAGE = 20_000
MAPPED_FROM = 20_000  # goals: fewer are read in no time
BEHIND = 8  # an eighth as many goals since the file was written: write it anew
WITNESSES = 32  # rows that tell whether the file is of this store
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
    if store.readonly or size < MAPPED_FROM or not mapped.supported():
        return index
    if len(homes) >= PAGE:
        with suppress(BtError):  # a read-only or full disk: the next process draws its own
            _write(store, owner, centres if fresh else None, homes, size)
    mapped.write(mapped.beside(store.path), _head(store, db, owner, centres, len(index)), index.each())
    return map_cells(store, db, owner) or index


def map_cells(store: Store, db: sqlite3.Connection, owner: Kept) -> Cells | None:
    """Maps the cells from the file beside the store and adds newer rows; None when the file belongs to another
    store."""
    row = db.execute("SELECT value FROM meta WHERE key = ?", (f"cells:{owner.id}",)).fetchone()
    path = mapped.beside(store.path)
    if row is None or not mapped.supported() or (centres := _centres(row[0], owner)) is None:
        return None
    found = mapped.read(path, 2 * owner.dim, len(centres))
    if found is None or not _of(found.head, store, db, owner, centres):
        return None
    since = "SELECT goal, vector, seal FROM vectors WHERE id > ? AND embedder = ? ORDER BY goal LIMIT ?"
    most = max(PAGE, found.head.goals // BEHIND)
    rows = db.execute(since, (found.head.last, owner.id, most)).fetchall()
    if len(rows) == most or (rows and rows[0][0] <= found.head.goal):
        return None
    index = Cells(centres, _fetcher(store, owner), found)
    if rows:
        check_seals(store.path, rows, owner.dim)
        index.add([goal for goal, *_ in rows], [blob for _, blob, _ in rows])
    return index


def _head(store: Store, db: sqlite3.Connection, owner: Kept, centres: Any, count: int) -> mapped.Head:
    (last, goal) = db.execute("SELECT max(id), max(goal) FROM vectors").fetchone()
    sql = "SELECT id, goal, seal FROM vectors WHERE id IN (SELECT value FROM json_each(?))"
    some = json.dumps([last - step * (last // WITNESSES) for step in range(WITNESSES)])
    seen = [list(row) for row in db.execute(sql, (some,))]
    drawn = crc32(centres.astype("<f4").tobytes())
    return mapped.Head(mapped.LAYOUT, store.identity(), owner.fingerprint, drawn, count, last, goal, seen)


def _of(head: mapped.Head, store: Store, db: sqlite3.Connection, owner: Kept, centres: Any) -> bool:
    """True when the file was made of this store. A store restored from a copy has other row numbers."""
    identity = store.identity()
    drawn = crc32(centres.tobytes())
    if not identity or (head.store, head.fingerprint, head.centres) != (identity, owner.fingerprint, drawn):
        return False
    there = "SELECT goal, seal FROM vectors WHERE id = ?"
    found = [(db.execute(there, (row,)).fetchone(), (goal, seal)) for row, goal, seal in head.witnesses]
    kept = [told for told, _ in found if told is not None]
    return all(told == was for told, was in found if told is not None) and 2 * len(kept) > len(found)


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
    row = db.execute("SELECT value FROM meta WHERE key = ?", (f"cells:{owner.id}",)).fetchone()
    if row is None or int.from_bytes(row[0][:8], "little") * OUTGROWN < size:
        return None
    return _centres(row[0], owner)


def _centres(value: bytes, owner: Kept) -> Any | None:
    import numpy as np

    blob = value[8:]
    return None if len(blob) % (4 * owner.dim) or not blob else np.frombuffer(blob, dtype="<f4").reshape(-1, owner.dim)


def _sample(db: sqlite3.Connection, owner: Kept, size: int) -> Any:
    """Draws a sample evenly over the store, so that every age is represented."""
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
    """Returns a function that fetches full vectors; mapped vectors are read on demand."""

    def fetch(goals: Sequence[int]) -> list[tuple[int, bytes]]:
        found: list[tuple[int, bytes, int]] = []
        with store.pool.borrow() as db:
            for at in range(0, len(goals), 1000):
                part = goals[at : at + 1000]
                marks = ",".join("?" * len(part))
                sql = f"SELECT goal, vector, seal FROM vectors WHERE goal IN ({marks}) AND embedder = ?"
                found += db.execute(sql, (*part, owner.id)).fetchall()
        check_seals(store.path, found, owner.dim)
        return [(goal, blob) for goal, blob, _ in found]

    return fetch

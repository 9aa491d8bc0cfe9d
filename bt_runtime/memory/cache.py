"""The index in memory: built from the store, updated with every process's commits, discarded when its state is
uncertain."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Sequence
from typing import Any

from bt_runtime.memory.index import Hit, Index, Plain
from bt_runtime.memory.mapped import Torn, beside, forget
from bt_runtime.memory.rwlock import RWLock
from bt_runtime.memory.store import Kept, Store, kept, mixed
from bt_runtime.memory.vector import check_seals, damaged

# Goals from which on cells are searched instead of all vectors. Measured in docs/memory.md: exact search takes as long
# as a decision may notice (10 ms) at about this size.
CELLS_FROM = 250_000
PAGE = 20_000
MANY = 5_000  # goals that take a tenth of a second without FAISS
_log = logging.getLogger("bt_runtime.memory")


class Cache:
    def __init__(self, store: Store, fingerprint: str, dim: int, cells_from: int = CELLS_FROM) -> None:
        self._store, self._fingerprint, self._dim, self._cells_from = store, fingerprint, dim, cells_from
        self._forget()

    def _forget(self) -> None:
        self._lock = RWLock()
        self._index: Index | None = None
        self._last = 0  # the newest vector row that is in the index
        self._goal = 0  # the newest goal that is in the index
        self._versions: dict[int, tuple[int, int]] = {}
        self._embedder = 0
        self._process = os.getpid()

    def __len__(self) -> int:
        return len(self._index) if self._index is not None else 0

    def search(
        self, db: sqlite3.Connection, query: bytes, count: int, within: Sequence[int] | None = None
    ) -> list[Hit]:
        """Searches as of `db`'s view or later; goals newer than the view have no experience in it."""
        index = self.abreast(db)
        if index is None:
            return []
        try:
            with self._lock.shared():
                return index.search(query, count, within)
        except Torn:
            _log.warning("%s is damaged and is made anew", beside(self._store.path))
            forget(self._store.path)
        with self._lock.alone():
            self._index = None
            self._refresh(db)
        return self.search(db, query, count, within)

    def abreast(self, db: sqlite3.Connection) -> Index | None:
        """Returns the index, updated to the connection's view; None while the store has no goal."""
        if self._process != os.getpid():
            self._forget()  # a fork may have caught it half grown
        version = (*db.execute("PRAGMA data_version").fetchone(), self._store.commits)
        if self._versions.get(id(db)) != version:
            with self._lock.alone():
                self._refresh(db)
            self._versions[id(db)] = version
        return self._index

    def _refresh(self, db: sqlite3.Connection) -> None:
        owner = kept(db)
        if owner is None:
            if db.execute("SELECT 1 FROM vectors LIMIT 1").fetchone():
                raise damaged(self._store.path, "it does not say which embedder made its vectors")
            return
        if owner.fingerprint != self._fingerprint:
            raise mixed(self._store.path, owner.fingerprint, self._fingerprint)
        if owner.dim != self._dim:
            how = (
                f"it says that its vectors have {owner.dim} numbers, and those of {owner.fingerprint} have {self._dim}"
            )
            raise damaged(self._store.path, how)
        if owner.id != self._embedder:
            self._index, self._embedder = None, owner.id
        if self._index is not None and self._grow(db, owner):
            return
        self._load(db, owner)

    def _grow(self, db: sqlite3.Connection, owner: Kept) -> bool:
        """Adds new rows to the index; returns False when the index must be rebuilt."""
        assert self._index is not None
        sql = "SELECT goal, vector, seal FROM vectors WHERE id > ? AND embedder = ? ORDER BY goal LIMIT ?"
        (top,) = db.execute("SELECT coalesce(max(id), 0) FROM vectors").fetchone()
        if top <= self._last:
            return True
        rows = db.execute(sql, (self._last, owner.id, PAGE)).fetchall()
        outgrown = isinstance(self._index, _flat()) and len(self._index) + len(rows) > 2 * self._cells_from
        if len(rows) == PAGE or outgrown or (rows and rows[0][0] <= self._goal):
            return False
        if rows:
            self._fill(self._index, rows)
        self._last = top
        return True

    def _load(self, db: sqlite3.Connection, owner: Kept) -> None:
        if self._map(db, owner):
            return
        (size,) = db.execute("SELECT count(*) FROM vectors WHERE embedder = ?", (owner.id,)).fetchone()
        (self._last,) = db.execute("SELECT coalesce(max(id), 0) FROM vectors").fetchone()
        self._goal = 0
        if size >= self._cells_from and _flat() is not Plain:
            from bt_runtime.memory.survey import load_cells

            self._index = load_cells(self._store, db, owner, size)
            (self._goal,) = db.execute("SELECT max(goal) FROM vectors").fetchone()
            return
        kind = _flat()
        if kind is Plain and size > MANY:
            _log.warning("%d goals are searched without FAISS; faster: pip install 'bt_runtime[memory]'", size)
        index = kind() if kind is Plain else kind(self._dim)
        cursor = db.execute("SELECT goal, vector, seal FROM vectors WHERE embedder = ? ORDER BY goal", (owner.id,))
        while page := cursor.fetchmany(PAGE):
            self._fill(index, page)
        self._index = index

    def _map(self, db: sqlite3.Connection, owner: Kept) -> bool:
        """Maps the file of cells; then a large store need not be read."""
        if _flat() is Plain or not beside(self._store.path).exists():
            return False
        from bt_runtime.memory.survey import map_cells

        found = map_cells(self._store, db, owner)
        if found is None or len(found) < self._cells_from:
            return False
        self._index = found
        (self._goal,) = db.execute("SELECT max(goal) FROM vectors").fetchone()
        return True

    def _fill(self, index: Index, rows: Sequence[tuple[int, bytes, int]]) -> None:
        check_seals(self._store.path, rows, self._dim)
        index.add([goal for goal, _, _ in rows], [blob for _, blob, _ in rows])
        self._goal = rows[-1][0]


def _flat() -> Any:
    """Returns the fastest exact index that this installation supports."""
    try:
        import faiss  # noqa: F401
        import numpy  # noqa: F401
    except ImportError:
        return Plain
    from bt_runtime.memory.flat import Flat

    return Flat

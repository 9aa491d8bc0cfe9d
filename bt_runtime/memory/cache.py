"""The index in memory: built from the store, updated with every process's commits, discarded when its state is
uncertain."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Callable, Sequence
from importlib.util import find_spec

from bt_runtime.language.project import plugins
from bt_runtime.memory.index import Hit, Index
from bt_runtime.memory.rwlock import RWLock
from bt_runtime.memory.store import KeptEmbedder, Store, kept, mixed
from bt_runtime.memory.vector import check_seals, damaged

FAST, SLOW = "faiss", "plain"  # our vector stores
PAGE = 20_000
MANY = 5_000  # goals that take a tenth of a second without FAISS
_log = logging.getLogger("bt_runtime.memory")


class Cache:
    def __init__(self, store: Store, fingerprint: str, dim: int) -> None:
        self._store, self._fingerprint, self._dim = store, fingerprint, dim
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
        with self._lock.shared():
            return index.search(query, count, within)

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

    def _grow(self, db: sqlite3.Connection, owner: KeptEmbedder) -> bool:
        """Adds new rows to the index; returns False when the index must be rebuilt."""
        assert self._index is not None
        sql = "SELECT goal, vector, seal FROM vectors WHERE id > ? AND embedder = ? ORDER BY goal LIMIT ?"
        (top,) = db.execute("SELECT coalesce(max(id), 0) FROM vectors").fetchone()
        if top <= self._last:
            return True
        rows = db.execute(sql, (self._last, owner.id, PAGE)).fetchall()
        if len(rows) == PAGE or (rows and rows[0][0] <= self._goal):
            return False
        if rows:
            self._fill(self._index, rows)
        self._last = top
        return True

    def _load(self, db: sqlite3.Connection, owner: KeptEmbedder) -> None:
        (size,) = db.execute("SELECT count(*) FROM vectors WHERE embedder = ?", (owner.id,)).fetchone()
        (self._last,) = db.execute("SELECT coalesce(max(id), 0) FROM vectors").fetchone()
        self._goal = 0
        name = chosen(db)
        if name == SLOW and size > MANY:
            _log.warning("%d goals are searched without FAISS; faster: pip install 'bt_runtime[memory]'", size)
        index = opened(name, self._dim)
        cursor = db.execute("SELECT goal, vector, seal FROM vectors WHERE embedder = ? ORDER BY goal", (owner.id,))
        while page := cursor.fetchmany(PAGE):
            self._fill(index, page)
        self._index = index

    def _fill(self, index: Index, rows: Sequence[tuple[int, bytes, int]]) -> None:
        check_seals(self._store.path, rows, self._dim)
        index.add([goal for goal, _, _ in rows], [blob for _, blob, _ in rows])
        self._goal = rows[-1][0]


def chosen(db: sqlite3.Connection) -> str:
    """Returns the name of the vector store that this memory asks for, else of the fastest exact one installed."""
    row = db.execute("SELECT value FROM meta WHERE key = 'vectors'").fetchone()
    if row is not None:
        return str(row[0])
    return FAST if find_spec("faiss") is not None and find_spec("numpy") is not None else SLOW


def choose(store: Store, name: str) -> None:
    """Keeps in the store which vector store searches it from the next opening on; raises for an unknown one."""
    kept = store.kept()
    opened(name, kept.dim if kept is not None else 1)
    with store.writing() as db:
        db.execute("INSERT OR REPLACE INTO meta VALUES ('vectors', ?)", (name,))


def opened(name: str, dim: int) -> Index:
    """Opens an empty index by the name of its entry point in `bt_runtime.vectors`."""
    index: Index = of_entry(plugins.named(name, "vectors"))(dim)
    return index


def of_entry(entry: plugins.Entry) -> Callable[[int], Index]:
    opens: Callable[[int], Index] = plugins.load(entry, "the class of a vector store, or a function that opens one")
    return opens

"""The store: experiences, their goals and the goals' vectors in one SQLite file. It neither ranks nor embeds."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.memory.database import PATIENCE_S, ConnectionPool, broken, create, misplaced
from bt_runtime.memory.experience import Experience
from bt_runtime.memory.rows import COLUMNS, LABELS, Filter, told
from bt_runtime.memory.vector import seal

_IDENTITY = "SELECT value FROM meta WHERE key = 'identity'"
CHECKED_WHOLE = 32 << 20  # bytes, about a tenth of a second; for larger ones there is `btr memory stats --check`


class KeptEmbedder(NamedTuple):
    """The embedder that computed this store's vectors."""

    id: int
    fingerprint: str
    dim: int


class Added(NamedTuple):
    new: int
    known: int


class Store:
    def __init__(self, path: Path | str, *, readonly: bool = False) -> None:
        self.path, self.readonly = Path(path), readonly
        if not readonly and not self.path.exists():
            create(self.path)
        self.pool = ConnectionPool(self.path, readonly)
        self._turn = threading.Lock()
        self.commits = 0  # a connection does not notice its own by `data_version`
        if self.path.stat().st_size <= CHECKED_WHOLE:
            self.check()

    def check(self) -> None:
        """Reads every page, so that damage is reported now and not by a later query."""
        with self.pool.borrow() as db:
            found = db.execute("PRAGMA integrity_check(1)").fetchone()[0]
            if found == "ok":
                found = misplaced(db)
        if found:
            raise broken(self.path, found)

    def close(self) -> None:
        self.pool.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Opens a read transaction: one unchanging view of the store."""
        with self.pool.borrow() as db:
            db.execute("BEGIN")
            yield db
            db.execute("COMMIT")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Opens a write transaction: durable on return, or rolled back. One writer at a time among all processes."""
        if self.readonly:
            raise BtError(f"{self.path} was opened for reading only", "open it without readonly")
        with self._turn, self.pool.borrow() as db:
            _begin(db)
            try:
                yield db
                db.execute("COMMIT")
                self.commits += 1
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise

    # Writing -------------------------------------------------------------------------------------

    def missing(self, keys: Iterable[str], fingerprint: str) -> list[str]:
        """The goals that have no vector by this embedder yet."""
        known = (
            "SELECT 1 FROM goals g JOIN vectors v ON v.goal = g.id JOIN embedders m ON m.id = v.embedder"
            " WHERE g.goal = ? AND m.fingerprint = ?"
        )
        with self.reading() as db:
            return [key for key in dict.fromkeys(keys) if not db.execute(known, (key, fingerprint)).fetchone()]

    def add(
        self, found: Sequence[Experience], vectors: Mapping[str, bytes], fingerprint: str, dim: int,
        instead: bool = False,
    ) -> Added:  # fmt: skip
        """Adds experiences in one transaction. `vectors` covers the goals that `missing` named; the other goals are in
        the store already.

        `instead`: what the same runs have told before, and is not among this, goes.
        """
        with self.writing() as db:
            kept = settle(db, self.path, fingerprint, dim)
            new = 0
            for experience in found:
                if db.execute("SELECT 1 FROM experiences WHERE uid = ?", (experience.uid,)).fetchone():
                    continue
                goal = _goal(db, experience.key, vectors, kept)
                db.execute(f"INSERT INTO experiences VALUES (NULL{', ?' * 13})", _values(experience, goal))
                if experience.labels:
                    db.execute(
                        "INSERT OR REPLACE INTO meta VALUES (?, ?)", (LABELS + experience.uid, experience.labels)
                    )
                new += 1
            if instead:
                _only(db, found)
            return Added(new, len(found) - new)

    def remove(self, uids: Iterable[str]) -> int:
        """Forgets experiences, and the goals that no other experience has."""
        gone = 0
        with self.writing() as db:
            db.execute("PRAGMA secure_delete = ON")  # forgotten means overwritten
            for uid in uids:
                gone += _forget(db, uid)
        return gone

    def identity(self) -> str:
        """The store's random id, drawn once; it stays when the store grows or is copied. "" for an old store opened
        read-only."""
        with self.reading() as db:
            found = db.execute(_IDENTITY).fetchone()
        if found is None and not self.readonly:
            with self.writing() as db:
                db.execute("INSERT OR IGNORE INTO meta VALUES ('identity', lower(hex(randomblob(16))))")
                found = db.execute(_IDENTITY).fetchone()
        return str(found[0]) if found is not None else ""

    # Reading -------------------------------------------------------------------------------------

    def each(self, filter: Filter | None = None, limit: int = -1) -> Iterator[Experience]:
        """Yields experiences in the order of writing, a page at a time, so that no reader blocks the store."""
        words, values = (filter or Filter()).where()
        last = 0
        while limit:
            with self.pool.borrow() as db:
                page = db.execute(
                    f"SELECT e.id, {COLUMNS} FROM experiences e WHERE e.id > ? AND {words} ORDER BY e.id LIMIT ?",
                    (last, *values, min(500, limit) if limit > 0 else 500),
                ).fetchall()
            if not page:
                return
            last = page[-1][0]
            limit -= len(page) if limit > 0 else 0
            for row in page:
                yield told(row[1:], self.path)

    def like(self, start: str) -> list[Experience]:
        """Returns the experiences whose id begins with this text."""
        with self.pool.borrow() as db:
            found = db.execute(
                f"SELECT {COLUMNS} FROM experiences e WHERE e.uid >= ? AND e.uid < ? LIMIT 20", (start, start + "g")
            ).fetchall()
        return [told(row, self.path) for row in found]

    def counts(self) -> dict[str, dict[str, int]]:
        """Counts the experiences by end, verdict, namespace and kind."""
        with self.reading() as db:
            return {
                name: {str(key): n for key, n in db.execute(f"SELECT {sql}, count(*) FROM experiences GROUP BY 1")}
                for name, sql in (
                    ("end", "end"),
                    ("verdict", "CASE verdict WHEN 1 THEN 'success' WHEN 0 THEN 'failure' ELSE 'unknown' END"),
                    ("namespace", "namespace"),
                    ("kind", "kind"),
                )
            }

    def kept(self) -> KeptEmbedder | None:
        with self.pool.borrow() as db:
            return kept(db)


def _forget(db: sqlite3.Connection, uid: str) -> int:
    """Deletes an experience, and its goal when no other experience has it."""
    gone = db.execute("DELETE FROM experiences WHERE uid = ? RETURNING goal", (uid,)).fetchall()
    db.execute("DELETE FROM meta WHERE key = ?", (LABELS + uid,))
    for (goal,) in gone:
        used = "SELECT 1 FROM experiences WHERE goal = ?"
        db.execute(f"DELETE FROM goals WHERE id = ? AND NOT EXISTS ({used})", (goal, goal))
    return len(gone)


def _only(db: sqlite3.Connection, found: Sequence[Experience]) -> None:
    """Deletes from the runs of these experiences every other experience."""
    kept = {e.uid for e in found}
    for run in dict.fromkeys((e.namespace, e.task, e.run) for e in found):
        told = db.execute("SELECT uid FROM experiences WHERE namespace = ? AND task = ? AND run = ?", run).fetchall()
        for (uid,) in told:
            if uid not in kept:
                _forget(db, uid)


def _begin(db: sqlite3.Connection) -> None:
    """Begins a write. SQLite's own wait grows and may starve, so this retries at even intervals until the time limit of
    `in_words`."""
    end = time.monotonic() + PATIENCE_S
    db.execute("PRAGMA busy_timeout = 100")
    try:
        while True:
            try:
                db.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as failure:
                if failure.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                    raise
    finally:
        db.execute(f"PRAGMA busy_timeout = {int(PATIENCE_S * 1000)}")


def kept(db: sqlite3.Connection) -> KeptEmbedder | None:
    row = db.execute(
        "SELECT m.id, m.fingerprint, m.dim FROM meta JOIN embedders m ON m.id = meta.value WHERE meta.key = 'embedder'"
    ).fetchone()
    return KeptEmbedder(*row) if row and tuple(map(type, row)) == (int, str, int) else None


def settle(db: sqlite3.Connection, path: Path, fingerprint: str, dim: int) -> KeptEmbedder:
    """Sets the store's embedder, if none is set; raises when it is another one."""
    found = kept(db)
    if found and found.fingerprint == fingerprint:
        return found
    if found and db.execute("SELECT 1 FROM vectors LIMIT 1").fetchone():
        raise mixed(path, found.fingerprint, fingerprint)
    db.execute("INSERT OR IGNORE INTO embedders (fingerprint, dim) VALUES (?, ?)", (fingerprint, dim))
    (number,) = db.execute("SELECT id FROM embedders WHERE fingerprint = ?", (fingerprint,)).fetchone()
    db.execute("INSERT OR REPLACE INTO meta VALUES ('embedder', ?)", (number,))
    return KeptEmbedder(number, fingerprint, dim)


def mixed(path: Path, theirs: str, ours: str) -> BtError:
    name = ours.partition(":")[0]
    return BtError(
        f"{path} was embedded by {theirs}, this is {ours}: their distances cannot be compared",
        f"use the same embedder, or change the store: btr memory reembed --store {path} --embedder {name}",
    )


def _goal(db: sqlite3.Connection, key: str, vectors: Mapping[str, bytes], kept: KeptEmbedder) -> int:
    """Returns the goal's number. A new goal's vector is stored with it."""
    found = db.execute("SELECT id FROM goals WHERE goal = ?", (key,)).fetchone()
    if found and db.execute("SELECT 1 FROM vectors WHERE goal = ? AND embedder = ?", (found[0], kept.id)).fetchone():
        return int(found[0])
    if key not in vectors:
        raise Vanished(key)
    if not found:
        found = db.execute("INSERT INTO goals (goal) VALUES (?) RETURNING id", (key,)).fetchone()
    row = (found[0], kept.id, vectors[key], seal(found[0], vectors[key]))
    db.execute("INSERT INTO vectors (goal, embedder, vector, seal) VALUES (?, ?, ?, ?)", row)
    return int(found[0])


class Vanished(Exception):
    """Raised when another process deleted this goal after its vector was computed; the caller embeds again."""


def _values(e: Experience, goal: int) -> tuple[Any, ...]:
    return (
        e.uid, goal, e.namespace, e.task, e.kind, e.run, e.place,
        e.end, e.verdict, e.tokens, e.when, e.goal, e.text,
    )  # fmt: skip

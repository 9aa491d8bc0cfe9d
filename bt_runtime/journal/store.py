"""One run, one SQLite file: how it is laid out, written in batches, and kept from growing without bound."""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from bt_runtime.diagnose import BtError
from bt_runtime.journal.texts import Piece
from bt_runtime.journal.trouble import PATIENCE, Unsynced
from bt_runtime.types import Json

FORMAT = 1
SUFFIX = ".btr"
LOCKED = 1.0  # seconds that one attempt waits for another process's lock
_SCHEMA = """
CREATE TABLE head (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE events (seq INTEGER PRIMARY KEY, tick INTEGER NOT NULL, at REAL NOT NULL, kind TEXT NOT NULL,
                     body TEXT NOT NULL, sum INTEGER NOT NULL);
CREATE TABLE ticks (tick INTEGER PRIMARY KEY, at REAL NOT NULL, changes TEXT NOT NULL);
CREATE TABLE nodes (number INTEGER PRIMARY KEY, path TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
                    tick INTEGER NOT NULL, place INTEGER NOT NULL);
CREATE TABLE texts (id INTEGER PRIMARY KEY, parent INTEGER NOT NULL, keep INTEGER NOT NULL, rest TEXT NOT NULL,
                    sum INTEGER NOT NULL);
"""

# A halt between two ticks belongs to the earlier one.
_TICK = """INSERT INTO ticks VALUES (?, ?, ?) ON CONFLICT (tick) DO UPDATE
           SET changes = trim(changes || ' ' || excluded.changes)"""


class Limits(NamedTuple):
    """How much of a run is kept."""

    bytes: int = 256 * 2**20  # of one journal; beyond it only grafts, halts and results are noted
    ticks: int = 50_000  # the latest ticks whose status changes are kept
    patience: float = PATIENCE  # seconds that skills wait for a journal that cannot be written
    days: float = 90  # journals in the folder that are older go when a new run begins


class Event(NamedTuple):
    seq: int
    tick: int
    at: float
    kind: str
    body: str


class NodeRow(NamedTuple):
    number: int
    path: str
    kind: str
    name: str
    tick: int  # at which it came into the tree
    place: int  # among its siblings, then


class Batch(NamedTuple):
    events: Sequence[Event] = ()
    texts: Sequence[Piece] = ()
    ticks: Sequence[tuple[int, float, str]] = ()
    nodes: Sequence[NodeRow] = ()
    head: Mapping[str, str] = {}


def head_sum(head: Mapping[str, Json]) -> int:
    """Of what a run was made of, which never changes."""
    kept = {k: v for k, v in head.items() if k not in ("sum", "ticks")}
    return zlib.crc32(json.dumps(kept, sort_keys=True).encode())


def checksum(event: Event, before: int) -> int:
    """Chained, so that a row that is missing or was changed shows in all that follow."""
    return zlib.crc32(f"{event.seq}|{event.tick}|{event.kind}|{event.body}".encode("utf-8", "surrogatepass"), before)


class Store:
    """The writing side. One thread uses it."""

    def __init__(self, path: Path, limits: Limits | None = None) -> None:
        self.path, self.limits = path, limits or Limits()
        fresh = not path.exists()
        self.connection = sqlite3.connect(path, timeout=LOCKED, check_same_thread=False, isolation_level=None)
        try:
            self.connection.execute("PRAGMA journal_mode=WAL")
            if fresh:
                self.connection.executescript(f"BEGIN;{_SCHEMA};COMMIT")
            row = self.connection.execute("SELECT sum FROM events ORDER BY seq DESC LIMIT 1").fetchone()
        except sqlite3.Error as error:
            self.connection.close()
            hint = "is the disk full, or the file damaged?"
            raise BtError(f"{path} cannot be written as a journal: {error}", hint) from error
        self.sum = int(row[0]) if row else 0
        self.written = 0
        self.synced = False  # an earlier process may have left what no disk has

    def commit(self, batch: Batch, durable: bool) -> None:
        """Writes a batch wholly or not at all; `durable`: it is on the disk when this returns."""
        run = self.connection.execute
        run(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
        run("BEGIN IMMEDIATE")
        before = self.sum
        try:
            self._insert(batch)
            run("COMMIT")
        except BaseException:
            self.sum = before
            if self.connection.in_transaction:
                run("ROLLBACK")
            raise
        self.written += 1
        self.synced = durable

    def sync(self) -> None:
        """What was written is on the disk when this returns, though the last batch did not ask for it."""
        if self.synced:
            return
        try:
            log = os.open(f"{self.path}-wal", os.O_RDONLY)  # never the file itself: closing it would drop SQLite's lock
        except FileNotFoundError:
            return  # all of it was copied into the file, which syncs
        try:
            os.fsync(log)
        except OSError as error:
            raise Unsynced(*error.args) from error
        finally:
            os.close(log)
        self.synced = True

    def make_room(self) -> None:
        """What stands in the log beside the file goes into it, so that the log begins anew; if there is room."""
        with suppress(sqlite3.Error):
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _insert(self, batch: Batch) -> None:
        many = self.connection.executemany
        if batch.head:
            many("INSERT OR REPLACE INTO head VALUES (?, ?)", list(batch.head.items()))
        many(
            "INSERT OR REPLACE INTO texts VALUES (?, ?, ?, ?, ?)",
            [(*p, zlib.crc32(p.rest.encode())) for p in batch.texts],
        )
        many("INSERT OR IGNORE INTO nodes VALUES (?, ?, ?, ?, ?, ?)", batch.nodes)
        rows = []
        for event in batch.events:
            self.sum = checksum(event, self.sum)
            rows.append((*event, self.sum))
        many("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", rows)
        if batch.ticks:
            many(_TICK, batch.ticks)
            self.connection.execute("DELETE FROM ticks WHERE tick <= ?", (batch.ticks[-1][0] - self.limits.ticks,))

    def full(self) -> bool:
        """Has the file reached its size limit? Old status changes go first."""
        if self.bytes() <= self.limits.bytes:
            return False
        self.connection.execute(
            "DELETE FROM ticks WHERE tick <= (SELECT max(tick) FROM ticks) - ?", (self.limits.ticks // 10,)
        )
        return self.bytes() > self.limits.bytes

    def bytes(self) -> int:
        """What is in use of the file."""
        one = self.connection.execute
        pages = int(one("PRAGMA page_count").fetchone()[0]) - int(one("PRAGMA freelist_count").fetchone()[0])
        return pages * int(one("PRAGMA page_size").fetchone()[0])

    def cut(self, seq: int, tick: int, sum: int, standing: Sequence[Event] = ()) -> int:
        """Forgets what came after, but for what stands; the run goes on from there, and says once more what changed
        in that tick. Gives the number of the last event."""
        run = self.connection.execute
        run("BEGIN IMMEDIATE")
        run("DELETE FROM events WHERE seq > ?", (seq,))
        run("DELETE FROM ticks WHERE tick >= ?", (tick,))
        run("DELETE FROM nodes WHERE tick >= ?", (tick,))
        self.sum = sum
        self._insert(Batch([e._replace(seq=seq + i) for i, e in enumerate(standing, 1)]))
        run("COMMIT")
        return seq + len(standing)

    def close(self) -> None:
        self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.connection.close()


def safe(text: str) -> str:
    """SQLite takes no lone surrogates."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")

"""Stores one run in one SQLite file, in batches and within a size limit."""

from __future__ import annotations

import errno
import json
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from bt_runtime.journal import codec
from bt_runtime.journal.layout import (
    FORMAT,
    LONGEST,
    MARK,
    NO_TICK,
    TABLES,
    End,
    Event,
    NodeRow,
    TextPiece,
    TickRow,
    checksum,
)
from bt_runtime.journal.outage import PATIENCE, Gone, Overtaken, Unsynced
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.types import Json

LOCKED = 1.0  # seconds that one attempt waits for another process's lock
SETTLE = 2.0  # seconds after which what was committed is also in the file itself, not only in the log beside it


class JournalLimits(NamedTuple):
    """The limits on what a journal keeps."""

    bytes: int = 256 * 2**20  # bytes of a journal, beyond which only grafts, halts and results are noted
    ticks: int = 50_000  # the latest ticks whose status changes are kept
    patience: float = PATIENCE  # seconds that skills wait for a journal that cannot be written
    days: float = 90  # journals in the folder that are older go when a new run begins


class RowBatch:
    """Rows that are written together, and who waits for them."""

    def __init__(
        self, events: Iterable[Event] = (), texts: Iterable[TextPiece] = (),
        ticks: Iterable[tuple[int, float, str]] = (), nodes: Iterable[NodeRow] = (),
        head: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        self.events, self.texts, self.ticks, self.nodes = list(events), list(texts), list(ticks), list(nodes)
        self.head = dict(head or {})
        self.tickets: list[Ticket] = []
        self.durable = False
        self.tick = 0
        self.size = 0  # bytes, roughly

    @property
    def any(self) -> bool:
        return bool(self.events or self.texts or self.ticks or self.nodes or self.head)

    def forget(self) -> None:
        """Drops the rows, which will never be written."""
        for rows in (self.events, self.texts, self.ticks, self.nodes, self.head):
            rows.clear()


class JournalStore:
    """Writes the file; used by one thread. The head of a new file exists as soon as the file does.

    `read`: the end of a journal that this process goes on with, as it read it; Overtaken when it is another now.
    """

    def __init__(
        self,
        path: Path,
        limits: JournalLimits | None = None,
        head: Mapping[str, str] | None = None,
        read: End | None = None,
    ) -> None:
        self.path, self.limits = path, limits or JournalLimits()
        self.owner = secrets.randbits(48) | 1
        fresh = not path.exists()
        connection: sqlite3.Connection | None = None
        try:
            connection = sqlite3.connect(path, timeout=LOCKED, check_same_thread=False, isolation_level=None)
            self.connection = connection
            if fresh:
                self._create(head or {})
            self.connection.execute("PRAGMA journal_mode=WAL")
            self._open(read)
            self.file = self._file()
        except Overtaken:
            self.connection.close()
            raise
        except sqlite3.Error as error:
            if connection is not None:
                connection.close()
            if fresh:
                path.unlink(missing_ok=True)  # a transaction that failed leaves an empty one
            hint = "is the disk full, or the file damaged?"
            raise BtError(f"{path} cannot be written as a journal: {error}", hint) from error
        self.written = self.settled = 0
        self.careful: bool | None = None  # does each commit now wait for the disk
        self.synced = False  # an earlier process may have left what no disk has
        self.next = time.monotonic() + SETTLE

    def _create(self, head: Mapping[str, str]) -> None:
        """Creates tables and head in one transaction before any log, so that no file is without its head."""
        run = self.connection.execute
        run("BEGIN")
        run(f"PRAGMA application_id={MARK}")
        run(f"PRAGMA user_version={FORMAT}")
        for statement in TABLES.values():
            run(statement)
        rows = [*head.items(), ("end", End().text())]
        self.connection.executemany("INSERT INTO head VALUES (?, ?)", rows)
        run("COMMIT")

    def _open(self, read: End | None) -> None:
        """Marks the file as open, so that a copy without its log is not taken for complete."""
        self.connection.execute("BEGIN IMMEDIATE")
        if read is not None and self._said() != read:
            raise Overtaken(self.path)
        self._look()
        self.text = self.end.text()
        self.connection.execute("INSERT OR REPLACE INTO head VALUES ('end', ?)", (self.text,))
        self.connection.execute("COMMIT")
        self.connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def _look(self) -> None:
        """Reads the last rows of each table."""
        one = self._one
        last = one("SELECT seq, sum FROM events ORDER BY seq DESC LIMIT 1") or (0, 0)
        row = one("SELECT tick, at, changes, before FROM ticks ORDER BY tick DESC LIMIT 1")
        self.latest = TickRow(*row) if row is not None else TickRow(NO_TICK, 0.0, "")
        nodes, ticks = one("SELECT max(number) FROM nodes")[0] or 0, one("SELECT count(*) FROM ticks")[0]
        self.end = End(self.owner, int(last[0]), int(last[1]), nodes, ticks, self.latest.tick)

    def _said(self) -> End | None:
        row = self._one("SELECT value FROM head WHERE name = 'end'")
        try:
            return End.of(json.loads(row[0]))
        except (TypeError, ValueError):
            return None

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Writes wholly or not at all."""
        before = self.end, self.latest, self.text
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.connection.commit()
        except BaseException:
            self.end, self.latest, self.text = before
            self.connection.rollback()
            raise

    def _file(self) -> tuple[int, int]:
        found = self.path.stat()
        return found.st_dev, found.st_ino

    def check(self) -> None:
        """Raises Gone when the file was removed or replaced, so that writing is useless."""
        try:
            there = self._file() == self.file
        except FileNotFoundError:
            there = False
        if not there:
            raise Gone(errno.ENOENT, "its file was removed or replaced while the run wrote it")

    def _one(self, sql: str) -> Json:
        return self.connection.execute(sql).fetchone()

    def commit(self, batch: RowBatch, durable: bool) -> None:
        """Writes a batch wholly or not at all; `durable`: it is on the disk when this returns."""
        if durable is not self.careful:
            self.careful = None  # unknown, should this break
            self.connection.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
            self.careful = durable
        with self._transaction():
            self._insert(batch)
        self.written += 1
        self.synced = durable

    def sync(self) -> None:
        """Syncs everything written to the disk, even if the last batch did not request a sync."""
        if self.synced:
            return
        try:
            log = os.open(f"{self.path}-wal", os.O_RDONLY)  # never the file itself: closing it would drop SQLite's lock
        except FileNotFoundError:
            return  # no log: all of it was copied into the file, which syncs
        try:
            os.fsync(log)
        except OSError as error:
            raise Unsynced(*error.args) from error
        finally:
            os.close(log)
        self.synced = True

    def make_room(self) -> None:
        """Moves the log's content into the file if space permits, so that the log starts anew."""
        with suppress(sqlite3.Error):
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _insert(self, batch: RowBatch) -> None:
        many, end = self.connection.executemany, self.end
        if batch.head:
            many("INSERT OR REPLACE INTO head VALUES (?, ?)", list(batch.head.items()))
        if batch.texts:
            many("INSERT OR REPLACE INTO texts VALUES (?, ?, ?, ?, ?)", [(*p, checksum(p)) for p in batch.texts])
        nodes = [row for row in batch.nodes if row.number > end.nodes]  # a run that is made again numbers them again
        if nodes:
            many("INSERT INTO nodes VALUES (?, ?, ?, ?, ?, ?, ?)", [(*row, checksum(row)) for row in nodes])
        sum = end.sum
        if batch.events:
            rows = [(*event, sum := checksum(event, sum)) for event in batch.events]
            many("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", rows)
        ticks = self._ticks(batch.ticks) if batch.ticks else end.ticks
        last = batch.events[-1].seq if batch.events else end.events
        number = nodes[-1].number if nodes else end.nodes
        self._say(End(self.owner, last, sum, number, ticks, self.latest.tick))

    def _ticks(self, found: Sequence[tuple[int, float, str]]) -> int:
        """Writes status changes; returns the number of ticks stored. A halt between ticks belongs to the earlier
        one."""
        rows: dict[int, TickRow] = {}
        latest, count = self.latest, self.end.ticks
        for tick, at, changes in found:
            if tick == latest.tick:
                latest = latest._replace(changes=f"{latest.changes} {changes}".strip())
            else:
                latest = TickRow(tick, at, changes, latest.tick)
                count += 1
            rows[tick] = latest
        self.latest = latest
        many = self.connection.executemany
        many("INSERT OR REPLACE INTO ticks VALUES (?, ?, ?, ?, ?)", [(*r, checksum(r)) for r in rows.values()])
        return count - self._forget(latest.tick - self.limits.ticks)

    def _forget(self, tick: int) -> int:
        """Deletes the status changes up to this tick; returns the number of ticks."""
        if tick <= 0:
            return 0
        return self.connection.execute("DELETE FROM ticks WHERE tick <= ?", (tick,)).rowcount

    def _say(self, end: End) -> None:
        """Rewrites the end; raises when another process has become the writer."""
        text = end.text()
        sql = "UPDATE head SET value = ? WHERE name = 'end' AND value = ?"
        if self.connection.execute(sql, (text, self.text)).rowcount != 1:
            raise Overtaken(self.path)
        self.end, self.text = end, text

    def full(self) -> bool:
        """Returns True when the file has reached its size limit. Deletes old status changes first."""
        if self.bytes() <= self.limits.bytes:
            return False
        with self._transaction():
            gone = self._forget(self.latest.tick - self.limits.ticks // 10)
            self._say(self.end._replace(ticks=self.end.ticks - gone))
        return self.bytes() > self.limits.bytes

    def bytes(self) -> int:
        """Returns the used size of the file."""
        pages = int(self._one("PRAGMA page_count")[0]) - int(self._one("PRAGMA freelist_count")[0])
        return pages * int(self._one("PRAGMA page_size")[0])

    def cut(self, seq: int, tick: int, sum: int, standing: Sequence[Event] = ()) -> int:
        """Deletes the rows after an event, except the `standing` ones, so that the run resumes there. Returns the
        number of the last event.

        The resumed run writes that tick's changes again."""
        run = self.connection.execute
        with self._transaction():
            run("DELETE FROM events WHERE seq > ?", (seq,))
            run("DELETE FROM ticks WHERE tick >= ?", (tick,))
            run("DELETE FROM nodes WHERE tick >= ?", (tick,))
            self._look()
            self._say(self.end._replace(sum=sum))
            self._insert(RowBatch([e._replace(seq=seq + i) for i, e in enumerate(standing, 1)]))
        return seq + len(standing)

    def settle(self) -> None:
        """Moves committed rows from the log into the file now and then, so that a bare copy of the file is useful."""
        if self.written > self.settled and time.monotonic() >= self.next:
            self.connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()  # waits for no reader
            self.settled, self.next = self.written, time.monotonic() + SETTLE

    def close(self) -> None:
        """Closes the journal as one file: SQLite removes the log when no reader is left."""
        try:
            with self._transaction():
                self._say(self.end._replace(open=0))
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            self.connection.close()


def safe(text: str) -> str:
    """Replaces unpaired surrogates, which SQLite refuses."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


class Ticket:
    """Done when everything recorded before it is on the disk, or cannot be: then `failed` has the reason."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self.wake = wake
        self.done = False
        self.failed = ""
        self._event: threading.Event | None = None  # set when the ticket settles; None: nobody waits

    def settle(self, failed: str = "") -> None:
        if not self.done:
            self.failed, self.done = failed, True
            if self._event is not None:
                self._event.set()
            self.wake()

    def wait(self, seconds: float) -> bool:
        """Waits for at most so many seconds; True when the batch was written by then."""
        self._event = event = self._event or threading.Event()
        if not self.done:  # looked at after the event was there to be set
            event.wait(seconds)
        return self.done and not self.failed


def bounded(body: dict[str, Json]) -> str:
    """Returns the body as text; replaces long values by a description when the text is too long."""
    text = codec.text(body)
    if len(text) <= LONGEST:
        return text
    sizes = {name: len(codec.text(value)) for name, value in body.items()}
    return codec.text(
        {n: v if sizes[n] < 1000 else {codec.TAG: "opaque", "v": f"{sizes[n]:,} characters"} for n, v in body.items()}
    )

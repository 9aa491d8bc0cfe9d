"""A period in which a journal cannot be written: its cause, the treatment of waiters, and the marker beside the journal
that tells its readers where it ends early."""

from __future__ import annotations

import json
import os
import sqlite3
import time
import zlib
from pathlib import Path
from typing import NamedTuple

from bt_runtime.language.project import disk, system

BEST_EFFORT = "best_effort"
POLICIES = ("required", BEST_EFFORT)
PATIENCE = 30.0  # seconds that a skill which may not be repeated waits for its record, before it fails
WAITING = 32 * 2**20  # bytes that are kept for a journal that cannot be written; beyond it the record has a hole
AGAIN = (0.1, 2.0)  # seconds until it is tried again: at first, and at most
_LOCKED = ("SQLITE_BUSY", "SQLITE_LOCKED")
# After a sync that failed nobody knows what is on the disk; and what is not a database any more, no trying mends.
_FINAL = ("SQLITE_IOERR_FSYNC", "SQLITE_IOERR_DIR_FSYNC", "SQLITE_CORRUPT", "SQLITE_NOTADB")


class Unsynced(OSError):
    """Raised when the disk failed to sync."""


class Overtaken(Exception):
    """Raised when another process writes this journal, because the file system's locks do not work."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"another process has gone on with {path.name}; this file system's locks do not hold")


class Gone(OSError):
    """Raised when the journal's file was removed or replaced."""


class Unwritable(Exception):
    """Raised for an entry that cannot be stored."""


class Outage:
    def __init__(self, error: Exception, patience: float) -> None:
        self.why = str(error)
        name = getattr(error, "sqlite_errorname", "")
        self.locked = name.startswith(_LOCKED)
        self.taken = isinstance(error, Overtaken)
        self.final = name.startswith(_FINAL) or isinstance(error, Unsynced | Unwritable) or self.taken
        self.until = time.monotonic() + patience
        self._delay = AGAIN[0]
        self._next = time.monotonic() + self._delay

    def met(self, error: Exception) -> None:
        """Registers another failed attempt."""
        later = Outage(error, 0)
        self.why, self.locked, self.final = later.why, later.locked, self.final or later.final
        self.taken = self.taken or later.taken
        self._delay = min(self._delay * 2, AGAIN[1])
        self._next = time.monotonic() + self._delay

    @property
    def due(self) -> bool:
        """True when the next attempt to write is due."""
        return time.monotonic() >= self._next

    @property
    def over(self) -> bool:
        """True when the outage is final, or has lasted as long as waiting callers accept."""
        return self.final or time.monotonic() >= self.until


def full(error: Exception) -> bool:
    """True for an error of a full disk or file, which space freed in the journal's own files may mend."""
    name = getattr(error, "sqlite_errorname", "")
    return isinstance(error, sqlite3.Error) and name in ("SQLITE_FULL", "SQLITE_IOERR_WRITE")


MARKER = ".mark"
MARKER_SIZE = 4096  # bytes: what a disk writes at once
_LONGEST = 400  # characters of the reason


class WriteFailure(NamedTuple):
    """The point where a journal ends early, and how the run continued."""

    tick: int  # the last of which something was written
    why: str
    careful: bool = False  # an action that may not be done twice may have begun since
    ended: str = ""  # how the run ended, unrecorded
    final: bool = False  # more came than could be kept: what is missing will stay missing

    def __str__(self) -> str:
        after = f"; the run ended {self.ended}, unrecorded" if self.ended else ""
        began = "; skills that may not be repeated began after that, unrecorded" if self.careful else ""
        return f"broken at tick {self.tick} ({self.why}){after}{began}"


UNREADABLE = WriteFailure(0, "what is said of it beside it cannot be read", careful=True, final=True)


class OutageMark(NamedTuple):
    """What stands beside a journal: where it breaks off, and the newest row that an action may have waited for."""

    failure: WriteFailure | None = None
    events: int = 0  # 0: nobody knows

    def missing(self, events: int) -> str:
        """Returns why rows are missing when only so many events are there; "" when no action has waited for more."""
        return f"its end is missing: {events:,} of {self.events:,} events are there" if self.events > events else ""


class FailureMarker:
    """The writing side."""

    def __init__(self, journal: Path | None) -> None:
        self.path = marker_of(journal) if journal is not None else None
        self.file: int | None = None
        # of an earlier process, until this one has written what was missing
        self.said, self.events = read(journal) if journal is not None else OutageMark()
        if self.path is None:
            return
        try:
            self.file = disk.opened(self.path, os.O_RDWR | os.O_CREAT | system.NO_FOLLOW)
            if os.fstat(self.file).st_size < MARKER_SIZE:
                self.put()
        except OSError:
            self.file = None

    def say(self, found: WriteFailure | None) -> bool:
        """Writes the marker and returns True when it is on disk. None deletes the marker."""
        if found == self.said:
            return True
        try:
            before, self.said = self.said, found
            self.put()
        except OSError:
            self.said = before
            return False
        return True

    def reached(self, events: int) -> None:
        """Writes the number of the newest row on the disk. SQLite cuts a damaged log without a word; this tells.

        It is not synced: it may stay behind the journal, but never runs ahead of it."""
        if self.path is None or self.file is None or events == self.events:
            return
        self.events = events
        try:
            os.pwrite(self.file, self._line(), 0)
        except OSError:
            self.close(ours=False)
            self.path.unlink(missing_ok=True)  # a number that is too small would be believed

    def put(self) -> None:
        """Writes it all, and waits for the disk."""
        if self.file is None:
            raise OSError("it could not be made")
        os.pwrite(self.file, self._line(), 0)
        os.fsync(self.file)

    def _line(self) -> bytes:
        told = self.said._replace(why=self.said.why[:_LONGEST])._asdict() if self.said is not None else {}
        if self.events:
            told["events"] = self.events
        line = json.dumps(told).encode()
        return (b"%d %s" % (zlib.crc32(line), line) if told else b"").ljust(MARKER_SIZE)

    def close(self, ours: bool = True) -> None:
        """Deletes the marker, which a complete journal does not need. Not `ours`: another process writes the journal,
        and its marker stays."""
        if self.file is not None:
            os.close(self.file)
            self.file = None
        if ours and self.said is None and self.path is not None:
            self.path.unlink(missing_ok=True)


def lower(journal: Path, events: int) -> None:
    """Lowers the number beside a journal, on the disk, before its rows are cut off and written anew."""
    if read(journal).events <= events:
        return
    marker = FailureMarker(journal)
    marker.events = events
    try:
        marker.put()
    finally:
        marker.close(ours=False)


def marker_of(journal: Path) -> Path:
    return journal.with_suffix(MARKER)


def marked(journal: Path) -> WriteFailure | None:
    """Reads the marker of a journal; None when no failure was marked."""
    return read(journal).failure


def read(journal: Path) -> OutageMark:
    try:
        text = disk.begin(marker_of(journal), MARKER_SIZE).strip(b" \0\n")
    except FileNotFoundError:
        return OutageMark()
    except OSError:
        return OutageMark(UNREADABLE)
    if not text:
        return OutageMark()
    try:
        sum, _, said = text.partition(b" ")
        found = json.loads(said) if int(sum) == zlib.crc32(said) else {"": ""}
        events = found.pop("events", 0)
        return OutageMark(WriteFailure(**found) if found else None, int(events))
    except (ValueError, TypeError, AttributeError):
        return OutageMark(UNREADABLE)

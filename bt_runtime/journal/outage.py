"""A period in which a journal cannot be written: its start, its cause, and the treatment of waiters."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

BEST_EFFORT = "best_effort"
POLICIES = ("required", BEST_EFFORT)
PATIENCE = 30.0  # seconds that a skill which may not be repeated waits for its record, before it fails
WAITING = 32 * 2**20  # bytes that are kept for a journal that cannot be written; beyond it the record has a hole
AGAIN = (0.1, 2.0)  # seconds until it is tried again: at first, and at most
_LOCKED = ("SQLITE_BUSY", "SQLITE_LOCKED")
# After a sync that failed nobody knows what is on the disk; and what is not a database any more, no trying mends.
_FINAL = ("SQLITE_IOERR_FSYNC", "SQLITE_IOERR_DIR_FSYNC", "SQLITE_CORRUPT", "SQLITE_NOTADB")


class Unsynced(OSError):
    """The disk did not take what it was told to."""


class Overtaken(Exception):
    """Another process writes this journal: the file system's locks do not hold."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"another process has gone on with {path.name}; this file system's locks do not hold")


class Gone(OSError):
    """The file was removed, or another one stands in its place."""


class Unwritable(Exception):
    """An entry that cannot be put into a row."""


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

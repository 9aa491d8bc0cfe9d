"""The marker of a journal whose writing failed: a file beside the journal, in space allocated beforehand.

The marker is overwritten in place, so that a full disk cannot prevent it."""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path
from typing import NamedTuple

from bt_runtime.project import disk

SUFFIX = ".mark"
SIZE = 4096  # bytes: what a disk writes at once
_LONGEST = 400  # characters of the reason


class WriteFailure(NamedTuple):
    """Where a journal ends early, and how the run went on after that."""

    tick: int  # the last of which something was written
    why: str
    careful: bool = False  # may something that must not be done twice have begun since
    ended: str = ""  # how the run ended, unrecorded
    final: bool = False  # more came than could be kept: what is missing will stay missing

    def __str__(self) -> str:
        after = f"; the run ended {self.ended}, unrecorded" if self.ended else ""
        began = "; skills that may not be repeated began after that, unrecorded" if self.careful else ""
        return f"broken at tick {self.tick} ({self.why}){after}{began}"


UNREADABLE = WriteFailure(0, "what is said of it beside it cannot be read", careful=True, final=True)


class FailureMarker:
    """The writing side."""

    def __init__(self, journal: Path | None) -> None:
        self.path = place(journal) if journal is not None else None
        self.file: int | None = None
        # of an earlier process, until this one has written what was missing
        self.said = read(journal) if journal is not None else None
        self._reserve()

    def _reserve(self) -> None:
        if self.path is None:
            return
        try:
            self.file = disk.opened(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW)
            if os.fstat(self.file).st_size < SIZE:
                self._put(b"")
        except OSError:
            self.file = None

    def say(self, found: WriteFailure | None) -> bool:
        """Writes the marker and returns True when it is on disk. None deletes the marker."""
        if found == self.said:
            return True
        try:
            self._put(_line(found) if found is not None else b"")
        except OSError:
            return False
        self.said = found
        return True

    def _put(self, line: bytes) -> None:
        if self.file is None:
            raise OSError("it could not be made")
        os.pwrite(self.file, line.ljust(SIZE), 0)
        os.fsync(self.file)

    def close(self, ours: bool = True) -> None:
        """A journal that is whole needs none. Not `ours`: another process writes it, and its marker is left."""
        if self.file is not None:
            os.close(self.file)
            self.file = None
        if ours and self.said is None and self.path is not None:
            self.path.unlink(missing_ok=True)


def place(journal: Path) -> Path:
    return journal.with_suffix(SUFFIX)


def read(journal: Path) -> WriteFailure | None:
    """Reads the marker of a journal; None when no failure was marked."""
    try:
        text = disk.begin(place(journal), SIZE).strip(b" \0\n")
    except FileNotFoundError:
        return None
    except OSError:
        return UNREADABLE
    if not text:
        return None
    try:
        sum, _, said = text.partition(b" ")
        found = json.loads(said) if int(sum) == zlib.crc32(said) else None
        return WriteFailure(**found) if found is not None else UNREADABLE
    except (ValueError, TypeError):
        return UNREADABLE


def _line(found: WriteFailure) -> bytes:
    said = json.dumps(found._replace(why=found.why[:_LONGEST])._asdict()).encode()
    return b"%d %s" % (zlib.crc32(said), said)

"""Replaces a damaged journal by a whole one and keeps the damaged file; at every moment one of the two exists."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from bt_runtime.journal import codec, folder
from bt_runtime.journal.layout import SUFFIX
from bt_runtime.journal.reading import Recording
from bt_runtime.journal.store import JournalLimits, JournalStore, RowBatch
from bt_runtime.language.project import disk

DAMAGED = ".damaged"
_DRAFT, _READY = folder.UNFINISHED  # the new one before it is whole, and until it stands in its place


def rebuild(recording: Recording, path: Path, limits: JournalLimits) -> None:
    """Rebuilds a journal from a recording; the caller holds the journal's lock. After a kill, the rebuild starts
    anew, or `ended` completes it."""
    draft = path.with_suffix(_DRAFT)
    for each in folder.files_of(draft, locks=False):
        each.unlink()
    head = {name: codec.text(value) for name, value in recording.head.items()}
    store = JournalStore(draft, limits, head)
    ticks = [(t, recording.times[t], changes) for t, changes in sorted(recording.ticks.items())]
    pieces = list(recording.texts.pieces.values())
    store.commit(RowBatch(recording.events, pieces, ticks, recording.nodes), durable=True)
    store.close()
    for each in folder.files_of(path, locks=False):
        _kept(each, path.with_suffix(DAMAGED + each.name.removeprefix(path.name)))
    disk.settle(path.parent)
    draft.replace(path.with_suffix(_READY))
    ended(path)


def ended(path: Path) -> bool:
    """Moves a completely rebuilt journal into place; returns True if one existed.

    The damaged journal's log is deleted first: SQLite would apply it to the new file."""
    ready = path.with_suffix(_READY)
    if path.suffix != SUFFIX or not ready.is_file():
        return False
    disk.settle(path.parent)
    for each in folder.files_of(path, locks=False):
        if each != path:
            each.unlink()
    ready.replace(path)
    disk.settle(path.parent)
    return True


def _kept(file: Path, to: Path) -> None:
    to.unlink(missing_ok=True)
    try:
        os.link(file, to)
    except OSError:  # a file system without links
        shutil.copyfile(file, to)
        with to.open("rb") as copy:
            os.fsync(copy.fileno())

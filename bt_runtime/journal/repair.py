"""Replaces a damaged journal by a whole one and keeps the damaged file; at every moment one of the two exists."""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from bt_runtime.journal import codec, folder
from bt_runtime.journal.layout import SUFFIX, Event
from bt_runtime.journal.reading import Recording
from bt_runtime.journal.store import JournalLimits, JournalStore, RowBatch
from bt_runtime.language.project import disk
from bt_runtime.types import Json

DAMAGED = ".damaged"
_DRAFT, _READY = folder.UNFINISHED  # the new one before it is whole, and until it stands in its place


def rebuild(recording: Recording, path: Path, limits: JournalLimits) -> None:
    """Rebuilds a journal from a recording; the caller holds the journal's lock. After a kill, the rebuild starts
    anew, or `ended` completes it."""
    draft = path.with_suffix(_DRAFT)
    for each in folder.files_of(draft, locks=False):
        each.unlink()
    write_rows(recording, draft, recording.head, recording.events, limits)
    for each in folder.files_of(path, locks=False):
        _kept(each, path.with_suffix(DAMAGED + each.name.removeprefix(path.name)))
    disk.settle(path.parent)
    draft.replace(path.with_suffix(_READY))
    ended(path)


def write_rows(
    recording: Recording, path: Path, head: Mapping[str, Json], events: Sequence[Event],
    limits: JournalLimits | None = None, end: float = math.inf,
) -> None:  # fmt: skip
    """Writes a new journal: this head, these events, and a recording's texts; its nodes and changes of status from
    before the tick `end`."""
    store = JournalStore(path, limits, {name: codec.text(value) for name, value in head.items()})
    ticks = [(row.tick, row.at, row.changes) for row in recording.ticks.values() if row.tick < end]
    nodes = [node for node in recording.nodes if node.tick < end]
    store.commit(RowBatch(events, recording.texts.pieces.values(), ticks, nodes), durable=True)
    store.close()


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

"""The folder of journals: finds journals, tells which one is being written, and deletes old ones."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from bt_runtime.journal import lock, outage
from bt_runtime.journal.layout import SUFFIX
from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.language.project import plugins

RUNS = "runs"
EVENTS = ".jsonl"  # a file of a page's events
UNFINISHED = (".rebuilding", ".rebuilt")  # files left by a process that was killed while it rebuilt a journal
MOST_NAME = 200  # bytes of a file's name, without its suffix


class NothingBegun(BtError):
    """Raised for the journal of a run that was cut off before its head was written. The head is on the disk before the
    first tick, so nothing was done, and nothing can be resumed."""

    def __init__(self, path: Path) -> None:
        hint = f"run the tree anew; `btr runs rm {path}` removes what is left"
        super().__init__(f"{path} is a journal of a run that never began: nothing was done", hint)


def is_live(path: Path) -> bool:
    """True while a process is writing this journal."""
    return lock.is_held(path)


def touched(path: Path) -> float:
    """Returns when a file was last written, or its log while a run writes a journal; 0 when it is gone."""
    times = [0.0]
    for each in (path, Path(f"{path}-wal")):
        with suppress(OSError):
            times.append(each.stat().st_mtime)
    return max(times)


def journals(folder: Path) -> list[Path]:
    """Lists the journals of a folder, oldest first."""
    found = [p for p in folder.glob(f"*{SUFFIX}") if p.is_file()] if folder.is_dir() else []
    return sorted(found, key=lambda p: (touched(p), p.name))


def begun(path: Path) -> bool:
    """Returns True when the journal has content. A process killed while it creates a journal leaves an empty one.
    Tables and head are one transaction: content without a head is damage, and may be of a run that did something."""
    return _size(path) > 0 and not _size(Path(f"{path}-journal"))


def last_begun(folder: Path) -> Path | None:
    """Returns the youngest journal whose run has begun; None where nothing was done that could be continued."""
    return next((path for path in reversed(journals(folder)) if begun(path)), None)


def foreign() -> tuple[str, ...]:
    """Returns the suffixes of other tools' recordings that installed plugins read; BehaviorTree.CPP's always."""
    return tuple(dict.fromkeys([".btlog", *(f".{name}" for name in plugins.names("recordings"))]))


def is_path(name: str) -> bool:
    """Returns True when a word names a file and not a run. A bare name never refers to a file in the working
    directory."""
    return os.sep in name or name.endswith((SUFFIX, EVENTS, *foreign()))


def after(path: Path) -> list[Path]:
    """Returns the younger journals of the same folder."""
    there = journals(path.parent)
    return there[there.index(path) + 1 :] if path in there else []


def find(name: str, folder: Path) -> Path:
    """Finds a journal by its path, its run's name or the beginning of it, or `last`."""
    direct = Path(name)
    if is_path(name) and direct.is_file():
        return direct
    there = journals(folder)
    if name == "last" and there:
        if (last := last_begun(folder)) is None:
            raise NothingBegun(there[-1])
        return last
    exact = [p for p in there if p.stem == name]
    found = exact or [p for p in there if p.stem.startswith(name) or p.stem.endswith(name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise BtError(f"`{name}` is ambiguous: {len(found)} runs match", ", ".join(p.stem for p in found[:8]))
    hint = did_you_mean(name, [p.stem for p in there], f"`btr runs list` shows those in {folder}/")
    if direct.is_file():
        hint = f"the file of that name is `.{os.sep}{name}`"
    raise BtError(f"there is no run `{name}` in {folder}/", hint)


def files_of(path: Path, locks: bool = True) -> Iterator[Path]:
    """Returns a journal's file and SQLite's files beside it."""
    beside = (Path(f"{path}-{what}") for what in ("wal", "shm", "journal"))
    for each in (path, *beside, *([lock.beside(path)] if locks else ())):
        if each.exists():
            yield each


def pictures_of(path: Path) -> Path:
    """The folder of the pictures that a run has shown to its models, beside its journal."""
    return path.with_suffix(".pictures")


def remove(path: Path) -> None:
    held = lock.Lock(path)
    try:
        shutil.rmtree(pictures_of(path), ignore_errors=True)
        drafts = (path.with_suffix(suffix) for suffix in UNFINISHED)
        for each in [*files_of(path), outage.marker_of(path), *drafts]:
            if each != held.path:
                each.unlink(missing_ok=True)
    finally:
        held.release()


def usage(path: Path) -> int:
    """Returns the bytes that it uses on the disk."""
    shown = pictures_of(path).glob("*")
    return sum(map(_size, (*files_of(path), *shown)))


def _size(path: Path) -> int:
    """Returns 0 for a file that is gone: SQLite removes its own when the last who has them open leaves."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def sweep(folder: Path) -> None:
    """Removes the locks of processes that died before their journal was there."""
    for left in folder.glob("*.lock"):
        path = left.with_suffix(SUFFIX)
        if path.exists() or is_live(path):
            continue
        with suppress(OSError, BtError):
            lock.Lock(path).release()


def new_path(folder: Path, name: str) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BtError(f"journals cannot be kept in {folder}: {error.strerror}", "name another folder") from error
    if not os.access(folder, os.W_OK):
        raise BtError(f"journals cannot be kept in {folder}: it cannot be written", "name another folder")
    return folder / f"{file_name(name)}{SUFFIX}"


def file_name(name: str) -> str:
    """Makes a file name of any name: not hidden, in no other folder, and not too long."""
    safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in name).lstrip(".")
    return safe.encode("utf-8", "ignore")[:MOST_NAME].decode("utf-8", "ignore") or "run"

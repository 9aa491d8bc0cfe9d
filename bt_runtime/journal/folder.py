"""The folder of journals: finding one, seeing which is being written, letting old ones go."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from bt_runtime.diagnose import BtError, nearest
from bt_runtime.journal import lock, mark
from bt_runtime.journal.store import SUFFIX, Limits

RUNS = "runs"


def is_live(path: Path) -> bool:
    """Is some process writing this journal?"""
    return lock.is_held(path)


def journals(folder: Path) -> list[Path]:
    """All journals of a folder, the oldest first."""
    return sorted(folder.glob(f"*{SUFFIX}"), key=lambda p: (p.stat().st_mtime, p.name)) if folder.is_dir() else []


def begun(path: Path) -> bool:
    """Does it say what its run is made of? A process that was killed in its first moments leaves a journal without."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True)) as connection:
            return connection.execute("SELECT 1 FROM head LIMIT 1").fetchone() is not None
    except sqlite3.OperationalError as error:
        return "no such table" not in str(error)
    except sqlite3.Error:
        return True  # damaged: that is for its reader to say


def after(path: Path) -> list[Path]:
    """The journals of its folder that are younger."""
    there = journals(path.parent)
    return there[there.index(path) + 1 :] if path in there else []


def find(name: str, folder: Path) -> Path:
    """A journal by its path, its run's name, the beginning of that, or `last`."""
    direct = Path(name)
    if direct.is_file():
        return direct
    there = journals(folder)
    if name == "last" and there:
        return next((p for p in reversed(there) if begun(p)), there[-1])
    exact = [p for p in there if p.stem == name]
    found = exact or [p for p in there if p.stem.startswith(name) or p.stem.endswith(name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise BtError(f"`{name}` may be any of {len(found)} runs", ", ".join(p.stem for p in found[:8]))
    close = nearest(name, [p.stem for p in there])
    hint = f"did you mean `{close}`?" if close else f"`btr runs list` shows those in {folder}/"
    raise BtError(f"there is no run `{name}` in {folder}/", hint)


def files_of(path: Path) -> Iterator[Path]:
    """A journal and what SQLite keeps beside it."""
    for each in (path, Path(f"{path}-wal"), Path(f"{path}-shm"), lock.beside(path)):
        if each.exists():
            yield each


def remove(path: Path) -> None:
    held = lock.Lock(path)
    try:
        for each in [*files_of(path), mark.place(path)]:
            if each != held.path:
                each.unlink(missing_ok=True)
    finally:
        held.release()


def usage(path: Path) -> int:
    """Bytes on the disk."""
    return sum(each.stat().st_size for each in files_of(path))


def let_old_go(folder: Path, limits: Limits) -> list[Path]:
    """Removes journals beyond the age limit that nobody writes; what cannot be removed stays."""
    oldest, gone = time.time() - limits.days * 86400, []
    for path in journals(folder):
        try:
            if path.stat().st_mtime < oldest and not is_live(path):
                remove(path)
                gone.append(path)
        except (OSError, BtError):
            continue
    return gone


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
    safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in name)
    return folder / f"{safe}{SUFFIX}"

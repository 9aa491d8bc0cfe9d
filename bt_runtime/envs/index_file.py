"""An index of somebody's data as an SQLite file: made once, whole or not at all, and then only read."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.project import cache

Fill = Callable[[sqlite3.Connection], None]


def place_of(data: Path, folder: str, world: str) -> Path:
    """In that folder, else in the user's cache: a data set is read, never written. Another state of the file gets
    another index."""
    of = sha256(str(data.resolve()).encode()).hexdigest()[:8]
    return (Path(folder) if folder else cache(world)) / f"{data.name}.{of}.{data.stat().st_mtime_ns:x}.index"


def in_memory(fill: Fill) -> sqlite3.Connection:
    base = sqlite3.connect(":memory:", check_same_thread=False)
    fill(base)
    return base


def at(path: Path, fill: Fill) -> sqlite3.Connection:
    """What was left half made by somebody who was stopped is made anew."""
    if not path.exists():
        half = path.with_name(f"{path.name}.part")
        try:
            half.unlink(missing_ok=True)
            made = sqlite3.connect(half)
            fill(made)
            made.close()
            half.replace(path)
        except (OSError, sqlite3.Error) as problem:
            with suppress(OSError):
                half.unlink(missing_ok=True)
            hint = "name a folder that can be written, with room: --world index=FOLDER"
            raise BtError(f"the index {path} cannot be made: {problem}", hint) from problem
    try:
        base = sqlite3.connect(f"file:{path}?mode=ro", uri=True, check_same_thread=False)
        base.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error as problem:
        raise BtError(f"the index {path} cannot be read: {problem}", "delete it: it is made anew") from problem
    return base

"""Indexes a data set in an SQLite file, which is written completely or not at all, and then only read."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import disk

Fill = Callable[[sqlite3.Connection], None]


def place_of(data: Path, folder: str, world: str) -> Path:
    """Returns the index's path, in `folder` or the user's cache, never beside the data. A changed data file gets a
    new index."""
    of = sha256(str(data.resolve()).encode()).hexdigest()[:8]
    return (Path(folder) if folder else disk.cache(world)) / f"{data.name}.{of}.{data.stat().st_mtime_ns:x}.index"


def in_memory(fill: Fill) -> sqlite3.Connection:
    base = sqlite3.connect(":memory:", check_same_thread=False)
    fill(base)
    return base


def at(path: Path, fill: Fill) -> sqlite3.Connection:
    """Opens the index, after building it when the file is missing. A draft left by a killed process is not used."""
    if not path.exists():
        try:
            with disk.draft(path) as half, closing(sqlite3.connect(half)) as made:
                fill(made)
        except (OSError, sqlite3.Error) as problem:
            hint = "name a folder that can be written, with room: --world index=FOLDER"
            raise BtError(f"the index {path} cannot be made: {problem}", hint) from problem
    try:
        base = sqlite3.connect(f"file:{path}?mode=ro", uri=True, check_same_thread=False)
        base.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error as problem:
        raise BtError(f"the index {path} cannot be read: {problem}", "delete it: it is made anew") from problem
    return base


class Indexed:
    """Searchable rows of a user's data set: in a file of their own, or in memory."""

    table = ""  # a row for each of them

    def __init__(self, base: sqlite3.Connection) -> None:
        self._base = base
        self._count = int(base.execute(f"SELECT count(*) FROM {self.table}").fetchone()[0])

    def __len__(self) -> int:
        return self._count

    @staticmethod
    def fill(base: sqlite3.Connection, rows: Iterable[Any]) -> None:
        """Reads the rows once, in order, into the index."""
        raise NotImplementedError

    @classmethod
    def of(cls, rows: Iterable[Any]) -> Self:
        return cls(in_memory(partial(cls.fill, rows=rows)))

    @classmethod
    def at(cls, path: Path, rows: Iterable[Any]) -> Self:
        return cls(at(path, partial(cls.fill, rows=rows)))

    def close(self) -> None:
        self._base.close()

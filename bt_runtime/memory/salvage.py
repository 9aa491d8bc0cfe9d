"""Reads what is readable of a damaged store. It works on a copy and leaves the file as it is."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.memory.database import in_words
from bt_runtime.memory.experience import Experience
from bt_runtime.memory.rows import ALONE, told

LARGEST = 1 << 40  # a damaged header may promise anything


def salvage(path: Path) -> Iterator[Experience]:
    """Copies row by row, leaving out rows whose id cannot be read."""
    with TemporaryDirectory(prefix="btr-salvage-") as folder:
        copy = _copied(path, Path(folder))
        with in_words(path), closing(sqlite3.connect(copy, isolation_level=None)) as db:
            for number in range(1, _top(db) + 1):
                try:
                    row = db.execute(f"SELECT {ALONE} FROM experiences e WHERE e.id = ?", (number,)).fetchone()
                    if row:
                        yield told(row, path)
                except (sqlite3.DatabaseError, BtError, TypeError, ValueError):
                    continue  # this row is lost; the next may be whole


def _copied(path: Path, folder: Path) -> Path:
    copy = folder / "copy.sqlite"
    try:
        shutil.copyfile(path, copy)
        wal = Path(f"{path}-wal")
        if wal.exists():
            shutil.copyfile(wal, f"{copy}-wal")
        with copy.open("r+b") as file:  # SQLite reads nothing of a file that is shorter than its header says
            header = file.read(100)
            promised = int.from_bytes(header[28:32], "big") * int.from_bytes(header[16:18], "big")
            if copy.stat().st_size < promised < LARGEST:
                file.truncate(promised)
    except OSError as failure:
        hint = "make room in the folder for temporary files, or name another by TMPDIR"
        raise BtError(f"cannot copy {path} to save what is in it: {failure.strerror}", hint) from failure
    return copy


def _top(db: sqlite3.Connection) -> int:
    for sql in ("SELECT max(id) FROM experiences", "SELECT seq FROM sqlite_sequence WHERE name = 'experiences'"):
        try:
            row = db.execute(sql).fetchone()
        except sqlite3.DatabaseError:
            continue
        if row and row[0]:
            return int(row[0])
    return 0

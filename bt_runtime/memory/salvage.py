"""Reading what can still be read of a damaged store. The file is not touched."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from bt_runtime.diagnose import BtError
from bt_runtime.memory.database import in_words
from bt_runtime.memory.experience import Experience
from bt_runtime.memory.rows import COLUMNS, told


def salvage(path: Path) -> Iterator[Experience]:
    """What can still be read of a damaged store, row by row; the file is not touched."""
    with in_words(path):
        db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)
        try:
            top = _top(db)
            for number in range(1, top + 1):
                try:
                    row = db.execute(f"SELECT {COLUMNS} FROM experiences e WHERE e.id = ?", (number,)).fetchone()
                    if row:
                        yield told(row, path)
                except (sqlite3.DatabaseError, BtError, TypeError, ValueError):
                    continue  # this one is lost; the next may not be
        finally:
            db.close()


def _top(db: sqlite3.Connection) -> int:
    for sql in (
        "SELECT max(id) FROM experiences",
        "SELECT seq FROM sqlite_sequence WHERE name = 'experiences'",
    ):
        try:
            row = db.execute(sql).fetchone()
        except sqlite3.DatabaseError:
            continue
        if row and row[0]:
            return int(row[0])
    return 0

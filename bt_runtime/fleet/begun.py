"""Decides whether a journal has begun: a process that was killed early leaves a file in which nothing stands."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from bt_runtime.journal.folder import begun


def begun_in(folder: Path) -> Path | None:
    """Returns the journal in this folder whose run has begun; None where nothing has been done that could be gone on
    with."""
    return next((path for path in sorted(folder.glob("*.btr")) if has_begun(path)), None)


def has_begun(path: Path) -> bool:
    """False when the journal has no head yet, which is written before the first tick. A file that cannot be read counts
    as begun: what it holds may have been done, and `resume` says why it cannot go on."""
    if not begun(path):
        return False
    try:
        with closing(sqlite3.connect(f"file:{path.absolute()}?mode=ro", uri=True, timeout=1)) as connection:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            return bool(tables) and (
                "head" not in tables or connection.execute("SELECT 1 FROM head LIMIT 1").fetchone() is not None
            )
    except sqlite3.Error:
        return True

"""The door through which every journal is read: a foreign file may be anything, and is opened as if it were hostile."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.journal import failure_marker, folder, validation
from bt_runtime.journal.layout import FORMAT, HEAD, LONGEST, MARK, TABLES, End
from bt_runtime.project import disk, real
from bt_runtime.types import Json

LARGEST = 2**30  # bytes of a file that is read
CELL = 4 * LONGEST + 4096  # bytes of one row: a character takes at most four
SECONDS = 60.0  # after which reading ends: our own largest journals take a tenth of it
_HEAD_ROWS = 200
_STEPS = 100_000  # of SQLite's machine between two looks at the clock
_MAGIC = b"SQLite format 3\0"
_NOTHING = "its beginning is damaged: nothing can be restored"


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that only reads, and sees one moment of the file. Raises BtError when this is no journal."""
    _header(path)
    try:
        with closing(_connected(path)) as connection:
            connection.execute("BEGIN")
            _tables_are_ours(path, connection)
            yield connection
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise BtError(f"{path} cannot be read as a journal: {error}", _NOTHING) from error


def _header(path: Path) -> None:
    """Checks a file's first bytes before SQLite reads any."""
    try:
        begin = disk.begin(path, 100)
    except FileNotFoundError:
        raise BtError(f"there is no journal {path}", "`btr runs list` shows those that are there") from None
    except OSError as error:
        raise BtError(f"{path} cannot be read: {error.strerror}", "check the path and its permissions") from error
    if not folder.begun(path):
        raise BtError(f"{path} is a journal of a run that never began", f"`btr runs rm {path}` removes it")
    if begin[:16] != _MAGIC or len(begin) < 100:
        raise BtError(f"{path} cannot be read as a journal: it is not an SQLite file", _NOTHING)
    version, mark = int.from_bytes(begin[60:64], "big"), int.from_bytes(begin[68:72], "big")
    if mark == MARK and version == FORMAT:
        size = folder.usage(path)
        if size > LARGEST:
            raise BtError(f"{path} is too large to be read: {size / 2**20:,.0f} MB", f"at most {LARGEST // 2**20} MB")
    elif mark == MARK:
        hint = "read it with the version of btr that wrote it"
        raise BtError(f"{path} is a journal of format {version}, and this version reads format {FORMAT}", hint)
    elif mark == 0 and version == 0:
        hint = "if it is one of an earlier version (format 1), that version can read and export it"
        raise BtError(f"{path} is not a journal of this version", hint)
    else:
        raise BtError(f"{path} cannot be read as a journal: it is some other database", _NOTHING)


def is_journal(path: Path) -> bool:
    """Returns True for a journal by content, under any name and of earlier formats too."""
    try:
        begin = disk.begin(path, 100)
        if begin[:16] != _MAGIC or len(begin) < 100:
            return False
        if int.from_bytes(begin[68:72], "big") == MARK:
            return True
        with closing(_connected(path)) as connection:
            found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' LIMIT 20").fetchall()
        return {name for (name,) in found} == set(TABLES)
    except (OSError, sqlite3.Error, UnicodeDecodeError):
        return False


def _connected(path: Path) -> sqlite3.Connection:
    """Opens a journal read-only. Without a log the file is opened as immutable, so that SQLite creates no file."""
    alone = "" if Path(f"{path}-wal").exists() or folder.is_live(path) else "&immutable=1"
    uri = f"{real(path).as_uri()}?mode=ro{alone}"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, CELL)
    over = time.monotonic() + SECONDS
    connection.set_progress_handler(lambda: time.monotonic() > over, _STEPS)
    for pragma in ("trusted_schema=OFF", "query_only=ON", "cell_size_check=ON", "mmap_size=0"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _tables_are_ours(path: Path, connection: sqlite3.Connection) -> None:
    """Plain tables with our columns, and nothing else: no view, no trigger, nothing that computes."""
    rows = connection.execute("SELECT type, name, sql FROM sqlite_master LIMIT 20").fetchall()
    if len(rows) != len(TABLES) or set(rows) != {("table", name, sql) for name, sql in TABLES.items()}:
        raise BtError(f"{path} cannot be read as a journal: its tables are not those of one", _NOTHING)


def head_of(connection: sqlite3.Connection) -> dict[str, Json]:
    """Returns the head as stored, before any check of its content."""
    found: dict[str, Json] = {}
    sizes = connection.execute(f"SELECT length(CAST(value AS BLOB)) FROM head LIMIT {_HEAD_ROWS}")
    if sum(size or 0 for (size,) in sizes) > HEAD:  # before any of it is taken into memory
        raise ValueError(f"its head is too long: more than {HEAD // 2**20} MB")
    for name, value in connection.execute(f"SELECT name, value FROM head LIMIT {_HEAD_ROWS}"):
        found[name] = validation.decoded(value)
    return found


def copy(path: Path, to: Path) -> Path:
    """Copies a journal's present content to one file, also while its run writes."""
    if to.is_dir():
        to = to / path.name
    if to.exists():
        raise BtError(f"there is {to} already", "remove it, or name another file")
    try:
        with disk.draft(to) as made:
            with opened(path) as source, closing(sqlite3.connect(made, isolation_level=None)) as target:
                source.backup(target)
                _closed(target)
            if failure_marker.read(path) is not None:  # where it breaks off is not to be forgotten
                disk.write(failure_marker.place(to), disk.begin(failure_marker.place(path), failure_marker.SIZE))
    except (OSError, sqlite3.Error) as error:
        raise BtError(f"{to} cannot be written: {error}", "name another file") from error
    return to


def _closed(copy: sqlite3.Connection) -> None:
    """A copy is all there is of it: no log is missing beside it."""
    with suppress(ValueError, TypeError):  # what is damaged stays so, and is told when it is read
        end = End.of(json.loads(copy.execute("SELECT value FROM head WHERE name = 'end'").fetchone()[0]))
        copy.execute("UPDATE head SET value = ? WHERE name = 'end'", (end._replace(open=0).text(),))

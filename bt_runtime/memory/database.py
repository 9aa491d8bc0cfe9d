"""Creates, opens and lends one SQLite file, and words its errors for people."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import disk, real

APPLICATION = 0x62745F6D  # "bt_m", in the file's header: no other SQLite file is taken for a memory
VERSION = 1
PATIENCE_S = 60.0  # how long a writer waits for its turn; one append takes milliseconds

SCHEMA = """
PRAGMA page_size = 8192;
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE goals (id INTEGER PRIMARY KEY AUTOINCREMENT, goal TEXT NOT NULL UNIQUE);
CREATE TABLE embedders (id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, dim INTEGER NOT NULL);
CREATE TABLE vectors (
  id INTEGER PRIMARY KEY AUTOINCREMENT, goal INTEGER NOT NULL REFERENCES goals ON DELETE CASCADE,
  embedder INTEGER NOT NULL REFERENCES embedders, vector BLOB NOT NULL, seal INTEGER NOT NULL,
  UNIQUE (goal, embedder));
CREATE TABLE experiences (
  id INTEGER PRIMARY KEY AUTOINCREMENT, uid TEXT NOT NULL UNIQUE, goal INTEGER NOT NULL REFERENCES goals,
  namespace TEXT NOT NULL, task TEXT NOT NULL, kind TEXT NOT NULL, run TEXT NOT NULL, place TEXT NOT NULL,
  end TEXT NOT NULL, verdict INTEGER, tokens INTEGER NOT NULL, at REAL NOT NULL,
  said TEXT NOT NULL, text TEXT NOT NULL);
CREATE INDEX by_goal ON experiences (goal, namespace, verdict, task, end, uid);
CREATE INDEX by_task ON experiences (namespace, task, run, place);
"""


# SQLite puts a value of any type into any column: what of these tables is of another type than was ever written.
# Vectors are held against their seals when they are read.
_OTHERWISE = {
    "goals": "typeof(goal) <> 'text'",
    "experiences": "typeof(goal) || typeof(tokens) || typeof(at) <> 'integerintegerreal'"
    " OR typeof(verdict) NOT IN ('integer', 'null') OR abs(at) > 1e300"
    " OR typeof(uid) || typeof(namespace) || typeof(task) || typeof(kind) || typeof(run) || typeof(place)"
    " || typeof(end) || typeof(said) || typeof(text) <> 'texttexttexttexttexttexttexttexttext'",
}


def misplaced(db: sqlite3.Connection) -> str:
    """The table that has a value of a foreign type; "" when none has."""
    for table, otherwise in _OTHERWISE.items():
        if db.execute(f"SELECT 1 FROM {table} WHERE {otherwise} LIMIT 1").fetchone():
            return f"`{table}` has a value of another type"
    return ""


@contextmanager
def in_words(path: Path) -> Iterator[None]:
    """Turns SQLite's errors into messages that say what happened and what to do."""
    try:
        yield
    except sqlite3.Error as failure:
        raise _told(path, failure) from failure


def broken(path: Path, how: object) -> BtError:
    salvage = f"the file was left as it is; `btr memory export --salvage --memory {path}` writes out what can be read"
    return BtError(f"{path} is damaged: {how}", salvage)


def _told(path: Path, failure: sqlite3.Error) -> BtError:
    code = (getattr(failure, "sqlite_errorcode", 0) or 0) & 0xFF
    known = {
        sqlite3.SQLITE_BUSY: (
            f"another process has been writing to {path} for {PATIENCE_S:.0f} s",
            "wait for it or end it, then try again; nothing was written",
        ),
        sqlite3.SQLITE_FULL: (f"no room left to write to {path}", "free some space; all that was acknowledged is safe"),
        sqlite3.SQLITE_IOERR: (
            f"the disk failed under {path}: {failure}",
            "check space and hardware; all that was acknowledged is safe",
        ),
        sqlite3.SQLITE_READONLY: (f"{path} may only be read", "give write permission, or name another --memory"),
        sqlite3.SQLITE_CANTOPEN: (f"cannot open {path}", "does its folder exist, and may you read it?"),
    }
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return broken(path, failure)
    otherwise = f"is it a memory? `btr memory export --salvage --memory {path}` writes out what can be read"
    return BtError(*known.get(code, (f"{path}: {failure}", otherwise)))


def create(path: Path) -> None:
    """Creates a store. The file is built beside its place and linked in when complete; the first process to link
    wins."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as failure:
        raise BtError(f"cannot make the folder {path.parent}: {failure.strerror}", "name another --memory") from failure
    draft = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        with in_words(draft), closing(sqlite3.connect(draft, isolation_level=None)) as made:
            made.executescript(SCHEMA)
            made.execute(f"PRAGMA application_id = {APPLICATION}")
            made.execute(f"PRAGMA user_version = {VERSION}")
            made.execute("PRAGMA journal_mode = WAL")
        with suppress(FileExistsError):
            os.link(draft, path)
    except OSError as failure:
        raise BtError(f"cannot make {path}: {failure.strerror}", "name another --memory") from failure
    finally:
        for rest in ("", "-wal", "-shm", "-journal"):
            Path(f"{draft}{rest}").unlink(missing_ok=True)
    disk.settle(path.parent)


def connect(path: Path, readonly: bool = False) -> sqlite3.Connection:
    """Opens and checks a connection. Transactions are explicit; writers wait for their turn."""
    _check_header(path)
    with in_words(path):
        made = _dial(path, readonly)
        try:
            made.execute("PRAGMA synchronous = FULL")
            made.execute("PRAGMA foreign_keys = ON")
            made.execute("PRAGMA cache_size = -65536")  # 64 MB: ids are random, and 2 MB would thrash at 1e5
            made.execute("PRAGMA fullfsync = ON")
        except BaseException:
            made.close()
            raise
    return made


def _dial(path: Path, readonly: bool) -> sqlite3.Connection:
    def dial(mode: str) -> sqlite3.Connection:
        made = sqlite3.connect(
            f"{real(path).as_uri()}?{mode}",
            uri=True,
            timeout=PATIENCE_S,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=64,
        )
        try:
            made.execute("SELECT 1 FROM sqlite_master").fetchone()
        except sqlite3.Error:
            made.close()
            raise
        return made

    if not readonly:
        return dial("mode=rw")
    try:
        return dial("mode=ro")
    except sqlite3.OperationalError:
        if Path(f"{path}-wal").exists():  # unread commits lie there: without them the answer would be an old one
            raise
        return dial("mode=ro&immutable=1")  # a read-only folder, where WAL cannot keep its own files


def _check_header(path: Path) -> None:
    """Checks the file's first hundred bytes, because SQLite reports any damage alike and turns an empty file into a
    store."""
    try:
        size = path.stat().st_size
        header = disk.begin(path, 100)
    except OSError as failure:
        raise BtError(f"cannot open {path}: {failure.strerror}", "does it exist, and may you read it?") from failure
    if size == 0:
        hint = "a store is never empty: it was cut off; restore it, or remove it to begin anew"
        raise BtError(f"{path} is empty", hint)
    if not header.startswith(b"SQLite format 3\0"):
        exported = f"it looks like an export: btr memory import {path} --memory FILE makes a memory of it"
        hint = exported if header.startswith(b"{") else "name another --memory, or restore it"
        raise BtError(f"{path} is not a memory, or its beginning is damaged", hint)
    if int.from_bytes(header[68:72], "big") != APPLICATION:
        raise BtError(f"{path} is an SQLite file, but not a memory", "name another --memory")
    version = int.from_bytes(header[60:64], "big")
    if version > VERSION:
        raise BtError(f"{path} was written by a newer bt_runtime (layout {version})", "update bt_runtime")
    _check_length(path, size, header)


def _check_length(path: Path, size: int, header: bytes) -> None:
    """A file shorter than its own header says was cut off, unless its missing pages still lie in the log."""
    wal = Path(f"{path}-wal")
    if wal.exists() and wal.stat().st_size:
        return
    page = int.from_bytes(header[16:18], "big")
    page = 65536 if page == 1 else page
    current = header[24:28] == header[92:96]  # else an old SQLite wrote last, and the count means nothing
    told = int.from_bytes(header[28:32], "big") * page
    if current and size < told:
        raise BtError(
            f"{path} is cut off: {size} bytes of {told}",
            f"restore it from a copy; `btr memory export --salvage --memory {path}` writes out what can be read",
        )


class ConnectionPool:
    """A pool of read connections for all threads; a forked child never uses its parent's connections."""

    def __init__(self, path: Path, readonly: bool) -> None:
        self.path, self.readonly = path, readonly
        self._idle: list[sqlite3.Connection] = []
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self.closed = False

    @contextmanager
    def borrow(self) -> Iterator[sqlite3.Connection]:
        if self.closed:
            raise BtError(f"{self.path} was closed", "open it again")
        made = self._take() or connect(self.path, self.readonly)
        try:
            with in_words(self.path):
                yield made
        finally:
            if made.in_transaction:
                with suppress(sqlite3.Error):
                    made.rollback()
            self._give(made)

    def _take(self) -> sqlite3.Connection | None:
        if self._owner != os.getpid():
            self._abandoned, self._idle, self._owner = self._idle, [], os.getpid()
            self._lock = threading.Lock()
        with self._lock:
            return self._idle.pop() if self._idle else None

    def _give(self, made: sqlite3.Connection) -> None:
        with self._lock:
            if not self.closed:
                self._idle.append(made)
                return
        made.close()

    def close(self) -> None:
        self.closed = True
        with self._lock:
            while self._idle:
                self._idle.pop().close()

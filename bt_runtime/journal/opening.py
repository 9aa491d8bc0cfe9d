"""Every journal is read through this module. A file from elsewhere may be anything, so it is treated as hostile."""

from __future__ import annotations

import json
import math
import re
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn, TypeVar

from bt_runtime.journal import codec, folder, outage, sources
from bt_runtime.journal.layout import (
    FORMAT,
    HEAD,
    LONGEST,
    MARK,
    TABLES,
    End,
    Event,
    NodeRow,
    TextPiece,
    TickRow,
    checksum,
    head_sum,
)
from bt_runtime.journal.parts import registered
from bt_runtime.language.faults.diagnostic import BtError, text_of
from bt_runtime.language.project import disk, real
from bt_runtime.types import Json

LARGEST = 2**30  # bytes of a file that is read
CELL = 4 * LONGEST + 4096  # bytes of one row: a character takes at most four
SECONDS = 60.0  # after which reading ends: our own largest journals take a tenth of it
Shape = Mapping[str, Any]  # field → what `fits` takes
_HEAD_ROWS = 200
_STEPS = 100_000  # instructions of SQLite between two looks at the clock
_MAGIC = b"SQLite format 3\0"
_TABLE_OF: dict[type, str] = {Event: "events", NodeRow: "nodes", TickRow: "ticks", TextPiece: "texts"}
R = TypeVar("R", Event, NodeRow, TickRow, TextPiece)
_NOTHING = "its beginning is damaged: nothing can be restored"


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Opens a read-only connection that sees one moment of the file. Raises BtError when the file is no journal."""
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
        raise folder.NothingBegun(path)
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
    else:
        raise BtError(f"{path} cannot be read as a journal: it is some other database", _NOTHING)


def is_journal(path: Path) -> bool:
    """Returns True for a journal by content, under any name."""
    try:
        begin = disk.begin(path, 100)
    except OSError:
        return False
    return begin[:16] == _MAGIC and int.from_bytes(begin[68:72], "big") == MARK


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
    """True when the file has only plain tables with our columns: no view, no trigger, nothing that computes."""
    rows = connection.execute("SELECT type, name, sql FROM sqlite_master LIMIT 20").fetchall()
    if len(rows) != len(TABLES) or set(rows) != {("table", name, sql) for name, sql in TABLES.items()}:
        raise BtError(f"{path} cannot be read as a journal: its tables are not those of one", _NOTHING)


def head_of(path: Path, connection: sqlite3.Connection) -> tuple[dict[str, Json], Json]:
    """Returns what the run was made of, checked, and what the journal says of its end, which is not."""
    try:
        found = _head_of(connection)
        end = found.pop("end", None)
        if found.get("sum") != head_sum(found):
            raise ValueError("what this journal's run was made of is damaged")
        _check_head(found)
    except (sqlite3.Error, ValueError, TypeError) as error:
        raise BtError(f"{path} cannot be read as a journal: {error}", _NOTHING) from error
    return found, end


def _head_of(connection: sqlite3.Connection) -> dict[str, Json]:
    found: dict[str, Json] = {}
    sizes = connection.execute(f"SELECT length(CAST(value AS BLOB)) FROM head LIMIT {_HEAD_ROWS}")
    if sum(size or 0 for (size,) in sizes) > HEAD:  # before any of it is taken into memory
        raise ValueError(f"its head is too long: more than {HEAD // 2**20} MB")
    for name, value in connection.execute(f"SELECT name, value FROM head LIMIT {_HEAD_ROWS}"):
        found[name] = decoded(value)
    return found


def rows(connection: sqlite3.Connection, kind: type[R], after: int) -> Iterator[tuple[R, Json]]:
    """Yields the rows of a table behind this number, as stored, each with its checksum."""
    number, *_ = kind._fields
    columns = f"{', '.join(kind._fields)}, sum"
    sql = f"SELECT {columns} FROM {_TABLE_OF[kind]} WHERE {number} > ? ORDER BY {number}"
    for *row, sum in connection.execute(sql, (after,)):
        yield kind._make(row), sum


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
            if outage.marked(path) is not None:  # the copy keeps where the journal breaks off
                disk.write(outage.marker_of(to), disk.begin(outage.marker_of(path), outage.MARKER_SIZE))
    except (OSError, sqlite3.Error) as error:
        raise BtError(f"{to} cannot be written: {error}", "name another file") from error
    return to


def _closed(copy: sqlite3.Connection) -> None:
    """Opens a copy that has no log file beside it."""
    with suppress(ValueError, TypeError):  # damage stays, and is told when the copy is read
        end = End.of(json.loads(copy.execute("SELECT value FROM head WHERE name = 'end'").fetchone()[0]))
        copy.execute("UPDATE head SET value = ? WHERE name = 'end'", (end._replace(open=0).text(),))


LAST_TICK = 10**9  # a hundred days at 100 Hz
LAST_TIME = 253_402_300_799.0  # the end of the year 9999
LAST_NODE = 10**7
NAME = 4096  # characters of a path or a name
DEEP = 200  # values within values
STATUSES = ("INVALID", "RUNNING", "SUCCESS", "FAILURE")
_CHANGE = r'[1-9][0-9]{0,6}(?:[IRSFi]|="(?:[^"\\ ]|\\["\\/bfnrt]|\\u[0-9a-f]{4})*")'
_CHANGES = re.compile(rf"{_CHANGE}(?: {_CHANGE})*")
_NUMBER = int | float
_JOB = {"job": int}
_INSIDE = {"inside?": (int, str)}
_WAYS = {str: [(str, str)]}
# rows in the form of `tree/describe/facts.py`
_FACTS = [{
    "id": int, "at": (int, int), "place?": str, "names?": _WAYS, "writes?": _WAYS, "fields?": [(str, str, [str])],
    "ports?": [(str, str, str, str)], "asks?": [str],
}]  # fmt: skip

# What those who read an entry rely on. Others may say what they like.
ENTRIES: dict[str, Shape] = {
    "clock": {"value": _NUMBER}, "world": {"call": str, "args": list},
    "ask": {**_JOB, "what": str, "model": str, "path": str, "prompt": str}, "answer": _JOB,
    "begin": {**_JOB, "sentence": str, "wakes": bool}, "done": _JOB, "late": {"sentence": str}, "forked": {"of": str},
    "seek": _JOB, "found": _JOB, "question": {**_JOB, "question": str}, "reply": _JOB, "open": _JOB, "opened": _JOB,
    "write": {"scope": str, "name": str, "value": object, "order": int, **_INSIDE},
    "blackboard": {"scope": str, "name": str},
    "change": {"how": str, "path": str, "text": str | None, "index": int | None, **_INSIDE},
    "debug": {"do": str}, "halt": {"by": str, "reason": str, **_INSIDE},
    "halted": {"by": str, "reason": str, "nodes": [int]},
    "graft": {"how": str, "path": str, "yaml": object}, "crash": {"path": str, "message": str},
    "log": {"path": str, "level": str, "text": str}, "verdict": {"met": int, "total": int},
    "resumed": {"tick": int}, "act": {"path": str, "sentence": str}, "end": {"path": str, "why": str},
    "unset": {"scope": str, "names": [str], "order?": int, **_INSIDE},
    "facts": {"file": str, "text": object, "nodes": _FACTS},
    "shape": {"add": [(int, int, str, str, str, str, str)], "gone": [int], "order": {str: [int]}},
    "goal": {"path": str, "goal": str}, "prompt": {"path": str},
}  # fmt: skip
_TEXTS = {kind: tuple(name for name, of in shape.items() if of is str) for kind, shape in ENTRIES.items()}
_ANSWERS = frozenset({"world", "answer", "done", "found", "reply", "opened"})
_HEAD: Shape = {
    "name": str, "tree": str, "file": str, "text": str, "root": str, "folder": str, "digest": str,
    "files": [{"origin": str, "place": str, "text": str}], "kinds": list, "seed": object, "budget": list | None,
    "recall": bool, "strict": bool, "hz": int | float | None, "versions": dict, "started": _NUMBER,
}  # fmt: skip


class InvalidEntry(ValueError):
    """Raised for an entry that no recorder can have written."""


def _refused(text: str) -> NoReturn:
    raise InvalidEntry(f"{text} is not a number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refused(text[:20])


_DECODER = json.JSONDecoder(parse_constant=_refused, parse_float=_finite)


def decoded(text: str) -> Json:
    """Strict JSON: no NaN, no infinity."""
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise InvalidEntry("nested too deeply") from None


def writable(kind: str, found: dict[str, Json]) -> dict[str, Json]:
    """The content of an entry before it is encoded: a text wherever a reader relies on one.

    A program can give any object where a text belongs; without its text the whole journal would read as damaged.
    """
    odd = [name for name in _TEXTS.get(kind, ()) if name in found and not isinstance(found[name], str)]
    return {**found, **{name: text_of(found[name]) for name in odd}} if odd else found


def body_of(event: Event, before: int, sum: Json) -> dict[str, Json] | None:
    """An event's content; None for a damaged one. `before`: the checksum of the event before, which its own
    continues."""
    try:
        return _checked_body(event) if checksum(event, before) == sum else None
    except (ValueError, TypeError, AttributeError):
        return None


def _checked_body(event: Event) -> dict[str, Json]:
    _, tick, at, kind, text = event
    need(tuple(map(type, event)) == (int, int, float, str, str))
    need(0 <= tick <= LAST_TICK and 0 <= at <= LAST_TIME and len(kind) <= NAME and len(text) <= LONGEST)
    found: dict[str, Json] = decoded(text)
    need(isinstance(found, dict) and (text.count("[") + text.count("{") <= DEEP or _shallow(found)))
    values = found if '"$":' not in text else {k: _value(v) for k, v in found.items()}
    shaped(values, ENTRIES.get(kind, {}))
    if kind == "clock":
        need(abs(found["value"]) <= LAST_TIME)
    elif kind == "result":
        need(found.get("status") in STATUSES)
    elif kind in _ANSWERS:
        _answer(kind, found)
    elif kind == "blackboard":
        need("value" in found or isinstance(found.get("patch"), dict))
    elif kind == "shape":
        need(all(len(text) <= NAME for row in found["add"] for text in row[2:]))
        need(all(parent.isascii() and parent.isdigit() and len(parent) < 9 for parent in found["order"]))
    return found


def _answer(kind: str, found: Mapping[str, Json]) -> None:
    if "error" in found:
        shaped(found, {"error": str, "hint": str})
    elif "lines" not in found:
        need("value" in found)
        if kind == "done":
            need(fits(found["value"], (str, object, str)) and found["value"][0] in STATUSES)


def _value(value: Json) -> Json:
    """Checks that the value can be decoded. A reference to a stored text counts as a text."""
    if reference(value) is not None:
        return ""
    try:
        codec.full(value)
    except (KeyError, TypeError, ValueError, RecursionError, OverflowError) as error:
        raise InvalidEntry(f"no value of a run: {type(error).__name__}") from error
    return value


def reference(value: Json) -> int | None:
    """Returns the number of the text that this value refers to."""
    if not isinstance(value, dict) or value.get(codec.TAG) != "text":
        return None
    number = value.get("v")
    if type(number) is not int:
        raise InvalidEntry("a text without a number")
    return number


def _shallow(value: Json) -> bool:
    level = [value]
    for _ in range(DEEP):
        level = [v for each in level if isinstance(each, list | dict) for v in _within(each)]
        if not level:
            return True
    return False


def _within(value: list[Json] | dict[str, Json]) -> Iterable[Json]:
    return value.values() if isinstance(value, dict) else value


def status_of(body: str) -> str:
    """Returns how a run ended, from its result entry."""
    found = decoded(body)
    need(isinstance(found, dict) and found.get("status") in STATUSES)
    return str(found["status"])


def is_whole(row: NodeRow | TickRow | TextPiece, sum: Json) -> bool:
    """True for a row that its checksum fits, and that a recorder can have written."""
    if checksum(row) != sum or tuple(map(type, row)) != _TYPES[type(row)]:
        return False
    if isinstance(row, NodeRow):
        short = max(len(row.path), len(row.kind), len(row.name)) <= NAME and row.path.startswith("/")
        return short and 0 <= row.tick <= LAST_TICK and 0 <= row.place <= LAST_NODE and row.number <= LAST_NODE
    if isinstance(row, TickRow):
        timely = 0 <= row.tick <= LAST_TICK and 0 <= row.at <= LAST_TIME
        return timely and (row.changes == "" or _CHANGES.fullmatch(row.changes) is not None)
    return True


_TYPES: dict[type, tuple[type, ...]] = {
    NodeRow: (int, str, str, str, int, int), TickRow: (int, float, str, int), TextPiece: (int, int, int, str),
}  # fmt: skip


def _check_head(found: Mapping[str, Json]) -> None:
    """Checks a journal's head. Its file names must not lead out of the folder that they are written to."""
    shaped(found, _HEAD)
    need(0 < len(found["name"]) <= NAME and 0 <= found["started"] <= LAST_TIME)
    for file in found["files"]:
        place = PurePosixPath(file["place"])
        need(place.parts != () and not place.is_absolute() and ".." not in place.parts and place.name.isprintable())
        need(len(file["place"]) <= NAME and all(len(p.encode("utf-8", "replace")) <= 255 for p in place.parts))
    for part in registered().parts.values():
        part.check(found)
    try:
        need(isinstance(codec.full(found["inputs"]), dict))
        need(found["budget"] is None or all(isinstance(v, int | float) for v in codec.full(found["budget"])))
        sources.kinds_of(found["kinds"])
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError, OverflowError, BtError) as error:
        raise InvalidEntry(f"no value of a run: {error}") from error


def fits(value: Json, shape: Any) -> bool:
    """True for a value of this type; or a list of such (`[int]`), a row (`(int, str)`), or an object with such fields:
    `name?` may be missing, and `str` stands for any name."""
    if isinstance(shape, list):
        return isinstance(value, list) and all(fits(each, shape[0]) for each in value)
    if isinstance(shape, tuple):
        return isinstance(value, list) and len(value) == len(shape) and all(map(fits, value, shape))
    if not isinstance(shape, dict):
        return isinstance(value, shape) and (shape is not int or value.__class__ is not bool)
    if not isinstance(value, dict):
        return False
    if str in shape:
        return all(fits(each, shape[str]) for each in value.values())
    return all(fits(value[key], inner) if (key := name.removesuffix("?")) in value else key != name
               for name, inner in shape.items())  # fmt: skip


def shaped(found: Mapping[str, Json], shape: Shape) -> None:
    for name, inner in shape.items():
        if found.get(name).__class__ is not inner and not fits(found, {name: inner}):  # most often it is
            raise InvalidEntry(f"`{name}` is missing, or not what it should be")


def need(so: bool) -> None:
    if not so:
        raise InvalidEntry("a value that no run has")

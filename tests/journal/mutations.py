"""Journals that no recorder wrote: bits flipped by accident, and files made by somebody who knows the format.

What is drawn takes a seed, so that a longer sweep tries other ones: `flipped` and `mutated`; `HOSTILE` and `parts` go
by name. tests/hostile runs every command that reads a journal on them, and says what none should have done.
"""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bt_runtime.journal.layout import (
    NO_TICK,
    End,
    Event,
    NodeRow,
    TextPiece,
    TickRow,
    checksum,
    head_sum,
)  # fmt: skip

Change = Callable[[sqlite3.Connection], None]
NOTHING = (
    None,
    0,
    -1,
    10**15,
    -(10**15),
    1e300,
    float("inf"),
    "",
    "x",
    "1Z",
    "{",
    "[1]",
    "{}",
    "\x1b[2J",
    b"\xff\0",
    "[" * 50_000,
)
VIEW = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT"


def flipped(data: bytes, seed: int) -> bytes:
    """One bit, or eight."""
    draw, changed = random.Random(seed), bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 8))):
        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def mutated(journal: Path, to: Path, seed: int) -> Path:
    """A copy in which a few values are others; every sum is made to fit, as one would who wants to be believed."""
    draw = random.Random(seed)

    def change(c: sqlite3.Connection) -> None:
        for _ in range(draw.choice((1, 1, 2, 5))):
            table = draw.choice(("events", "events", "ticks", "nodes", "texts", "head"))
            columns = [row[1] for row in c.execute(f"PRAGMA table_info({table})") if row[1] != "sum"]
            column, key = draw.choice(columns), columns[0]
            keys = [k for (k,) in c.execute(f"SELECT {key} FROM {table} ORDER BY {key}")]
            if not keys:
                continue
            at = draw.choice(keys)
            found = c.execute(f"SELECT {column} FROM {table} WHERE {key} = ?", (at,)).fetchone()[0]
            with contextlib.suppress(sqlite3.Error, OverflowError, UnicodeEncodeError):
                c.execute(f"UPDATE OR IGNORE {table} SET {column} = ? WHERE {key} = ?", (_other(found, draw), at))

    return made(journal, to, change)


def _other(value: Any, draw: random.Random) -> Any:
    """Something else in its place: of another type, near it, or JSON with one part changed."""
    if isinstance(value, str) and draw.random() < 0.6:
        with contextlib.suppress(ValueError):
            return json.dumps(_part(json.loads(value), draw))
        cut = draw.randrange(len(value) + 1)
        return value[:cut] + draw.choice(("", "\x1b", "\N{BELL}", "9" * 30, "/../")) + value[cut + draw.randrange(3) :]
    if isinstance(value, int) and draw.random() < 0.5:
        return value + draw.choice((-1, 1, 2**31, 2**40))
    return draw.choice(NOTHING)


def _part(value: Any, draw: random.Random) -> Any:
    if isinstance(value, dict) and value and draw.random() < 0.9:
        key = draw.choice(sorted(value))
        if draw.random() < 0.1:
            return {k: v for k, v in value.items() if k != key}
        return {**value, key: _part(value[key], draw)}
    if isinstance(value, list) and value and draw.random() < 0.9:
        at = draw.randrange(len(value))
        return [*value[:at], _part(value[at], draw), *value[at + 1 :]]
    odd = (
        None,
        True,
        -1,
        10**40,
        0.5,
        "",
        "../../x",
        "\ud800",
        [],
        {},
        [[]],
        {"$": "text", "v": 10**9},
        {"$": "dict", "v": 5},
    )
    return draw.choice((*odd, {"$": "status", "v": "?"}, {"$": ["list"], "v": 1}, "x" * 100_000))


def made(journal: Path, to: Path, change: Change) -> Path:
    """A copy with a change, and all sums right again."""
    shutil.copy(journal, to)
    connection = sqlite3.connect(to, isolation_level=None)
    connection.execute("BEGIN")
    change(connection)
    views = connection.execute("SELECT count(*) FROM sqlite_master WHERE type = 'view'").fetchone()[0]
    with contextlib.suppress(sqlite3.Error, ValueError, TypeError, AttributeError, RecursionError):
        if not views:  # one of these never ends
            summed(connection)
    connection.execute("COMMIT")
    connection.close()
    return to


def summed(c: sqlite3.Connection) -> None:
    """Makes the sums fit what is there."""
    sum = before = nodes = ticks = events = 0
    for row in c.execute("SELECT seq, tick, at, kind, body FROM events ORDER BY seq").fetchall():
        sum, events = checksum(Event(*row), sum), events + 1
        c.execute("UPDATE events SET sum = ? WHERE seq = ?", (sum, row[0]))
    for row in c.execute("SELECT number, path, kind, name, tick, place FROM nodes ORDER BY number").fetchall():
        nodes += 1
        c.execute("UPDATE nodes SET sum = ? WHERE number = ?", (checksum(NodeRow(*row)), row[0]))
    before = NO_TICK
    for tick, at, changes in c.execute("SELECT tick, at, changes FROM ticks ORDER BY tick").fetchall():
        whole = checksum(TickRow(tick, at, changes, before))
        c.execute("UPDATE ticks SET before = ?, sum = ? WHERE tick = ?", (before, whole, tick))
        before, ticks = tick, ticks + 1
    for row in c.execute("SELECT id, parent, keep, rest FROM texts").fetchall():
        c.execute("UPDATE texts SET sum = ? WHERE id = ?", (checksum(TextPiece(*row)), row[0]))
    head = {n: json.loads(v) for n, v in c.execute("SELECT name, value FROM head")}
    c.execute("UPDATE head SET value = ? WHERE name = 'sum'", (json.dumps(head_sum(head)),))
    c.execute("UPDATE head SET value = ? WHERE name = 'end'", (End(0, events, sum, nodes, ticks, before).text(),))


# By name ------------------------------------------------------------------------------------------


def _chain(count: int) -> Iterator[tuple[Any, ...]]:
    """Each as long as all before it, and a million characters more."""
    for i in range(count):
        yield 1000 + i, 999 + i if i else 0, i * 10**6, _MB, 0


def _told_often(c: sqlite3.Connection) -> None:
    c.execute("INSERT INTO texts VALUES (100000, 0, 0, ?, 0)", (_MB * 8,))
    c.execute("UPDATE events SET kind = 'note', body = ? WHERE seq > 3", ('{"a":{"$":"text","v":100000}}',))


def _sql(*statements: str) -> Change:
    return lambda c: [c.execute(s) for s in statements] and None


def _body(text: str) -> Change:
    return lambda c: c.execute("UPDATE events SET body = ? WHERE seq = 2", (text,)) and None


def _head(**changes: Any) -> Change:
    rows = [(json.dumps(value), name) for name, value in changes.items()]
    return lambda c: c.executemany("UPDATE head SET value = ? WHERE name = ?", rows) and None


def _rows(table: str, rows: Callable[[], Iterator[tuple[Any, ...]]]) -> Change:
    def change(c: sqlite3.Connection) -> None:
        for row in rows():
            c.execute(f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('?' * len(row))})", row)

    return change


def _view(table: str, columns: str) -> Change:
    return _sql(f"ALTER TABLE {table} RENAME TO old", f"CREATE VIEW {table} AS {VIEW} {columns} FROM r")


def _files(*places: str) -> Change:
    def change(c: sqlite3.Connection) -> None:
        files = json.loads(c.execute("SELECT value FROM head WHERE name = 'files'").fetchone()[0])
        files += [{"origin": "/nowhere", "place": place, "text": "x"} for place in places]
        _head(files=files)(c)

    return change


_MB = "a" * 1_000_000
HOSTILE: dict[str, Change] = {
    "tick 10^15 with changes": _rows("ticks", lambda: iter([(10**15, 1e9, "1R", 0, 0)])),
    "tick 10^8 with changes": _rows("ticks", lambda: iter([(10**8, 1e9, "1R", 0, 0)])),
    "tick 10^15 of an event": _sql("UPDATE events SET tick = 99999999999 WHERE seq IN (SELECT max(seq) FROM events)"),
    "a negative node": _sql("UPDATE ticks SET changes = '-5R 99999999R' WHERE tick = (SELECT min(tick) FROM ticks)"),
    "an unknown node": _sql("UPDATE ticks SET changes = '70000R' WHERE tick = (SELECT min(tick) FROM ticks)"),
    "a status that is none": _sql("UPDATE ticks SET changes = '1Z' WHERE tick = (SELECT min(tick) FROM ticks)"),
    "a node that is not a number": _sql("UPDATE ticks SET changes = 'xR  R'"),
    "times that are no numbers": _sql("UPDATE ticks SET at = 'nan'", "UPDATE events SET at = 'inf'"),
    "times far away": _sql("UPDATE ticks SET at = 1e300", "UPDATE events SET at = -1e300"),
    "control characters": _sql("UPDATE nodes SET name = char(1, 27) || '<x>', path = '/a' || char(1) || 'b' || path"),
    "paths without parents": _sql("UPDATE nodes SET path = '/' || number"),
    "a body that is no JSON": _body("{"),
    "a body that is a list": _body("[1]"),
    "bodies without fields": _sql("UPDATE events SET body = '{}'"),
    "a deep body": _body('{"a":' + "[" * 100_000 + "]" * 100_000 + "}"),
    "a body 900 deep": _body('{"a":' + "[" * 900 + "]" * 900 + "}"),
    "a number that is none": _body('{"a":NaN,"b":1e999}'),
    "a long number": _body('{"value":' + "9" * 4000 + "}"),
    "a text that is missing": _body('{"a":{"$":"text","v":99999}}'),
    "a text by a list": _body('{"a":{"$":"text","v":[1]}}'),
    "texts in a circle": _rows("texts", lambda: iter([(1, 2, 5, "a", 0), (2, 1, 5, "b", 0)])),
    "a text of itself": _rows("texts", lambda: iter([(1, 1, 5, "a", 0)])),
    "400 texts in a row": _rows("texts", lambda: _chain(60)),
    "a text told often": lambda c: _told_often(c),
    "an unknown kind": _sql("UPDATE events SET kind = '<script>' WHERE seq = 2"),
    "a kind of bytes": _sql("UPDATE events SET kind = x'ff00' WHERE seq = 2"),
    "70,000 nodes": _rows("nodes", lambda: ((i, f"/x/{i}", "log", "n", 0, i, 0) for i in range(1, 70_000))),
    "nodes as a view": _view("nodes", "n AS number, '/x' AS path, '' AS kind, '' AS name, 0 AS tick, 0 AS place"),
    "events as a view": _view("events", "n AS seq, 0 AS tick, 0.0 AS at, 'k' AS kind, '{}' AS body, 0 AS sum"),
    "the head as a view": _view("head", "'x' || n AS name, '1' AS value"),
    "a trigger": _sql("CREATE TRIGGER t AFTER INSERT ON head BEGIN DELETE FROM events; END"),
    "a name that leads out": _head(name="../../../ESCAPED"),
    "a name that a terminal obeys": _head(name="\x1b]0;pwn\x07\x1b[2J", tree="\x1b[31mred", file="\x1b[2J"),
    "half a character": _head(name="\ud800", tree="\udfff"),
    "a head of other types": _head(name=[1], tree={}, files=5, inputs=[1], budget="x", seed=[], kinds=5, world=[1]),
    "a world of other types": _head(world={"class": 1, "has": "x", "suite": ["house"]}, models={"default": []}),
    "skills of other types": _head(kinds=[{"name": 1, "fields": [[1]]}]),
    "files that lead out": _files("../../../ESCAPED", "/tmp/ESCAPED"),
    "a file below a file": _files("trees/a", "trees/a/b", "."),
    "a later format": _sql("PRAGMA user_version = 99"),
    "a head without a name": _sql("DELETE FROM head WHERE name = 'name'"),
    "no head": _sql("DELETE FROM head"),
    "begun at no time": _sql("UPDATE head SET value = 'NaN' WHERE name = 'started'"),
    "begun at a word": _head(started="x"),
    "a head of 50 MB": _head(inputs={"a": "x" * 50_000_000}),
    "a head of 30 MB in two": _head(inputs={"a": "x" * 15_000_000}, seed="y" * 15_000_000),
    "a head of 48 MB of signs": _head(inputs={"a": "\U0001f600" * 2_000_000}, seed="\U0001f600" * 2_000_000),
    "an hour that leads back": _head(started=9e15),
}  # fmt: skip


def parts(data: bytes) -> dict[str, bytes]:
    """Files that are no files, or only parts of one."""
    return {
        "nothing": b"", "100 bytes": data[:100], "half": data[: len(data) // 2], "cut": data[:-777],
        "zeros": bytes(100_000), "a header and noise": data[:16] + b"\xff" * 84 + data[100:],
        "another size of pages": data[:16] + b"\0\1" + data[18:],
        "a page that is its own child": data[:4096] + b"\x05" + data[4097:],
    }  # fmt: skip

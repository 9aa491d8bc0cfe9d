"""Journals that were written by somebody who wants harm, and journals that a disk has changed."""

from __future__ import annotations

import contextlib
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from tests.hostile.case import Case, File
from tests.hostile.values import NASTY, OUTSIDE, TERMINAL, deep, spoiled

ROOT = Path(__file__).parents[2]
NAME = "run.btr"
TREE = """\
version: 1
tree: rounds
inputs: {rooms: {type: list}}
root:
  sequence:
    - for_each:
        in: "{rooms}"
        as: room
        child:
          sequence:
            - log: "in {room}, where somebody had said: {room}, {room}"
            - set: {seen: "{room}"}
            - parallel: [{wait: 0.1}, {wait: 0.2}, {log: both}]
    - try: {do: {fail: {why: "no {seen}"}}, catch: {log: caught}}
"""
COMMANDS: dict[str, tuple[str, ...]] = {
    "show": ("runs", "show", NAME),
    "show json": ("runs", "show", "--json", NAME),
    "list": ("runs", "list", "--runs", "."),
    "jsonl": ("runs", "export", "--format", "jsonl", "-o", "out", NAME),
    "named": ("runs", "export", "--format", "jsonl", NAME),
    "btlog": ("runs", "export", "--format", "btlog", "-o", "out", NAME),
    "mcap": ("runs", "export", "--format", "mcap", "-o", "out", NAME),
    "otlp": ("runs", "export", "--format", "otlp", "-o", "out", NAME),
    "diff": ("runs", "diff", NAME, NAME),
    "rm": ("runs", "rm", NAME),
    "replay": ("replay", NAME),
    "page": ("view", "--html", "out.html", NAME),
    "top": ("top", "--once", NAME),
    "resume": ("resume", "--seconds", "2", NAME),
}


def of_a_tree(folder: Path) -> Path:
    from bt_runtime.runtime import Run, load
    from bt_runtime.tree.clock import Manual

    with Run(load(TREE), inputs={"rooms": ["kitchen", "hall", "attic"]}, clock=Manual(), journal=folder) as run:
        run.spin(ticks=500)
    return run.journal.path


def of_an_agent(folder: Path) -> Path:
    from bt_runtime.agents.scripted import ScriptedModel
    from bt_runtime.envs.registry import open_suite
    from bt_runtime.runtime import Run
    from bt_runtime.tree.clock import Manual
    from tests.journal import errand

    task = open_suite("textcraft").tasks(20, 1)[0]
    site = errand.Site("textcraft", folder, lasting=False)
    site.reset(task)
    model = ScriptedModel(errand.script(site, errand.oracle("textcraft", task)), 1)
    given = {"inputs": {"goal": task.goal}, "world": site, "task": task, "model": model, "seed": 20}
    with Run("reactree", clock=Manual(), journal=folder / "runs", **given) as run:
        for _ in range(30):  # cut off: there is something to resume
            run.tick()
    return run.journal.path


@cache
def sound() -> tuple[bytes, ...]:
    """Two journals, each as one file that is whole without its neighbours."""
    with tempfile.TemporaryDirectory() as name:
        found = []
        for make in (of_a_tree, of_an_agent):
            path = make(Path(name))
            with contextlib.closing(sqlite3.connect(path)) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                connection.execute("PRAGMA journal_mode=DELETE")
            found.append(path.read_bytes())
        return tuple(found)


Change = Callable[[sqlite3.Connection, random.Random], None]


def signed(connection: sqlite3.Connection) -> None:
    """Makes the sums right again, as somebody would who wants to be believed. What cannot be signed stays as it is."""
    from bt_runtime.journal import store

    run = connection.execute
    with contextlib.suppress(Exception):
        before = 0
        for row in run("SELECT seq, tick, at, kind, body FROM events ORDER BY seq").fetchall():
            before = store.checksum(store.Event(*row), before)
            run("UPDATE events SET sum = ? WHERE seq = ?", (before, row[0]))
    with contextlib.suppress(Exception):
        head = {name: json.loads(value) for name, value in run("SELECT name, value FROM head")}
        run("INSERT OR REPLACE INTO head VALUES ('sum', ?)", (json.dumps(store.head_sum(head)),))
    with contextlib.suppress(Exception):
        for number, rest in run("SELECT id, rest FROM texts").fetchall():
            run("UPDATE texts SET sum = ? WHERE id = ?", (zlib.crc32(rest.encode()), number))


def cell(connection: sqlite3.Connection, dice: random.Random) -> None:
    """One value of one row is another."""
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for _ in range(dice.randint(1, 3)):
        table = dice.choice(tables)
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        column, value = dice.choice(columns), dice.choice(NASTY)
        if isinstance(value, list | dict):
            value = json.dumps(value)
        key = columns[0]
        keys = [k for (k,) in connection.execute(f"SELECT {key} FROM {table}")]
        if keys:
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = ?", (value, dice.choice(keys)))


def rows(connection: sqlite3.Connection, dice: random.Random) -> None:
    """Rows are lost, doubled under another key, or exchanged."""
    table = dice.choice(("events", "ticks", "nodes", "texts", "head"))
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    found = connection.execute(f"SELECT * FROM {table}").fetchall()
    one, other = dice.choice(found), dice.choice(found)
    match dice.randrange(3):
        case 0:
            connection.execute(f"DELETE FROM {table} WHERE {columns[0]} = ?", one[:1])
        case 1:
            signs = ", ".join("?" * len(columns))
            key = f"{one[0]}x" if isinstance(one[0], str) else dice.choice((one[0] + 10**6, -one[0] - 1, 10**15))
            connection.execute(f"INSERT INTO {table} VALUES ({signs})", (key, *one[1:]))
        case _:
            pairs = ", ".join(f"{c} = ?" for c in columns[1:])
            connection.execute(f"UPDATE {table} SET {pairs} WHERE {columns[0]} = ?", (*other[1:], one[0]))


def body(connection: sqlite3.Connection, dice: random.Random) -> None:
    """What an event tells has another shape."""
    found = connection.execute("SELECT seq, body FROM events").fetchall()
    for seq, text in dice.sample(found, dice.randint(1, 3)):
        match dice.randrange(4):
            case 0:
                bent = text[: len(text) // 2]
            case 1:
                bent = deep(100_000)
            case _:
                bent = json.dumps(spoiled(json.loads(text), dice))
        connection.execute("UPDATE events SET body = ? WHERE seq = ?", (bent, seq))


def head(connection: sqlite3.Connection, dice: random.Random) -> None:
    """What the run was made of has another shape."""
    found = dict(connection.execute("SELECT name, value FROM head"))
    for name in dice.sample(sorted(found), dice.randint(1, 2)):
        value = spoiled(json.loads(found[name]), dice) if dice.random() < 0.5 else dice.choice(NASTY)
        connection.execute("UPDATE head SET value = ? WHERE name = ?", (json.dumps(value), name))


def elsewhere(connection: sqlite3.Connection, dice: random.Random) -> None:
    """The head names files outside, and Python that is not asked for."""
    files = json.loads(connection.execute("SELECT value FROM head WHERE name = 'files'").fetchone()[0])
    place = dice.choice((OUTSIDE, "/tmp/outside.py", "skills/x.py", "contextlib.py"))
    evil = {"origin": "/nonexistent", "place": place, "text": "raise SystemExit(42)"}
    name = dice.choice((OUTSIDE, TERMINAL, "/x", ".."))
    new = {"files": json.dumps([*files, evil]), "name": json.dumps(name), "tree": json.dumps(TERMINAL)}
    for name, value in new.items():
        connection.execute("INSERT OR REPLACE INTO head VALUES (?, ?)", (name, value))


def endless(connection: sqlite3.Connection, dice: random.Random) -> None:
    """A table is a view that never ends."""
    name, columns = dice.choice(
        (
            ("events", "n AS seq, 0 AS tick, 0.0 AS at, 'k' AS kind, '{}' AS body, 0 AS sum"),
            ("nodes", "n AS number, '/x' AS path, 'log' AS kind, 'n' AS name, 0 AS tick, 0 AS place"),
            ("head", "'x' || n AS name, '1' AS value"),
            ("ticks", "n AS tick, 0.0 AS at, '1R' AS changes"),
            ("texts", "n AS id, 0 AS parent, 0 AS keep, 'a' AS rest, 0 AS sum"),
        )
    )
    connection.execute(f"ALTER TABLE {name} RENAME TO {name}_was")
    numbers = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r)"
    connection.execute(f"CREATE VIEW {name} AS {numbers} SELECT {columns} FROM r")


def circle(connection: sqlite3.Connection, dice: random.Random) -> None:
    """Texts that go on from one another without an end."""
    long = dice.randint(1, 5)
    for number in range(long):
        connection.execute(
            "INSERT OR REPLACE INTO texts VALUES (?, ?, 5, 'abcdefgh', 0)", (number + 1, (number + 1) % long + 1)
        )
    refer(connection, 1)


def chain(connection: sqlite3.Connection, dice: random.Random) -> None:
    """Texts that each repeat all before: a little in the file, much when read."""
    piece = "a" * 100_000
    for number in range(1000, 1000 + dice.choice((400, 5000))):
        connection.execute(
            "INSERT OR REPLACE INTO texts VALUES (?, ?, ?, ?, 0)",
            (number, number - 1 if number > 1000 else 0, 10**9, piece if number < 1400 else "b"),
        )
    refer(connection, number)


def refer(connection: sqlite3.Connection, number: int) -> None:
    told = json.dumps({"path": "/", "text": {"$": "text", "v": number}, "level": {"$": "text", "v": number}})
    connection.execute("UPDATE events SET body = ? WHERE seq = 2", (told,))


def far(connection: sqlite3.Connection, dice: random.Random) -> None:
    """A tick, a time or a node from another world."""
    tick = dice.choice((10**15, 2**62, -3))
    match dice.randrange(4):
        case 0:
            connection.execute("INSERT OR REPLACE INTO ticks VALUES (?, 1e9, '1R')", (tick,))
        case 1:
            connection.execute("UPDATE events SET tick = ? WHERE seq = (SELECT max(seq) FROM events)", (tick,))
        case 2:
            changes = dice.choice(("-5R 99999999R", "1Z", "xR  R", "1", "R" * 100_000, "1R " * 100_000))
            connection.execute("UPDATE ticks SET changes = ?", (changes,))
        case _:
            value = dice.choice((1e300, -1e300, "nan", 9e999, "x", b"\xff"))
            connection.execute(f"UPDATE {dice.choice(('ticks', 'events'))} SET at = ?", (value,))


def many(connection: sqlite3.Connection, dice: random.Random) -> None:
    """More nodes than a tree has."""
    rows = ((number, f"/x/{number}", "log", "n", 0, number) for number in range(100, 70_000))
    connection.executemany("INSERT OR IGNORE INTO nodes VALUES (?, ?, ?, ?, ?, ?)", rows)


CHANGES: tuple[Change, ...] = (
    *[cell] * 6,
    *[rows] * 3,
    *[body] * 5,
    *[head] * 5,
    elsewhere,
    endless,
    circle,
    chain,
    far,
    far,
    many,
)


def changed(data: bytes, dice: random.Random) -> tuple[str, bytes]:
    """What was done, and the journal after it."""
    with tempfile.NamedTemporaryFile(suffix=".btr") as file:
        Path(file.name).write_bytes(data)
        change, sign = dice.choice(CHANGES), dice.random() < 0.8
        with contextlib.closing(sqlite3.connect(file.name)) as connection:
            connection.execute("PRAGMA journal_mode=MEMORY")
            for _ in range(5):
                try:
                    change(connection, dice)
                    break
                except (sqlite3.Error, OverflowError, UnicodeEncodeError, ValueError):
                    continue  # the file would not take it: another one
            if sign and change not in (endless, chain):
                signed(connection)
            connection.commit()
        return change.__name__, Path(file.name).read_bytes()


def broken(data: bytes, dice: random.Random) -> bytes:
    """Cut off, overwritten in places, pages exchanged, or a header that lies."""
    page = 4096
    match dice.randrange(5):
        case 0:
            return data[: dice.randrange(len(data))]
        case 1:
            at = dice.randrange(len(data))
            return data[:at] + dice.randbytes(dice.choice((1, 64, 4096))) + data[at + 64 :]
        case 2:
            pages = [data[at : at + page] for at in range(0, len(data), page)]
            dice.shuffle(pages)
            return b"".join(pages)
        case 3:
            at = dice.randrange(100)
            return data[:at] + dice.randbytes(4) + data[at + 4 :]
        case _:
            return data[:page] + bytes(len(data) - page)


THINGS = (
    File(NAME),
    File(NAME, b"/dev/zero", "link"),
    File(NAME, NAME.encode(), "link"),
    File(NAME, kind="pipe"),
    File(NAME, kind="folder"),
    File(NAME, b"x" * 5000),
    File(NAME, b"SQLite format 3\0" + b"\0" * 5000),
)


def cases(seed: int, count: int) -> Iterator[Case]:
    """Every command on each of so many journals."""
    for number in range(count):
        dice = random.Random(f"journals/{seed}/{number}")
        if number < len(THINGS):
            what, file = THINGS[number].kind, THINGS[number]
        elif dice.random() < 0.15:
            what, file = "broken", File(NAME, broken(dice.choice(sound()), dice))
        else:
            what, data = changed(dice.choice(sound()), dice)
            file = File(NAME, data)
        for name, words in COMMANDS.items():
            yield Case(f"journals/{seed}/{number}/{what} {name}", words, (file,), executes=name == "resume")


def flips(seed: int, count: int) -> Iterator[Case]:
    """One to eight bits that turned over: what `show --json` tells then is the same, or said to be damaged."""
    told: dict[bytes, str] = {}
    for data in sound():
        told[data] = shown(data)
    for number in range(count):
        dice = random.Random(f"flips/{seed}/{number}")
        whole = dice.choice(sound())
        data = bytearray(whole)
        for _ in range(dice.choice((1, 1, 1, 8))):
            data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        yield Case(f"flips/{seed}/{number}/show", COMMANDS["show json"], (File(NAME, bytes(data)),), sound=told[whole])


def shown(data: bytes) -> str:
    """What the command tells of the sound one, in a process of its own."""
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / NAME).write_bytes(data)
        command = [sys.executable, "-m", "bt_runtime.cli", *COMMANDS["show json"]]
        around = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=name, env=around, capture_output=True, text=True, check=True)
    return done.stdout

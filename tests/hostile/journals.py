"""Journals that were written by somebody who wants harm, and journals that a disk has changed."""

from __future__ import annotations

import contextlib
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.hostile.case import Case, File
from tests.journal.mutations import HOSTILE, flipped, made, mutated, parts

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
    "copy": ("runs", "copy", NAME, "copy.btr"),
    "diff": ("runs", "diff", NAME, NAME),
    "rm": ("runs", "rm", NAME),
    "replay": ("runs", "replay", NAME),
    "page": ("view", "--html", "out.html", NAME),
    "top": ("view", "top", "--once", NAME),
    "resume": ("runs", "resume", "--seconds", "2", NAME),
}


def of_a_tree(folder: Path) -> Path:
    from bt_runtime import Run, load
    from bt_runtime.clock import Manual

    with Run(load(TREE), inputs={"rooms": ["kitchen", "hall", "attic"]}, clock=Manual(), journal=folder) as run:
        run.spin(ticks=500)
    return run.parts.journal.path


def of_an_agent(folder: Path, whole: bool = False) -> Path:
    """Cut off, so that there is something to resume, or to its end."""
    from bt_runtime import Run, load
    from bt_runtime.agents import ScriptedModel
    from bt_runtime.clock import Manual
    from bt_runtime.plugins import open_suite
    from tests.journal import errand

    task = open_suite("textcraft").tasks(20, 1)[0]
    site = errand.Site("textcraft", folder, lasting=False)
    site.reset(task)
    model = ScriptedModel(errand.script(site, errand.oracle("textcraft", task)), 1)
    given = {"inputs": {"goal": task.goal}, "world": site, "task": task, "model": model, "seed": 20}
    with Run(load("reactree"), clock=Manual(), journal=folder / "runs", **given) as run:
        for _ in range(0 if whole else 14):
            run.tick()
        if whole:
            run.spin(ticks=5000)
    return run.parts.journal.path


@cache
def sound() -> tuple[bytes, ...]:
    """Three journals, each as one file that is whole without its neighbours."""
    with tempfile.TemporaryDirectory() as name:
        found = []
        for make in (of_a_tree, of_an_agent, lambda folder: of_an_agent(folder, whole=True)):
            path = make(Path(name))
            with contextlib.closing(sqlite3.connect(path)) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                connection.execute("PRAGMA journal_mode=DELETE")
            found.append(path.read_bytes())
        return tuple(found)


def rows(connection: sqlite3.Connection, dice: random.Random) -> None:
    """Rows are lost, doubled under another key, or exchanged."""
    table = dice.choice(("events", "ticks", "nodes", "texts", "head"))
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    found = connection.execute(f"SELECT * FROM {table}").fetchall()
    if not found:
        return
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


def attempted(connection: sqlite3.Connection, dice: random.Random) -> None:
    """What the tables do not take stays as it was."""
    with contextlib.suppress(sqlite3.Error, OverflowError):
        rows(connection, dice)


def changed(data: bytes, number: int, dice: random.Random) -> tuple[str, bytes]:
    """What was done, and the journal after it: something of the list, values at random, or rows; the sums fit again."""
    with tempfile.TemporaryDirectory() as name:
        whole, to = Path(name) / "whole.btr", Path(name) / NAME
        whole.write_bytes(data)
        if number % 4 == 1:
            what = list(HOSTILE)[number // 4 % len(HOSTILE)]
            made(whole, to, HOSTILE[what])
        elif dice.random() < 0.8:
            what = "mutated"
            mutated(whole, to, dice.randrange(10**9))
        else:
            what = "rows"
            made(whole, to, lambda connection: attempted(connection, dice))
        return what.replace("/", "-"), to.read_bytes()


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


FIRST = (  # of those with a name; the others follow
    "tick 10^15 with changes", "a negative node", "a status that is none", "times that are no numbers",
    "control characters", "bodies without fields", "a deep body", "texts in a circle", "a text told often",
    "nodes as a view", "the head as a view", "a name that leads out", "a name that a terminal obeys",
    "half a character", "a head of other types", "files that lead out",
)  # fmt: skip


def named(seed: int, count: int) -> Iterator[Case]:
    """Every command on each of the journals that have a name, and on parts of one; a seed begins elsewhere."""
    names = [*FIRST, *(name for name in HOSTILE if name not in FIRST), *parts(b"")]
    whole = sound()[1]
    for number in range(count):
        name = names[(number + seed * count) % len(names)]
        file = File(NAME, hostile(whole, name))
        for command, words in COMMANDS.items():
            executes = command in ("resume", "replay")
            yield Case(f"named/{seed}/{number}/{name} {command}", words, (file,), executes=executes)


def hostile(whole: bytes, name: str) -> bytes:
    if name not in HOSTILE:
        return parts(whole)[name]
    with tempfile.TemporaryDirectory() as folder:
        source, to = Path(folder) / "whole.btr", Path(folder) / NAME
        source.write_bytes(whole)
        return made(source, to, HOSTILE[name]).read_bytes()


def cases(seed: int, count: int) -> Iterator[Case]:
    """Every command on each of so many journals."""
    for number in range(count):
        dice = random.Random(f"journals/{seed}/{number}")
        if number % 4 == 0 and number // 4 < len(THINGS):
            file = THINGS[number // 4]
            what = file.kind
        elif dice.random() < 0.15:
            what, file = "broken", File(NAME, broken(dice.choice(sound()), dice))
        else:
            what, data = changed(dice.choice(sound()), number + seed * 4, dice)
            file = File(NAME, data)
        for name, words in COMMANDS.items():
            executes = name in ("resume", "replay") and number % 2 == 1  # trusted, it gets further
            yield Case(f"journals/{seed}/{number}/{what} {name}", words, (file,), executes=executes)


def flips(seed: int, count: int) -> Iterator[Case]:
    """Bits that turned over: what `show --json` tells then is the same, or said to be damaged."""
    told = {data: shown(data) for data in sound()}
    for number in range(count):
        dice = random.Random(f"flips/{seed}/{number}")
        whole = dice.choice(sound())
        file = File(NAME, flipped(whole, dice.randrange(10**9)))
        yield Case(f"flips/{seed}/{number}/show", COMMANDS["show json"], (file,), sound=told[whole])


def shown(data: bytes) -> str:
    """What the command tells of the sound one, in a process of its own."""
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / NAME).write_bytes(data)
        command = [sys.executable, "-m", "bt_runtime.cli", *COMMANDS["show json"]]
        around = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=name, env=around, capture_output=True, text=True, check=True)
    return done.stdout

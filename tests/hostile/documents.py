"""Documents of a project, and of worlds and memories, that are not as they should be."""

from __future__ import annotations

import json
import random
import re
import sqlite3
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.fuzz.mutate import SEEDS, mutate
from tests.hostile.case import Case, File
from tests.hostile.values import NASTY, OUTSIDE, spoiled
from tests.language.kinds.samples import MANIFEST

ROOT = Path(__file__).parents[2]
PROJECT = File("btr.yaml", b"version: 1\n")
START = "version: 1\ntree: t\n"
TREES = (
    START + 'root: !!python/object/apply:os.system ["touch ../../pwned"]\n',
    START + "root: &r\n  sequence: [*r]\n",
    START + "root: " + "[" * 100_000 + "]" * 100_000 + "\n",
    START + "root:\n  " + "k" * 2_000_000 + ": 1\n",
    START + "root:\n  sequence:\n" + "".join(f"    - bogus{i}: 1\n" for i in range(20_000)),
    START + "root:\n  wait: " + "9" * 100_000 + "\n",
    START + "root:\n  timeout: {seconds: .inf, child: {wait: .inf}}\n",
    START + "root: !" + "a" * 100_000 + " x\n",
    START + 'root:\n  "\\e[2J\\e]8;;http://x\\a": 1\n',
    START + "root:\n  tree: {file: ../../../../dev/zero}\n",
    START + 'root:\n  tree: {file: "a\\0b"}\n',
    START + 'root:\n  py: {class: "../../outside.py:X"}\n',
    START + "root:\n  sequence:\n" + "    - succeed: {}\n" * 20_000,
    START + "root: " + "{invert: " * 300 + "{succeed: {}}" + "}" * 300 + "\n",
    START + "skills: [../../../etc/passwd, /etc/passwd, '']\nroot: {succeed: {}}\n",
    START
    + "x: &a [1]\n"
    + "".join(f"x{i}: &a{i} [{','.join(['*a' if i == 0 else f'*a{i - 1}'] * 10)}]\n" for i in range(9))
    + "root: {succeed: {}}\n",
    START + 'root:\n  check: str(["😀\\n" * 50000] * 2000) == ""\n',
)
SETTINGS = """\
version: 1
hz: 20
log: debug
model: http://127.0.0.1:9/v1
memory: memory.db
runs: runs
env: house
seconds: 30
ticks: 100
"""
JUNK = (
    "null", "[]", "{}", "-1", "1e308", ".nan", ".inf", "99999999999999999999", "true", '"\\0"', '"\\e[2J"',
    "&a [*a]", "!!python/name:os.system x",
    "{a: {b: {c: 1}}}", '""', '"{x}"', f'"{OUTSIDE}"', "[[[[]]]]", "~", "x" * 500, "/dev/zero", "[" * 3000,
    "http://[::1", "http://x:99999999", "'a b'",
    "../..", "'\\ud800'", "1_0", "2024-01-01", "0x10",
)  # fmt: skip


def text_of(bent: str | bytes) -> bytes:
    return bent if isinstance(bent, bytes) else bent.encode("utf-8", "surrogatepass")


def valued(text: str, dice: random.Random) -> str:
    """Values and keys of a sound document that are others."""
    lines = text.split("\n")
    for _ in range(dice.randint(1, 2)):
        at = dice.choice([n for n, line in enumerate(lines) if ":" in line])
        key, _, value = lines[at].partition(":")
        match dice.randrange(4):
            case 0:
                lines[at] = re.sub(
                    r"\d+", lambda _: dice.choice(("-1", "0", "1e400", "99999999", "0.5", "")), lines[at]
                )
            case 1:
                lines[at] = re.sub(r"\w+$", dice.choice(("x", "__class__", "1", '""', "a b")), key) + ":" + value
            case _:
                lines[at] = f"{key}: {dice.choice(JUNK)}"
    return "\n".join(lines)


def bent(text: str, dice: random.Random) -> bytes:
    return text_of(mutate(text, dice) if dice.random() < 0.4 else valued(text, dice))


def cases(seed: int, count: int) -> Iterator[Case]:
    """Trees, manifests and project files."""
    for number in range(count):
        dice = random.Random(f"documents/{seed}/{number}")
        name = f"documents/{seed}/{number}"
        match number % 4:
            case 0 | 1:
                sound = number // 2 >= len(TREES)
                tree = File("t.yaml", bent(dice.choice(SEEDS), dice) if sound else TREES[number // 2].encode())
                yield Case(f"{name}/validate", ("validate", "t.yaml"), (PROJECT, tree))
                yield Case(f"{name}/render", ("view", "render", "t.yaml"), (PROJECT, tree))
                if number % 4:
                    yield Case(
                        f"{name}/run",
                        ("run", "t.yaml", "--ticks", "20", "--seconds", "2"),
                        (PROJECT, tree),
                        executes=True,
                    )
            case 2:
                manifest = File("skills/house.yaml", bent(MANIFEST, dice))
                yield Case(f"{name}/manifest", ("validate",), (PROJECT, manifest))
                yield Case(f"{name}/schema", ("schema",), (PROJECT, manifest))
            case _:
                settings = File("btr.yaml", bent(SETTINGS, dice))
                words = dice.choice(
                    (("config",), ("validate",), ("config", "--json"), ("runs", "list"), ("memory", "list"))
                )
                yield Case(f"{name}/settings", words, (settings,))


@cache
def content() -> dict[str, str]:
    folders = ("envs/house", "envs/textcraft", "envs/rooms", "skills")
    return {
        str(p.relative_to(ROOT)): p.read_text(encoding="utf-8")
        for f in folders
        for p in sorted((ROOT / f).glob("*.yaml"))
    }


def worlds(seed: int, count: int) -> Iterator[Case]:
    """A world's files, read for its tasks, and the manifests of its skills."""
    every = tuple(File(path, text.encode()) for path, text in content().items())
    commands = {
        "house": (("lab", "tasks", "house", "--count", "2"), ("lab", "tasks", "house", "--count", "2", "--rules", "3")),
        "textcraft": (("lab", "tasks", "textcraft", "--count", "2"),),
        "rooms": (("lab", "tasks", "thor", "--count", "1"),),
        "skills": (("validate",), ("schema",)),
    }
    for number in range(count):
        dice = random.Random(f"worlds/{seed}/{number}")
        path = dice.choice(list(content()))
        folder = Path(path).parent.name
        files = tuple(f for f in every if f.path != path and Path(f.path).parent.name == folder)
        yield Case(
            f"worlds/{seed}/{number}/tasks",
            dice.choice(commands[folder]),
            (PROJECT, *files, File(path, bent(content()[path], dice))),
        )


def memories(seed: int, count: int) -> Iterator[Case]:
    """Experiences to import, and stores that somebody else has written."""
    lines = [
        line
        for path in sorted((ROOT / "memory").glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ][:60]
    for number in range(count):
        dice = random.Random(f"memories/{seed}/{number}")
        if number % 3:
            chosen = dice.sample(lines, 6)
            for at in range(dice.randint(1, 3)):
                chosen[at] = written(chosen[at], dice)
            file = File("e.jsonl", "\n".join(chosen).encode("utf-8", "surrogatepass"))
            words = in_a_row("import e.jsonl --embedder hashing", *READ)
        else:
            file, words = File("m.db", store(dice)), in_a_row(*READ, "export")
        yield Case(f"memories/{seed}/{number}/read", words, (file,), call="tests.hostile.calls:in_a_row")


READ = ("list", "search apple", "stats", "why apple")


def in_a_row(*actions: str) -> tuple[str, ...]:
    return tuple(" ; ".join(f"memory {action} --store m.db" for action in actions).split())


def written(line: str, dice: random.Random) -> str:
    try:
        match dice.randrange(4):
            case 0:
                return json.dumps({**json.loads(line), dice.choice(list(json.loads(line))): dice.choice(NASTY)})
            case 1:
                return json.dumps(spoiled(json.loads(line), dice), ensure_ascii=False)
            case 2:
                return dice.choice(
                    (
                        "",
                        "[" * 50_000,
                        "null",
                        "1",
                        '"x"',
                        '{"goal": ' + "9" * 5000 + "}",
                        "{}",
                        "\x00",
                        line * 3,
                        "x\n" * 20_000,
                    )
                )
            case _:
                return line[: dice.randrange(len(line))]
    except (TypeError, ValueError):
        return "null"


@cache
def stored() -> bytes:
    from bt_runtime.memory import Episodes
    from bt_runtime.memory.experience import Experience

    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "m.db"
        with Episodes.open(path, "hashing") as memory:
            memory.add(
                [
                    Experience(
                        goal=f"put the apple in bowl {i}", text="Act: look\n" * i, end="success", run="r", place=f"/{i}"
                    )
                    for i in range(20)
                ]
            )
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.close()
        return path.read_bytes()


def store(dice: random.Random) -> bytes:
    """Values of its tables that are others, or bytes."""
    from tests.hostile.journals import broken

    if dice.random() < 0.3:
        return broken(stored(), dice)
    with tempfile.NamedTemporaryFile(suffix=".db") as file:
        Path(file.name).write_bytes(stored())
        connection = sqlite3.connect(file.name)
        for _ in range(3):
            try:
                cell(connection, dice)
            except (sqlite3.Error, OverflowError, UnicodeEncodeError, ValueError):
                continue
        connection.commit()
        connection.close()
        return Path(file.name).read_bytes()


def cell(connection: sqlite3.Connection, dice: random.Random) -> None:
    """One value of one row is another."""
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    table = dice.choice(tables)
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    column, value = dice.choice(columns), dice.choice((*NASTY, b"\xff\0", b""))
    keys = [key for (key,) in connection.execute(f"SELECT {columns[0]} FROM {table}")]
    if keys:
        other = json.dumps(value) if isinstance(value, list | dict) else value
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE {columns[0]} = ?", (other, dice.choice(keys)))

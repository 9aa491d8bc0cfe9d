"""Files of a project that are no files: pipes, devices, links to themselves or out of it, folders, 5 GB of nothing."""

from __future__ import annotations

import atexit
import itertools
import os
import random
import shutil
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.hostile.case import Case, File
from tests.hostile.journals import sound

KINDS = ("pipe", "device", "sparse", "folder", "loop")
FILES = (
    File("btr.yaml", b"version: 1\nmemory: memory/m.sqlite\nruns: runs\n"),
    File(
        "skills/s.yaml",
        b'version: 1\nskills: s\nkinds:\n  eff: {params: {n: integer}, on_resume: fail, impl: "s.py:eff"}\n',
    ),
    File("skills/s.py", b"def eff(n: int):\n    return True\n"),
    File("trees/sub.yaml", b"version: 1\ntree: sub\nroot: {log: hi}\n"),
    File("trees/t.yaml", b"version: 1\ntree: t\nskills: [s]\nroot:\n  sequence: [eff: 1, tree: {file: sub}]\n"),
    File("trees/u.yaml", b"version: 1\ntree: u\nroot:\n  sequence: [log: hi, wait: 0.01, tree: {file: sub}]\n"),
    File("foreign.xml", b'<root BTCPP_format="4"><BehaviorTree ID="M"><AlwaysSuccess/></BehaviorTree></root>'),
)  # fmt: skip
PLACES = (
    "btr.yaml", "skills/s.yaml", "skills/s.py", "trees/sub.yaml", "trees/t.yaml", "trees/prompts/default.md",
    "guides/g.md", "tests/test_t.yaml", "schemas/tree.schema.json", "foreign.xml",
)  # fmt: skip
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("validate",), ("validate", "trees/t.yaml"), ("validate", "--fix"), ("fmt", "--check", "trees/t.yaml"), ("fmt",),
    ("config",), ("explain", "eff"), ("schema",), ("run", "u"), ("diff", "trees/t.yaml", "trees/u.yaml"),
    ("new", "skill", "s"), ("import", "foreign.xml", "--out", "made"),
)  # fmt: skip
BESIDE = (
    "memory/m.sqlite", "runs/run.btr", "runs/run.mark", "runs/run.lock", "runs/run.btr-wal", "runs/run.btr-journal",
    "runs/run.btr-shm", "runs/run.rebuilding", "runs/run.rebuilt",
)  # fmt: skip
OF_RUNS: tuple[tuple[str, ...], ...] = (
    ("runs", "list"), ("runs", "show", "last"), ("replay", "last"), ("resume", "--seconds", "2", "last"),
    ("memory", "list"), ("view", "last", "--html", "x.html"), ("run", "u"), ("runs", "rm", "last"),
    ("runs", "copy", "runs/run.btr", "copy.btr"),
)  # fmt: skip
LINKS = ("trees/u.yaml", "schemas", "skills/abc.py", "trees/abc.yaml", "schemas/tree.schema.json", "x.html", "made")
WRITERS: tuple[tuple[str, ...], ...] = (
    ("fmt",), ("fmt", "trees/u.yaml"), ("validate", "--fix"), ("schema",), ("new", "skill", "abc"),
    ("new", "tree", "abc"), ("view", "runs/run.btr", "--html", "x.html"), ("import", "foreign.xml", "--out", "made"),
)  # fmt: skip


def odd(path: str, kind: str) -> File:
    match kind:
        case "device":
            return File(path, b"/dev/zero", "link")
        case "loop":
            return File(path, Path(path).name.encode(), "link")
        case _:
            return File(path, kind=kind)


@cache
def victims() -> Path:
    """Somebody's files, outside of every case's folder: the frame tells of whatever writes there."""
    folder = Path(tempfile.mkdtemp(prefix="victims-"))
    ours = os.getpid()  # the case's process runs what is registered too
    atexit.register(lambda: shutil.rmtree(folder, ignore_errors=True) if os.getpid() == ours else None)
    (folder / "file").write_bytes(b"version:   1\ntree:    u\nroot:\n    sequence:   [lgo: hi]\n")
    (folder / "folder").mkdir()
    return folder


def laid(file: File) -> tuple[File, ...]:
    """The project with this file in the place of its own."""
    whole = (*FILES, File("runs/run.btr", sound()[0]))
    return (*(each for each in whole if each.path != file.path), file)


def places() -> Iterator[tuple[File, tuple[str, ...]]]:
    """Every kind in every place, for every command; every link, for every command that writes."""
    for path, kind, words in itertools.product(PLACES, KINDS, COMMANDS):
        yield odd(path, kind), words
    for path, kind, words in itertools.product(BESIDE, KINDS, OF_RUNS):
        yield odd(path, kind), words
    for path, name, words in itertools.product(LINKS, ("file", "folder", "missing"), WRITERS):
        yield File(path, str(victims() / name).encode(), "link"), words


def cases(seed: int, count: int) -> Iterator[Case]:
    """All of them, in an order by the seed."""
    every = list(places())
    random.Random(f"odd files/{seed}").shuffle(every)
    for number, (file, words) in enumerate(every[:count]):
        yield Case(f"odd files/{seed}/{number}/{file.kind} {file.path.replace('/', '-')} {words[0]}", words, laid(file))


ALL = len(PLACES) * len(KINDS) * len(COMMANDS) + len(BESIDE) * len(KINDS) * len(OF_RUNS) + 3 * len(LINKS) * len(WRITERS)

"""A case: the files that lie in a folder of their own, and one thing that is done there."""

from __future__ import annotations

import base64
import json
import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

USAGE = 2
SPARSE = 5 * 2**30  # bytes, none of which the disk holds
KEY = "a-key-that-must-not-be-told"  # what BTR_MODEL_KEY is for every case
WORDS = frozenset({0, 1, USAGE, 4, 5})  # every exit code of docs/cli.md but "a bug of btr" and "interrupted"


class File(NamedTuple):
    """What stands at a path of the case's folder: bytes, a link to somewhere, a folder, a pipe nobody writes, 5 GB."""

    path: str
    data: bytes = b""
    kind: str = "file"  # or "link" (data: where to), "folder", "pipe", "sparse"


class Case(NamedTuple):
    """A command, or a call of `module:function` with texts; `{server}` in a word is the hostile server's address."""

    name: str  # target/seed/number, and what is done: enough to make it again
    words: tuple[str, ...]
    files: tuple[File, ...] = ()
    call: str = ""  # else the command line `btr` is called with the words
    codes: frozenset[int] = WORDS
    executes: bool = False  # may it run code that lies in its folder?
    sound: str = ""  # what the undamaged file gave; another story must be told to be one


class Target(NamedTuple):
    """One sweep: `cases(seed, count)` gives cases of so many mutations, of which a run makes `short` or `whole`."""

    name: str
    cases: Callable[[int, int], Iterator[Case]]
    short: int
    whole: int


def lay(case: Case, folder: Path) -> None:
    for file in case.files:
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        match file.kind:
            case "link":
                path.symlink_to(os.fsdecode(file.data))
            case "folder":
                path.mkdir(exist_ok=True)
            case "pipe":
                os.mkfifo(path)
            case "sparse":
                path.touch()
                os.truncate(path, SPARSE)
            case _:
                path.write_bytes(file.data)


def saved(case: Case, why: list[str], output: str, folder: Path) -> Path:
    """The case as one file, which `again` reads."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / (case.name.replace("/", "-").replace(" ", "_") + ".json")
    files = [(f.path, base64.b64encode(zlib.compress(f.data)).decode(), f.kind) for f in case.files]
    rows = {
        **case._asdict(),
        "files": files,
        "codes": sorted(case.codes),
        "why": why,
        "output": output if len(output) < 8000 else f"{output[:4000]}\n…\n{output[-4000:]}",
    }
    path.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    return path


def loaded(path: Path) -> Case:
    rows = json.loads(path.read_text(encoding="utf-8"))
    files = tuple(File(p, zlib.decompress(base64.b64decode(data)), kind) for p, data, kind in rows["files"])
    kept = {name: rows[name] for name in ("name", "call", "executes", "sound")}
    return Case(**kept, words=tuple(rows["words"]), files=files, codes=frozenset(rows["codes"]))

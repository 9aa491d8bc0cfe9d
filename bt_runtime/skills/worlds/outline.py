"""Recognises a file of tasks by its content, read from its beginning, regardless of its name."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

PEEK = 1 << 20  # characters of a file that are looked at
ENDS = (".json", ".json.gz", ".jsonl", ".jsonl.gz")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[{}\[\]:]', re.DOTALL)


class Outline(NamedTuple):
    """The key names in the first mapping of JSON or JSON lines, and in the first mapping nested inside."""

    rows: bool = False  # a list, or a mapping in each line
    keys: frozenset[str] = frozenset()
    inner: frozenset[str] = frozenset()

    def has(self, *names: str) -> bool:
        return self.keys >= set(names)

    def __str__(self) -> str:
        if not self.keys:
            return "no JSON with names in it"
        some = sorted(self.keys)
        return f"{'entries' if self.rows else 'a mapping'} with {', '.join(some[:8])}{', …' if some[8:] else ''}"


def outline(path: Path) -> Outline:
    """Returns a file's outline; an empty one when the file is unreadable or not JSON."""
    try:
        if not path.name.endswith(ENDS) or not path.is_file():
            return Outline()
        found = path.stat()
        return _outline(path, found.st_mtime_ns, found.st_size)
    except (OSError, EOFError, zlib.error):
        return Outline()


def inside(folder: Path) -> list[Path]:
    """Returns the JSON files in a folder, in a fixed order."""
    return sorted(p for p in folder.iterdir() if p.name.endswith(ENDS)) if folder.is_dir() else []


def told(folder: Path) -> str:
    """Describes the files in a folder, for an error about a missing one."""
    there = [f"{path.name} holds {outline(path)}" for path in inside(folder)]
    return "".join(f"; {each}" for each in there[:4]) + (f"; and {len(there) - 4} more" if there[4:] else "")


@lru_cache(maxsize=256)
def _outline(path: Path, changed: int, size: int) -> Outline:
    opened: Any = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", errors="replace") as file:
        text = file.read(PEEK)
    start = text.lstrip("\ufeff \t\r\n")
    if not start.startswith(("{", "[")):
        return Outline()
    keys: list[set[str]] = [set(), set()]
    for depth, name in _names(start):
        keys[depth].add(name)
    lines = path.name.removesuffix(".gz").endswith(".jsonl")
    return Outline(lines or start.startswith("["), frozenset(keys[0]), frozenset(keys[1]))


def _names(text: str) -> Iterator[tuple[int, str]]:
    """Returns the keys of the first mapping (0), or of the first mapping nested in it (1)."""
    depth, closed, last = 0, False, ""
    for found in _TOKEN.finditer(text):
        token = found[0]
        if token == "{":
            depth += 1
        elif token == "}":
            depth -= 1
            closed = closed or depth == 1
            if depth <= 0:
                return
        elif token == ":" and last and (depth == 1 or (depth == 2 and not closed)):
            yield depth - 1, last[1:-1]
        last = token if token.startswith('"') else ""

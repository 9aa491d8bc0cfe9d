"""Yields the entries of a file of tasks: JSON Lines or a JSON list, compressed or not."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from bt_runtime.language.faults.diagnostic import BtError

_CHUNK = 1 << 20


def entries(path: Path, hint: str) -> Iterator[Any]:
    """Yields entries without reading the whole file, which may exceed the memory. `hint`: the remedy named when it is
    unreadable."""
    opened: Any = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8") as file:
            if path.name.removesuffix(".gz").endswith(".jsonl"):
                yield from (json.loads(line) for line in file if line.strip())
            else:
                yield from _array(file)
    except (OSError, ValueError, EOFError) as problem:
        raise BtError(f"cannot read {path}: {problem}", hint) from problem


def mappings(path: Path, hint: str) -> Iterator[dict[str, Any]]:
    """Yields the entries; raises for one that is not a mapping."""
    for number, entry in enumerate(entries(path, hint), 1):
        if not isinstance(entry, dict):
            raise BtError(f"entry {number} of {path} is no mapping", hint)
        yield entry


def _array(file: TextIO) -> Iterator[Any]:
    decoder, held, ended = json.JSONDecoder(), file.read(_CHUNK).lstrip().removeprefix("["), False
    while True:
        held = held.lstrip().removeprefix(",").lstrip()
        if held.startswith("]"):
            return
        try:
            value, end = decoder.raw_decode(held)
        except ValueError:
            more = file.read(max(_CHUNK, len(held)))
            if not more and ended:
                raise
            held, ended = held + more, not more
            continue
        yield value
        held = held[end:]

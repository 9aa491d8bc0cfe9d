"""A disk whose power is cut: what a process wrote is noted call by call, and what was not synced may be missing."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

SHIM = Path(__file__).with_name("disk.c")
PAGE = 4096


class Call(NamedTuple):
    what: str  # create, write, truncate, fsync, unlink, rename
    path: str
    at: int
    data: bytes


def shim(folder: Path) -> Path:
    """The library that notes the calls; a machine without a compiler skips the test."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None or os.uname().sysname != "Linux":
        pytest.skip("needs Linux and a C compiler")
    built = folder / "disk.so"
    done = subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-o", str(built), str(SHIM), "-ldl", "-lpthread"],
        capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    if done.returncode:
        pytest.skip(f"the shim cannot be compiled: {done.stderr[-500:]}")
    return built


def calls(log: Path) -> list[Call]:
    found, data, place = [], log.read_bytes(), 0
    while place < len(data):
        end = data.index(b"\n", place)
        what, path, at, size = data[place:end].decode().split("\t")
        place = end + 1 + int(size)
        found.append(Call(what, path, int(at), data[end + 1 : place]))
    return found


class Disk:
    """What is surely on it, and what may be."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}  # as a process sees them
        self.sure: dict[str, int] = {}  # as they are after a cut, whatever happens
        self.loose: list[tuple[str, str, int]] = []  # changes of names that no directory has synced
        self.files: list[bytearray] = []
        self.pending: list[list[Call]] = []

    def play(self, call: Call) -> None:
        if call.what == "fsync" and Path(call.path).suffix == "" and call.path not in self.names:
            self._names_synced(call.path)
        elif call.what == "create":
            self.files.append(bytearray())
            self.pending.append([])
            self.names[call.path] = len(self.files) - 1
            self.loose.append(("link", call.path, len(self.files) - 1))
        elif call.what == "unlink":
            self.names.pop(call.path, None)
            self.loose.append(("unlink", call.path, 0))
        elif call.what == "rename":
            number = self.names.pop(call.path)
            self.names[call.data.decode()] = number
            self.loose += [("link", call.data.decode(), number), ("unlink", call.path, 0)]
        elif call.path in self.names:
            number = self.names[call.path]
            if call.what == "fsync":
                for each in self.pending[number]:
                    put(self.files[number], each)
                self.pending[number].clear()
            else:
                self.pending[number].append(call)

    def _names_synced(self, folder: str) -> None:
        kept = []
        for what, path, number in self.loose:
            if str(Path(path).parent) == folder:
                named(self.sure, what, path, number)
            else:
                kept.append((what, path, number))
        self.loose = kept

    def cut(self, draw: random.Random) -> dict[str, bytes]:
        """The files after the power came back: of what was not synced, page by page, some is there and some is not."""
        share = draw.choice((0.0, 0.3, 0.7, 1.0))
        names = dict(self.sure)
        for what, path, number in self.loose:
            if draw.random() < share:
                named(names, what, path, number)
        found = {}
        for path, number in names.items():
            content = bytearray(self.files[number])
            for call in self.pending[number]:
                for piece in pages(call):
                    if draw.random() < share:
                        put(content, piece)
            found[path] = bytes(content)
        return found


def named(names: dict[str, int], what: str, path: str, number: int) -> None:
    if what == "link":
        names[path] = number
    else:
        names.pop(path, None)


def pages(call: Call) -> list[Call]:
    if call.what != "write":
        return [call]
    cuts = [0, *range(PAGE - call.at % PAGE, len(call.data), PAGE), len(call.data)]
    return [call._replace(at=call.at + a, data=call.data[a:b]) for a, b in pairwise(cuts) if b > a]


def put(content: bytearray, call: Call) -> None:
    if call.what == "truncate":
        del content[call.at :]
        content.extend(bytes(call.at - len(content)))
    else:
        content.extend(bytes(max(0, call.at - len(content))))
        content[call.at : call.at + len(call.data)] = call.data

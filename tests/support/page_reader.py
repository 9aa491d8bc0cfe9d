"""Does what a reader of a page does: writes the files that it shows, runs its commands, compares what they print."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from bt_runtime.cli import COMMANDS, main

ROOT = Path(__file__).parents[2]
EXITS = re.compile(r"# exits with (\d+)")
ASKS = "--break"  # a prompt, which the tests of the debugger see


class Block(NamedTuple):
    kind: str  # sh, text, yaml, python; a block of another kind (console) is only shown
    title: str  # the file that it is
    text: str


def blocks(page: str) -> list[Block]:
    pattern = r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```'
    return [Block(m[1], m[2] or "", m[3]) for m in re.finditer(pattern, page, re.DOTALL | re.MULTILINE)]


class Reader:
    def __init__(self, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.capfd, self.monkeypatch = capfd, monkeypatch
        self.output = ""
        self.commands = 0

    def read(self, page: str) -> None:
        for block in blocks(page):
            self.do(block)

    def do(self, block: Block) -> None:
        if block.title:
            path = Path(block.title)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        elif block.kind == "sh":
            self.output = "".join(self.run(line) for line in block.text.splitlines())
        elif block.kind == "text":
            for line in block.text.splitlines():
                assert line in self.output, f"{line!r} is not in\n{self.output}"

    def run(self, line: str) -> str:
        plain, exits = line.partition("  #")[0].strip(), EXITS.search(line)
        words = shlex.split(plain)
        self.commands += 1
        if words[0] == "cd":
            self.monkeypatch.chdir(words[1])
            return ""
        if words[0] == "btr" and (words[1] not in COMMANDS or ASKS in words):
            return ""
        if words[0] == "btr":
            code, output = main(words[1:]), "".join(self.capfd.readouterr())
        else:
            code, output = _child(words)
        assert code == int(exits[1] if exits else 0), f"{line}\n{output}"
        return output


def _child(words: list[str]) -> tuple[int, str]:
    python = {"pytest": [sys.executable, "-m", "pytest"], "python": [sys.executable]}
    command = [*python.get(words[0], words[:1]), *words[1:]]
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": path, "PYTEST_ADDOPTS": "-p no:cacheprovider"}
    ended = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=900, check=False)
    return ended.returncode, ended.stdout + ended.stderr

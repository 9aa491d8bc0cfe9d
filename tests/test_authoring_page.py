"""docs/authoring.md is run as it stands there: its files are written, its commands are run, what it shows is shown."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from bt_runtime.cli import COMMANDS, main

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "authoring.md"
STEPS = 8
FAILS = "# exits with 1"
ASKS = "--break"  # a prompt, which the tests of the debugger see


class Block(NamedTuple):
    step: int
    kind: str  # sh, text, yaml, python
    title: str  # the file that it is
    text: str


def blocks() -> list[Block]:
    found, step = [], 0
    pattern = r'^## (\d+)\.|^```(\w+)(?: title="([^"]+)")?\n(.*?)^```'
    for match in re.finditer(pattern, PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE):
        step = int(match[1]) if match[1] else step
        if match[2]:
            found.append(Block(step, match[2], match[3] or "", match[4]))
    return found


class Reader:
    """Does what a reader of the page does."""

    def __init__(self, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.capfd, self.monkeypatch = capfd, monkeypatch
        self.said = ""

    def do(self, block: Block) -> None:
        if block.title:
            path = Path(block.title)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        elif block.kind == "sh":
            self.said = "".join(self.run(line) for line in block.text.splitlines())
        else:
            assert block.kind == "text"
            for line in block.text.splitlines():
                assert line in self.said, f"step {block.step}: {line!r} is not in\n{self.said}"

    def run(self, line: str) -> str:
        words, fails = line.partition("#")[0].strip(), FAILS in line
        name = words.split()[0]
        if name == "btr":
            if words.split()[1] not in COMMANDS or ASKS in words:
                return ""
            code, said = main(_split(words)[1:]), "".join(self.capfd.readouterr())
        elif name == "cd":
            self.monkeypatch.chdir(words.split()[1])
            return ""
        else:
            command = [sys.executable, "-m", "pytest", *words.split()[1:]] if name == "pytest" else words.split()
            environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": "-p no:cacheprovider"}
            ended = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
            code, said = ended.returncode, ended.stdout + ended.stderr
        assert code == int(fails), f"{line}\n{said}"
        return said


def _split(words: str) -> list[str]:
    import shlex

    return shlex.split(words)


def test_the_page_leads_from_an_empty_folder_to_a_covered_fuzzed_and_checked_robot(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    reader, steps = Reader(capfd, monkeypatch), set()
    for block in blocks():
        steps.add(block.step)
        reader.do(block)
    assert steps == set(range(1, STEPS + 1))

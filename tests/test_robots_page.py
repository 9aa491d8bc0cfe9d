"""docs/robots.md is run as it stands there: its files are written, its commands are run, what it shows is shown.

Only ports are others here, and time: where nothing looks on, nobody waits for the robot.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from bt_runtime.cli import main

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "robots.md").read_text("utf-8")
GOOD = r"RUNNING|SUCCESS|bt_ticks_total \d|<title>|navigate"
LOOKS = 5  # on a busy machine a second may pass before a monitor has heard anything


class Block(NamedTuple):
    kind: str  # sh, console, text, yaml, python, xml
    title: str
    text: str


def blocks() -> list[Block]:
    pattern = r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```'
    return [Block(m[1], m[2] or "", m[3]) for m in re.finditer(pattern, PAGE, re.DOTALL | re.MULTILINE)]


def fast(words: list[str]) -> list[str]:
    """Nobody waits for the robot."""
    drives = words[:2] == ["btr", "run"] and "--env" in words
    return [*words, "--option", "speed=0", "--hz", "10"] if drives else words


def run(line: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> str:
    import shlex

    plain, _, note = line.partition("  #")
    code = int(found[1]) if (found := re.search(r"exits with (\d)", note)) else 0
    words = fast(shlex.split(plain))
    if words[0] == "cd":
        monkeypatch.chdir(words[1])
        return ""
    if words[0] == "btr":
        ended, said = main(words[1:]), "".join(capfd.readouterr())
    else:
        words = [sys.executable, "-m", "pytest", *words[1:]] if words[0] == "pytest" else words
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": "-p no:cacheprovider"}
        done = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=900, check=False)
        ended, said = done.returncode, done.stdout + done.stderr
    assert ended == code, f"{line}\n{said}"
    return said


def test_the_page_leads_from_nothing_to_a_tested_tree_on_a_robot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    said, done = "", 0
    for block in blocks():
        if block.title:
            path = Path(block.title)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        elif block.kind == "sh":
            said = "".join(run(line, capfd, monkeypatch) for line in block.text.splitlines())
            done += block.text.count("\n")
        elif block.kind == "text":
            for line in block.text.splitlines():
                assert line in said, f"{line!r} is not in\n{said}"
    assert done == 22


LIVE = [b.text for b in blocks() if b.kind == "console" and "btr run" in b.text and "planner.gguf" not in b.text]


def free() -> str:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])


@pytest.mark.parametrize("block", LIVE, ids=["page", "groot2", "metrics"])
def test_a_monitor_shows_the_robot_while_it_drives(block: str, tmp_path: Path) -> None:
    """The first command drives it, the others look."""
    if "--groot2" in block:
        pytest.importorskip("zmq")
    first, *others = [line.removeprefix("$ ") for line in block.splitlines()]
    old, new = next(port for port in ("8765", "9464", "1667") if port in block or port == "1667"), free()
    asked = {"--view": ["--port", new], "--groot2": [new], "9464": []}
    words = [word.replace(old, new) for word in first.split()]
    words += next(more for mark, more in asked.items() if mark in first)
    command = [sys.executable, "-m", "bt_runtime.cli", *words[1:], "--plain"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as robot:
        try:
            assert robot.stderr is not None and any(new in line for line in robot.stderr)
            for line in others:
                name, *rest = line.replace(old, new).split()
                tool = shutil.which(name, path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
                if tool is None:
                    pytest.skip(f"{name} is not installed")
                more = ["--port", new] if name == "btview" else []
                for _ in range(LOOKS):
                    done = subprocess.run([tool, *rest, *more], capture_output=True, text=True, timeout=900, check=True)
                    if re.search(GOOD, done.stdout):
                        break
                assert re.search(GOOD, done.stdout), done.stdout
        finally:
            robot.kill()


def test_what_is_installed_is_an_extra_of_this_project() -> None:
    """`pip install` is the one command that a test of this machine cannot run: what it names is there."""
    import tomllib

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    [line] = [b.text for b in blocks() if "pip install" in b.text]
    assert line == "$ pip install 'bt_runtime[robot,envs]' btview\n" and {"robot", "envs"} <= {*extras}
    assert len(LIVE) == 3 and sum("planner.gguf" in b.text for b in blocks()) == 1

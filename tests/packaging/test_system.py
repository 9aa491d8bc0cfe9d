"""Without what only POSIX systems have, the base runs trees and keeps journals, and what cannot work says so."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import bt_runtime

NARROW = Path(__file__).with_name("narrow_system.py")
PACKAGE = Path(bt_runtime.__file__).parent
OUTER = [Path(__file__).parents[2] / at for at in ("envs/bt_envs", "packages")]
DOOR = PACKAGE / "language/project/system.py"
TREE = "version: 1\ntree: t\nroot: {sequence: [{log: hello}, {wait: 0.01}]}\n"
HELD = """
import os, sys
from pathlib import Path
from bt_runtime import BtError
from bt_runtime.journal import lock
path = Path("x.journal")
first = lock.Lock(path)
assert lock.is_held(path)
try:
    lock.Lock(path)
except BtError as fault:
    print(fault.message)
first.release()
assert not lock.is_held(path) and not first.path.exists()
second = lock.Lock(path)
second.release()
"""


def ran(folder: Path, *words: str, code: int = 0) -> str:
    (folder / "t.yaml").write_text(TREE)
    done = subprocess.run(
        [sys.executable, str(NARROW), *words], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def test_a_tree_runs_is_recorded_and_told_with_the_locks_of_windows(tmp_path: Path) -> None:
    ran(tmp_path, "--locks", "run", "t.yaml", "--runs", "runs")
    assert "SUCCESS" in ran(tmp_path, "--locks", "runs", "list", "--runs", "runs")


def test_one_writer_holds_a_journal_with_the_locks_of_windows(tmp_path: Path) -> None:
    assert "is being written by another process" in ran(tmp_path, "--locks", "-c", HELD)


def test_a_system_without_any_locks_is_named_as_the_reason(tmp_path: Path) -> None:
    assert "has no locks" in ran(tmp_path, "run", "t.yaml", "--runs", "runs", code=2)


@pytest.mark.parametrize("what", ["a local model", "ALFWorld"])
def test_what_inherits_a_socket_says_that_it_cannot(tmp_path: Path, what: str) -> None:
    program = f"""
from bt_runtime.language.project import system
from bt_runtime import BtError
try:
    system.needs_inheritance({what!r})
except BtError as fault:
    print(fault.message, fault.hint)
"""
    said = ran(tmp_path, "--locks", "-c", program)
    assert what in said and "--model http" in said


def test_one_module_alone_imports_what_other_systems_lack() -> None:
    """`termios` stands behind a guard of its own, in the function that needs it."""
    names = {"fcntl", "resource", "msvcrt", "pwd", "grp", "pty"}
    for root in (PACKAGE, *OUTER):
        for path in root.rglob("*.py"):
            if "tests" in path.parts or path == DOOR:
                continue
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Import):
                    assert not {each.name for each in node.names} & names, path

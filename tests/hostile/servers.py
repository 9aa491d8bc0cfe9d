"""Runs and questions that go to each kind of hostile server."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.hostile.case import Case, File
from tests.hostile.server import MODES

ROOT = Path(__file__).parents[2]
TREES = ("react", "reactree", "plan_and_execute", "adapt", "reflexion")
PROJECT = File("btr.yaml", b"version: 1\n")


def cases(seed: int, count: int) -> Iterator[Case]:
    """Every mode in turn, each time with another strategy; a run that is told to stop after 4 s stops."""
    for number in range(count):
        dice = random.Random(f"servers/{seed}/{number}")
        mode, tree = MODES[number % len(MODES)], dice.choice(TREES)
        words = (
            "run",
            tree,
            "--env",
            "house",
            "--model",
            "{server}/" + mode,
            "--seconds",
            "4",
            "--decisions",
            "40",
            "--runs",
            "runs",
        )
        yield Case(f"servers/{seed}/{number}/{mode} {tree}", words, (PROJECT,), executes=True)
        if number % 4 == 0:
            yield Case(f"servers/{seed}/{number}/{mode} doctor", ("doctor", "{server}/" + mode), (PROJECT,))


class Serving:
    """The server, in a process of its own."""

    def __enter__(self) -> str:
        command = [sys.executable, "-m", "tests.hostile.server"]
        self.process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        return f"http://127.0.0.1:{int(self.process.stdout.readline())}"

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

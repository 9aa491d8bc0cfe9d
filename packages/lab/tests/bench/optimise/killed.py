"""Run by test_kill.py in a process of its own: it kills itself at the question, or the write, of the given number."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from bt_lab.optimise.loop import optimise
from bt_lab.optimise.setup import OptimiseSetup, draw
from bt_runtime.agents import ScriptedModel
from bt_runtime.language.project import disk
from packages.lab.tests.bench.optimise.learner import PLAN, Learner

SETUP = OptimiseSetup("textcraft", "depth 1", batch=2, validation=2, seed=3)
ITERATIONS = 3
PLANS = ("1. Hope.\n", "1. Hope.\n2. Wait.\n", PLAN)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def dying_at_write(die_at: int) -> None:
    """Half of the text is on the disk, and then no more."""
    left, fsync = [die_at], os.fsync

    def counted(handle):
        left[0] -= 1
        if left[0] == 0:
            if os.fstat(handle).st_size > 20:
                os.truncate(Path(f"/proc/self/fd/{handle}").readlink(), 20)
            die()
        fsync(handle)

    disk.os.fsync = counted


def main(folder: str, what: str, die_at: int) -> None:
    aside, batches = draw(SETUP, ITERATIONS)
    kept = len(list(Path(folder).glob("[1-9]*.md")))
    learner = Learner([task for tasks in (aside, *batches) for task in tasks], plans=PLANS[kept:])

    def script(ask):
        if what == "question" and len(learner.asked) == die_at:
            die()
        return learner(ask)

    if what == "write":
        dying_at_write(die_at)
    versions, whole = optimise(SETUP, Path(folder), ITERATIONS, model=ScriptedModel(script), patience=9)
    print(len(learner.asked), len(versions), whole)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))

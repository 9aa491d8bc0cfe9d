"""Run by test_kill.py in a process of its own: it kills itself at the question whose number it is given."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from bt_runtime.agents.scripted import ScriptedModel
from bt_runtime.optimise.loop import optimise
from bt_runtime.optimise.setup import Setup, draw
from tests.optimise.learner import PLAN, Learner

SETUP = Setup("textcraft", "depth 1", batch=2, validation=2, seed=3)
ITERATIONS = 3
PLANS = ("1. Hope.\n", "1. Hope.\n2. Wait.\n", PLAN)


def main(folder: str, die_at: int) -> None:
    aside, batches = draw(SETUP, ITERATIONS)
    kept = len(list(Path(folder).glob("[1-9]*.md")))
    learner = Learner([task for tasks in (aside, *batches) for task in tasks], plans=PLANS[kept:])

    def script(ask):
        if len(learner.asked) == die_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return learner(ask)

    versions, whole = optimise(SETUP, Path(folder), ITERATIONS, model=ScriptedModel(script), patience=9)
    print(len(learner.asked), len(versions), whole)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

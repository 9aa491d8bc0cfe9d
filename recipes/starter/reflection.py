"""What whoever reflects on an attempt is told of it, and what a teacher says then."""

from __future__ import annotations

from bt_runtime.agents import autoplan
from recipes.starter.judge import STILL
from recipes.starter.room_judge import MISSING
from recipes.starter.seen import Seen

REFLECTS = "You read how an attempt at a task went wrong."
LESSON = autoplan.CUES[autoplan.LESSON]
ENDED = "\nThis attempt ended:"


def denied(seen: Seen) -> str:
    """What the judge of the attempt found missing; empty where no judge looked."""
    told = seen.steps[-1].observation.partition(ENDED)[2] if seen.steps else ""
    return told.partition("\n")[0].partition(MISSING)[2].rstrip(".")


def reflected(seen: Seen) -> str:
    """In rooms a lesson is what is still to do."""
    return f"{LESSON} {STILL}{denied(seen) or seen.goal.rstrip('.')}.\n"

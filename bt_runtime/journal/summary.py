"""Runs in a list, each at one glance; which of them are old enough to delete."""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

from bt_runtime.journal import folder
from bt_runtime.journal.glance import BROKEN, CRASHED, DAMAGED, STOPPED, WAITING, Glance
from bt_runtime.journal.store import JournalLimits
from bt_runtime.language.faults.diagnostic import BtError

DAY = 86_400.0
LATEST = 20  # journals that stay, however old they are
SINCE = 1_704_067_200.0  # the beginning of 2024: a clock that showed less was not set
ENDED = ("SUCCESS", "FAILURE")


class Summary(NamedTuple):
    name: str
    tree: str
    state: str  # running, interrupted, SUCCESS, FAILURE, broken, not begun, damaged
    ticks: int
    decisions: int
    actions: int
    verdict: str  # "3/4" conditions met; "" without a world
    started: float
    bytes: int
    path: str
    why: str = ""


def summary(path: Path) -> Summary:
    found = Glance(path)
    found.look()
    found.look()  # of a run that is just writing, the first may fail
    state = "interrupted" if found.state in (CRASHED, STOPPED) else found.state
    why = "it ended while it began" if state == WAITING else found.why if state in (BROKEN, DAMAGED) else ""
    return Summary(
        found.name, found.tree, state, found.tick, found.decisions, found.actions, found.met, found.started,
        folder.usage(path), str(path), why,
    )  # fmt: skip


def let_old_go(place: Path, limits: JournalLimits) -> list[Path]:
    """Removes runs that ended beyond the age limit, and gives their files; what cannot be removed stays.

    None of a run that can go on, none of the latest, none by the word of a clock that jumped.
    """
    now, there = time.time(), folder.journals(place)
    if not there or clock_jumped(there, now, limits):
        return []
    gone = []
    for path in there[:-LATEST]:
        try:
            if SINCE < folder.touched(path) < now - limits.days * DAY and summary(path).state in ENDED:
                folder.remove(path)
                gone.append(path)
        except (OSError, BtError):
            continue
    return gone


def clock_jumped(there: list[Path], now: float, limits: JournalLimits) -> bool:
    """Returns True when the newest journal is from the future or so old that the clock may be wrong. Then no journal
    is deleted yet."""
    newest = folder.touched(there[-1])
    return newest > now + DAY or newest < now - limits.days * DAY / 3

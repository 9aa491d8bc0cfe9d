"""Old journals go: none of a run that can go on, none of the latest, none by the word of a clock that jumped."""

from __future__ import annotations

import time
from pathlib import Path

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.journal import folder
from bt_runtime.journal.store import Limits
from bt_runtime.journal.summary import summary

DAY = 86_400.0
LATEST = 20  # journals that stay, however old they are
SINCE = 1_704_067_200.0  # the beginning of 2024: a clock that showed less was not set
ENDED = ("SUCCESS", "FAILURE")


def let_old_go(place: Path, limits: Limits) -> list[Path]:
    """Removes runs that ended beyond the age limit; what cannot be removed stays. Which they were."""
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


def clock_jumped(there: list[Path], now: float, limits: Limits) -> bool:
    """Is the newest journal of tomorrow, or so old that the clock may have been put forward? Then nothing goes yet."""
    newest = folder.touched(there[-1])
    return newest > now + DAY or newest < now - limits.days * DAY / 3

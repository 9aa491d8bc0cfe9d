"""Decides which failed requests to retry, and when: the server is busy, it is loading, or the connection broke."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import NamedTuple

BUSY = frozenset({429, 502, 503, 504})  # HTTP codes of a server that will answer later
TRIES = 6  # tries of one request in all
FIRST, MOST = 0.5, 30.0  # seconds until the second try, and between any two; each wait is twice the one before
JITTER = 0.5  # random share of a wait, so that agents do not come back together


class RetryWait(NamedTuple):
    """How a retry waits: until the end, or until cancelled (then `sleep` returns True)."""

    sleep: Callable[[float, threading.Event], bool] = lambda seconds, off: off.wait(seconds)
    chance: Callable[[], float] = random.random

    def seconds(self, tries: int, asked: float | None) -> float:
        """Returns the delay before the next attempt. A delay that the server asked for is kept, plus a little."""
        usual = min(MOST, FIRST * 2.0 ** (tries - 1))
        if asked is not None:
            return asked + usual * JITTER * self.chance()
        return usual * (1 - JITTER * self.chance())


WAIT = RetryWait()


def asked_for(header: str | None, date: str | None) -> float | None:
    """Seconds of a `Retry-After` header: a number, or a moment relative to the server's own `Date`."""
    if not header or len(header) > 64:
        return None
    try:
        return max(0.0, float(header)) if header.strip().isdigit() else _between(header, date)
    except (TypeError, ValueError, OverflowError):
        return None


def _between(header: str, date: str | None) -> float | None:
    return max(0.0, (parsedate_to_datetime(header) - parsedate_to_datetime(date)).total_seconds()) if date else None

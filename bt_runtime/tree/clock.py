"""Time for a run: the machine's, a test's, or a simulator's. Nodes ask for the time; only the runner waits."""

from __future__ import annotations

import math
import threading
import time
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Protocol

LONGEST = 86_400.0  # seconds of one wait: the system's own have a limit, and who waits asks again


class Alarm:
    """Set from any thread, and from a signal handler at any moment (there, an Event may deadlock)."""

    def __init__(self) -> None:
        self._set = False
        self._bell: SimpleQueue[None] = SimpleQueue()

    def set(self) -> None:
        if not self._set:  # rung once is enough: nobody may ever come to listen
            self._set = True
            self._bell.put(None)

    def clear(self) -> None:
        self._set = False
        while not self._bell.empty():
            self._bell.get()

    def is_set(self) -> bool:
        return self._set

    def wait(self, seconds: float | None = None) -> None:
        if not self._set:
            with suppress(Empty):
                self._bell.get(timeout=seconds)


class RunClock(Protocol):
    def now(self) -> float: ...
    def wait(self, woken: Alarm, until: float) -> None:
        """Returns when `woken` is set or the time has come; `until` may be infinite."""


class Monotonic:
    """The machine's clock."""

    now = staticmethod(time.monotonic)

    def wait(self, woken: Alarm, until: float) -> None:
        remaining = until - time.monotonic()
        if remaining > 0:
            woken.wait(None if math.isinf(remaining) else min(remaining, LONGEST))


class Manual:
    """A clock that a test moves. Waiting jumps to the time waited for, so nothing sleeps."""

    def __init__(self, start: float = 0.0) -> None:
        self._now = start

    def now(self) -> float:
        return self._now

    def advance(self, seconds: float) -> None:
        self._now += seconds

    def wait(self, woken: Alarm, until: float) -> None:
        if woken.is_set():
            return
        if math.isinf(until):
            woken.wait()  # only a finished job can end this
        else:
            self._now = max(self._now, until)


class Simulated:
    """A clock that a simulator sets; waiting ends when the simulator has moved it far enough."""

    def __init__(self, start: float = 0.0) -> None:
        self._now = start
        self._moved = threading.Condition()

    def now(self) -> float:
        return self._now

    def set(self, now: float) -> None:
        with self._moved:
            self._now = max(self._now, now)
            self._moved.notify_all()

    def wait(self, woken: Alarm, until: float) -> None:
        with self._moved:
            while self._now < until and not woken.is_set():
                self._moved.wait(0.01)  # `woken` has no part in the condition: look again soon

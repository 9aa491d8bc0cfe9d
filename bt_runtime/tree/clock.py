"""Time for a run: the machine's, a test's, or a simulator's. Nodes read the time; only the runner waits.

A run's time never goes back. A clock that jumps back counts as having stood still, so a wait keeps its remainder. A
paused clock stops time, a faster one speeds it up."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, Protocol

LONGEST = 86_400.0  # seconds of one wait: the system's own have a limit, and who waits asks again
LOOK = 0.01  # seconds between two looks at a clock that cannot wait


class Alarm:
    """An event that any thread and any signal handler may set (in a handler, threading.Event may deadlock)."""

    def __init__(self) -> None:
        self._set = False
        self._bell: SimpleQueue[None] = SimpleQueue()
        self._others: tuple[Callable[[], object], ...] = ()

    def set(self) -> None:
        if not self._set:  # rung once is enough: nobody may ever come to listen
            self._set = True
            self._bell.put(None)
            for call in self._others:
                call()

    def listen(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Calls back when it is set, in that thread; returns a function that ends this."""
        self._others = (*self._others, callback)

        def undo() -> None:
            self._others = tuple(each for each in self._others if each is not callback)

        return undo

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
    def now(self) -> float:
        """Returns seconds since an arbitrary moment; callable from any thread."""
        ...

    def wait(self, woken: Alarm, until: float) -> None:
        """Returns when `woken` is set or the time has come; `until` may be infinite. A clock may do without."""


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
            woken.wait()  # until a job ends: nothing else is due
        else:
            self._now = max(self._now, until)


class Simulated:
    """A clock that a simulator sets from any thread: slower, faster, paused, or set back."""

    def __init__(self, start: float = 0.0) -> None:
        self._now = start
        self._moved = threading.Condition()

    def now(self) -> float:
        return self._now

    def set(self, now: float) -> None:
        with self._moved:
            self._now = now
            self._moved.notify_all()

    def wait(self, woken: Alarm, until: float) -> None:
        with self._moved:
            while self._now < until and not woken.is_set():
                self._moved.wait(LOOK)  # `woken` has no part in the condition: look again soon


def behind(until: float, ahead: float) -> float:
    """Converts a time to a clock that is behind; rounds up, so that the wait is never too short."""
    if not ahead or math.isinf(until):
        return until
    return until - ahead + 2 * math.ulp(abs(until) + abs(ahead))


class Steady:
    """Wraps any clock for a run: time never goes back, and waiters notice when the inner clock does."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.ahead = 0.0  # seconds: the sum of the inner clock's jumps back
        self._last = -math.inf
        self._lock = threading.Lock()

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["inner"], name)

    def now(self) -> float:
        with self._lock:
            read: float = self.inner.now()
            if read < self._last:
                self.ahead += self._last - read
            self._last = read
            return read + self.ahead

    @property
    def jumped(self) -> bool:
        return bool(self.inner.now() < self._last)

    def wait(self, woken: Alarm, until: float) -> None:
        if not hasattr(self.inner, "wait"):
            while self.now() < until and not woken.is_set():
                woken.wait(LOOK)
            return
        self.inner.wait(_Watching(woken, self), behind(until, self.ahead))


class _Watching(Alarm):
    """An alarm that also counts as set when the clock has jumped back."""

    def __init__(self, woken: Alarm, clock: Steady) -> None:
        self._woken, self._clock = woken, clock
        self.set, self.clear, self.wait = woken.set, woken.clear, woken.wait  # type: ignore[method-assign]

    def is_set(self) -> bool:
        return self._woken.is_set() or self._clock.jumped


def of_the_machine(clock: object) -> bool:
    """True for the machine's clock, however deeply it is wrapped."""
    while not isinstance(clock, Monotonic):
        clock = getattr(clock, "inner", None)
        if clock is None:
            return False
    return True


def steady(clock: Any) -> RunClock:
    """Returns the clock, wrapped unless it never jumps back anyhow, as the machine's own."""
    return clock if isinstance(clock, Monotonic | Steady) else Steady(clock)

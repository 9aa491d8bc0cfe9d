"""Decides when to tick: at a fixed rate, or when there is work. Sleeps otherwise."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import NamedTuple, cast

from py_trees.common import Status

from bt_runtime.events import Halt, Notice, Tick, Woken
from bt_runtime.language.faults.diagnostic import BtError, text_of
from bt_runtime.tree.clock import Alarm
from bt_runtime.tree.engine import Engine
from bt_runtime.tree.node import INVALID, path_of

BURST = 10_000  # ticks at once that a tree may ask for
MOST = 1_000  # … and a second, after these
GIVE_WAY = (0.002, 0.004, 0.008, 0.016, 0.02)  # seconds of rest while skills wait for a thread; then a tick is made


class Sleep(NamedTuple):
    until: float  # moment of the run's clock; minus infinity: at once
    rest: float = 0.0  # … after so many seconds


class Runner:
    """Ticks an engine until its root has ended, it is halted, or the time is up."""

    def __init__(self, engine: Engine, hz: float | None = None, crowded: Callable[[], bool] = lambda: False) -> None:
        self.engine = engine
        self.hz = rate(hz)
        self.overruns = 0  # ticks that took longer than a period
        self.missed = 0  # deadlines that passed while a tick was late; they are skipped, not made up for
        self.timed_out = False
        self.throttled = False  # does the tree want more ticks than it gets
        self.gave_way = 0  # ticks at a fixed rate that came later, so that skills could begin
        self.crowded = crowded  # do skills of this process wait for a thread
        self._spare, self._last = float(BURST), time.monotonic()
        self.stopped = ""  # the reason, once somebody has asked to stop, or has halted the tree
        self.for_good = ""  # … for which it is not to be started any more
        self.woken = Alarm()
        self._spinning = Lock()
        self._job_ended = False  # since the latest tick began: a fixed rate gives that a tick of its own
        self.rest: Callable[[float], object] = time.sleep
        engine.context.stream.listen(self._wake, Woken)

    def _wake(self, woken: Woken) -> None:
        self._job_ended = self._job_ended or woken.job
        self.woken.set()

    @contextmanager
    def at(self, hz: float | None) -> Iterator[None]:
        """Sets the rate for this `with` block, of which there is one at a time; None keeps the runner's rate."""
        before, after = self.hz, self.hz if hz is None else rate(hz)
        if not self._spinning.acquire(blocking=False):  # two would take each other's wake-ups, and one slept for ever
            raise BtError("the run spins already, in another thread or task", "wait until that spin has returned")
        self.hz = after
        try:
            yield
        finally:
            self.hz = before
            self._spinning.release()

    @property
    def why(self) -> str:
        """Returns why the tree stands still; "" when not stopped, or restarted."""
        over, held = self.engine.over, self.engine.held
        if over is not None or self.stopped:
            return over.reason if over is not None else self.stopped
        return held.reason if held is not None and held.by != "runner" else ""

    def spin(self, seconds: float | None = None, ticks: int | None = None) -> Status:
        """Runs to the end; INVALID when it was stopped or ran out of time, everything halted."""
        turns = self.turns(seconds, ticks)
        while True:
            try:
                pause = next(turns)
            except StopIteration as end:
                return cast(Status, end.value)
            if pause.rest:
                self.rest(pause.rest)
            elif pause.until > -math.inf:
                self.engine.context.clock.wait(self.woken, pause.until)

    def turns(self, seconds: float | None, ticks: int | None) -> Generator[Sleep, None, Status]:
        """Runs tick by tick; yields each pause that the caller has to wait for."""
        clock, seen = self.engine.context.clock, self.engine.latest
        self.stopped, self.timed_out = self.for_good, False
        end = math.inf if seconds is None else clock.now() + bound("seconds", seconds)
        due, left = clock.now(), math.inf if ticks is None else bound("ticks", ticks)
        early = False  # this period had a tick for a job that ended
        while not self._halted(seen):
            if left <= 0:
                return self._out_of_time()
            if self.hz is not None and self.crowded():
                yield from self._give_way(seen)
                if self._halted(seen):
                    break
            self.woken.clear()
            self._job_ended = False
            extra = clock.now() < due  # between two deadlines of the rate: a time limit ran out, or a job ended
            early = early and extra
            before = self.engine.count
            if (tick := self.engine.tick_unless(seen)) is None:
                self._halted(seen)
                break
            left -= self.engine.count - before  # a tick that a debugger holds does not count
            if tick.status is INVALID:
                self._halted(seen)
            if not tick.running:
                return tick.status
            if self._halted(seen):
                break
            if clock.now() >= end or left <= 0:
                return self._out_of_time()
            due = due if extra and self.hz is not None else self._next(due, tick)
            until = min(due, end, tick.deadline)
            if until <= clock.now():
                yield Sleep(-math.inf, self._restless() if tick.due == -math.inf and self.hz is None else 0.0)
            while not self._halted(seen) and clock.now() < until:
                yield Sleep(until)
                if self.hz is None and self.woken.is_set():
                    break
                if self._job_ended and not early:
                    early = True
                    break
                if self.hz is not None and not self._halted(seen):
                    self.woken.clear()  # at a fixed rate an entry that was written waits for the deadline
        self.engine.halt(self.stopped, "runner")
        return INVALID

    def _give_way(self, seen: Halt | None) -> Iterator[Sleep]:
        """Rests while skills wait for a thread: many runners would otherwise keep the interpreter's lock from them."""
        if not self.gave_way:
            text = f"ticks give way to skills, which wait for a thread: {self.hz:g} ticks a second are not kept"
            self.engine.context.emit(Notice("", "warning", text))
        self.gave_way += 1
        for rest in GIVE_WAY:
            yield Sleep(-math.inf, rest)
            if self._halted(seen) or not self.crowded():
                return

    def _out_of_time(self) -> Status:
        self.timed_out = True
        self.engine.halt("the time for the run is up", "runner")
        return INVALID

    def _restless(self) -> float:
        """The seconds to rest in a tree that always wants a tick at once: first none, then a bounded rate."""
        now = time.monotonic()
        self._spare, self._last = min(BURST, self._spare + (now - self._last) * MOST) - 1, now
        if self._spare > 0:
            return 0.0
        if not self.throttled:
            self.throttled = True
            who = path_of(node) if (node := self.engine.context.restless) is not None else ""
            text = f"asks for the next tick at once, again and again: it gets {MOST} a second, and no more"
            self.engine.context.emit(Notice(who, "warning", text))
        return 1 / MOST

    def _halted(self, seen: Halt | None) -> bool:
        """Returns True if the tree was halted since `seen` or is about to be. One that has ended keeps its status."""
        latest = self.engine.latest
        if latest is not seen and latest is not None and not self.stopped:
            self.stopped = latest.reason or "halted"
        return bool(self.stopped)

    def halt(self, reason: str) -> None:
        """Asks a spinning runner to halt the tree for good and return; from any thread, or a signal handler."""
        self.stopped = self.for_good = text_of(reason) or "stopped"
        self.woken.set()

    def _next(self, due: float, tick: Tick) -> float:
        if self.hz is None:
            return tick.due
        period, now = 1.0 / self.hz, self.engine.context.clock.now()
        due += period
        if now > due:
            self.overruns += 1
            late = math.floor((now - due) / period) + 1
            self.missed += late
            due += late * period
        return due


def rate(hz: float | None) -> float | None:
    if hz is not None and not (_number(hz) and 0 < hz < math.inf):
        raise BtError(f"a tree cannot be ticked {hz!r} times a second", "give a rate above 0, or none at all")
    return hz


def bound(name: str, value: float) -> float:
    if not _number(value) or not value >= 0:
        raise BtError(f"`{name}` cannot be {value!r}", "give a number of 0 or more, or none at all")
    if name == "ticks" and value != int(min(value, 2**53)):
        raise BtError(f"`{name}` cannot be {value!r}", "give a whole number, or none at all")
    return value


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)

"""When to tick: on absolute deadlines at a rate, or as fast as there is work. It sleeps when nothing is due."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NamedTuple, cast

from py_trees.common import Status

from bt_runtime.events import Halt, Notice, Tick, Woken
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.tree.clock import Alarm, of_the_machine
from bt_runtime.tree.engine import Engine
from bt_runtime.tree.node import INVALID, path_of

BURST = 10_000  # ticks at once that a tree may ask for
MOST = 1_000  # … and a second, after these


class Pause(NamedTuple):
    until: float  # by the run's clock; minus infinity: go on at once
    rest: float = 0.0  # … after so many seconds


class Runner:
    """Ticks an engine until its root has ended, it is halted, or the time is up."""

    def __init__(self, engine: Engine, hz: float | None = None) -> None:
        self.engine = engine
        self.hz = hz
        self.overruns = 0  # ticks that took longer than a period
        self.missed = 0  # deadlines that passed while a tick was late; they are skipped, not made up for
        self.timed_out = False
        self.throttled = False  # does the tree want more ticks than it gets
        self._spare, self._last = float(BURST), time.monotonic()
        self.stopped = ""  # the reason, once somebody has asked to stop, or has halted the tree
        self.for_good = ""  # … for which it is not to be started any more
        self.woken = Alarm()
        self.rest: Callable[[float], object] = time.sleep
        engine.context.stream.listen(lambda woken: self.woken.set(), Woken)

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

    async def aspin(self, seconds: float | None = None, ticks: int | None = None) -> Status:
        """The same in an event loop, which goes on meanwhile."""
        import asyncio

        turns = self.turns(seconds, ticks)
        while True:
            try:
                pause = next(turns)
            except StopIteration as end:
                return cast(Status, end.value)
            if pause.until > -math.inf:
                await self.asleep(pause.until)
            else:
                await asyncio.sleep(pause.rest)

    async def asleep(self, until: float) -> None:
        """Until then by the run's clock, or until something wakes it."""
        import asyncio

        clock, loop = self.engine.context.clock, asyncio.get_running_loop()
        if not of_the_machine(clock):
            try:
                await loop.run_in_executor(None, clock.wait, self.woken, until)
            finally:
                self.woken.set()  # if this was cancelled, so is what waits in the thread
            return
        rung = asyncio.Event()
        self.woken.bell = lambda: loop.call_soon_threadsafe(rung.set)
        try:
            if not self.woken.is_set():
                async with asyncio.timeout(None if math.isinf(until) else max(0.0, until - clock.now())):
                    await rung.wait()
        except TimeoutError:
            pass
        finally:
            self.woken.bell = None

    def turns(self, seconds: float | None, ticks: int | None) -> Generator[Pause, None, Status]:
        """Tick by tick; what it yields is what to wait for before it goes on."""
        if self.hz is not None and not 0 < self.hz < math.inf:
            raise BtError(f"a tree cannot be ticked {self.hz} times a second", "give a rate above 0, or none at all")
        clock, seen = self.engine.context.clock, self.engine.latest
        self.stopped, self.timed_out = self.for_good, False
        end = math.inf if seconds is None else clock.now() + seconds
        due, left = clock.now(), math.inf if ticks is None else ticks
        while not self._halted(seen):
            self.woken.clear()
            extra = clock.now() < due  # a time limit ran out between two deadlines of the rate
            before = self.engine.count
            tick = self.engine.tick_unless(seen)
            if tick is None:
                self._halted(seen)
                break
            left -= self.engine.count - before  # none while a debugger holds it
            if tick.status is INVALID:
                self._halted(seen)
            if not tick.running:
                return tick.status
            if self._halted(seen):
                break
            if clock.now() >= end or left <= 0:
                self.timed_out = True
                self.engine.halt("the time for the run is up", "runner")
                return INVALID
            due = due if extra and self.hz is not None else self._next(due, tick)
            until = min(due, end, tick.deadline)
            if until <= clock.now():
                yield Pause(-math.inf, self._restless() if tick.due == -math.inf and self.hz is None else 0.0)
            while not self._halted(seen) and clock.now() < until:
                yield Pause(until)
                if self.hz is None and self.woken.is_set():
                    break
                if self.hz is not None and not self._halted(seen):
                    self.woken.clear()  # at a fixed rate only the deadline counts
        self.engine.halt(self.stopped, "runner")
        return INVALID

    def _restless(self) -> float:
        """A tree that always wants the next tick at once gets many, and then so many a second: seconds to rest."""
        now = time.monotonic()
        self._spare = min(BURST, self._spare + (now - self._last) * MOST) - 1
        self._last = now
        if self._spare > 0:
            return 0.0
        if not self.throttled:
            self.throttled = True
            node = self.engine.context.restless
            who = path_of(node) if node is not None else ""
            text = f"asks for the next tick at once, again and again: it gets {MOST} a second, and no more"
            self.engine.context.emit(Notice(who, "warning", text))
        return 1 / MOST

    def _halted(self, seen: Halt | None) -> bool:
        """Was the tree halted since, or is it to be? What has ended by itself before that stays as it is."""
        latest = self.engine.latest
        if latest is not seen and latest is not None and not self.stopped:
            self.stopped = latest.reason or "halted"
        return bool(self.stopped)

    def stop(self, reason: str) -> None:
        """Asks a spinning runner to halt the tree and return; from any thread, or a signal handler."""
        self.stopped = self.for_good = reason or "stopped"
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


@contextmanager
def interruptible(runner: Runner, signals: tuple[int, ...] = (signal.SIGINT, signal.SIGTERM)) -> Iterator[None]:
    """Ctrl-C and SIGTERM ask the runner to stop; the same once more kills. Only the main thread can listen for them.

    A handler of SIGTERM that somebody else has put there is left alone.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours = [n for n in signals if n == signal.SIGINT or signal.getsignal(n) is signal.SIG_DFL]
    before: dict[int, Any] = {number: signal.getsignal(number) for number in ours}

    def first(number: int, frame: FrameType | None) -> None:
        kills = before[number]
        signal.signal(number, kills if callable(kills) or number != signal.SIGINT else signal.default_int_handler)
        runner.stop("interrupted" if number == signal.SIGINT else signal.Signals(number).name)

    for number in ours:
        signal.signal(number, first)
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)

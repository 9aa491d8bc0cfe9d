"""When to tick: on absolute deadlines at a rate, or as fast as there is work. It sleeps when nothing is due."""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from py_trees.common import Status

from bt_runtime.events import Tick, Woken
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.tree.clock import Alarm
from bt_runtime.tree.engine import Engine
from bt_runtime.tree.node import INVALID


class Runner:
    """Ticks an engine until its root has ended, it is halted, or the time is up."""

    def __init__(self, engine: Engine, hz: float | None = None) -> None:
        self.engine = engine
        self.hz = hz
        self.overruns = 0  # ticks that took longer than a period
        self.missed = 0  # deadlines that passed while a tick was late; they are skipped, not made up for
        self.timed_out = False
        self.stopped = ""  # the reason, once somebody has asked to stop
        self.woken = Alarm()
        engine.context.stream.listen(lambda woken: self.woken.set(), Woken)

    def spin(self, seconds: float | None = None, ticks: int | None = None) -> Status:
        """Runs to the end; INVALID when it was stopped or ran out of time, everything halted."""
        if self.hz is not None and not 0 < self.hz < math.inf:
            raise BtError(f"a tree cannot be ticked {self.hz} times a second", "give a rate above 0, or none at all")
        clock = self.engine.context.clock
        end = math.inf if seconds is None else clock.now() + seconds
        due, left = clock.now(), math.inf if ticks is None else ticks
        while not self.stopped:
            self.woken.clear()
            extra = clock.now() < due  # a time limit ran out between two deadlines of the rate
            tick = self.engine.tick()
            left -= 1
            if not tick.running:
                return tick.status
            if clock.now() >= end or left <= 0:
                self.timed_out = True
                self.engine.halt("the time for the run is up", "runner")
                return INVALID
            due = due if extra and self.hz is not None else self._next(due, tick)
            until = min(due, end, tick.deadline)
            while not self.stopped and clock.now() < until:
                clock.wait(self.woken, until)
                if self.hz is None and self.woken.is_set():
                    break
                if self.hz is not None and not self.stopped:
                    self.woken.clear()  # at a fixed rate only the deadline counts
        self.engine.halt(self.stopped, "runner")
        return INVALID

    def stop(self, reason: str) -> None:
        """Asks a spinning runner to halt the tree and return; from any thread, or a signal handler."""
        self.stopped = reason or "stopped"
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
def interruptible(runner: Runner) -> Iterator[None]:
    """Ctrl-C asks the runner to stop; a second one kills. Only the main thread can listen for it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before: Any = signal.getsignal(signal.SIGINT)

    def first(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before if callable(before) else signal.default_int_handler)
        runner.stop("interrupted")

    signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)

"""A halt stays a halt: whoever asks for it and at whatever moment, what spins ends, and nothing runs."""

from __future__ import annotations

import os
import random
import signal
import sys
import threading

import pytest

from bt_runtime import Run, Skill, Status, load, skill
from bt_runtime.clock import Manual
from bt_runtime.events import Tick
from bt_runtime.tree.node import NodeError

INVALID, RUNNING, SUCCESS = Status.INVALID, Status.RUNNING, Status.SUCCESS
ROUNDS = 1000
LINES = 1500  # of the runtime that are run in a few ticks
TREE = "version: 1\ntree: t\nroot:\n  parallel:\n    - drive: {}\n    - sequence: [wait: 1000]\n"


class Drive(Skill):
    started = cancelled = 0

    def start(self) -> None:
        type(self).started += 1

    def poll(self) -> Status:
        return RUNNING

    def cancel(self) -> None:
        type(self).cancelled += 1


@pytest.fixture
def run():
    Drive.started = Drive.cancelled = 0
    with Run(load(TREE, skills=[Drive]), clock=Manual()) as made:
        yield made


class Moment:
    """Does something in the spinning thread, as a signal's handler would, at its n-th line since the first tick."""

    def __init__(self, run: Run, number: int, act) -> None:
        self.run, self.left, self.act = run, number, act
        self.begun = self.run.parts.engine.count

    def trace(self, frame, event, arg):
        if "bt_runtime" not in frame.f_code.co_filename:
            return None
        if event == "line" and self.run.parts.engine.count > self.begun:
            self.left -= 1
            if self.left == 0:
                sys.settrace(None)
                self.act()
                return None
        return self.trace

    def spin(self, **options) -> Status:
        sys.settrace(self.trace)
        try:
            return self.run.spin(**options)
        finally:
            sys.settrace(None)


def test_a_halt_at_any_moment_ends_what_spins_and_leaves_nothing_running(run):
    rng = random.Random(17)
    for turn in range(ROUNDS):
        threads = []

        def from_elsewhere(threads=threads):
            before = run.parts.engine.latest
            threads.append(threading.Thread(target=run.halt, args=("a person said so",)))
            threads[0].start()
            while run.parts.engine.latest is before:
                os.sched_yield() if hasattr(os, "sched_yield") else None

        act = from_elsewhere if turn % 2 else lambda: run.halt("a person said so")
        moment = Moment(run, rng.randint(1, LINES), act)
        assert moment.spin(hz=rng.choice([None, 50.0])) is INVALID
        for thread in threads:
            thread.join(30)
        assert moment.left == 0
        assert (run.status, run.parts.engine.root.status) == (INVALID, INVALID)
        assert [node for node in run.nodes() if node.status is RUNNING] == []
        assert Drive.started == Drive.cancelled == turn + 1
        assert run.stopped == "a person said so"
        run.parts.runner.hz = None


@pytest.mark.parametrize("hz", [None, 20.0])
def test_a_halt_from_another_thread_ends_a_spin_that_sleeps(hz):
    with Run(load("version: 1\ntree: t\nroot: {wait: 1000}\n")) as run:
        began = threading.Event()
        run.listen(lambda tick: began.set(), Tick)
        thread = threading.Thread(target=lambda: (began.wait(30), run.halt("enough")))
        thread.start()
        assert run.spin(hz=hz) is INVALID
        thread.join(30)
        assert (run.status, run.stopped, run.parts.engine.count >= 1) == (INVALID, "enough", True)


def test_a_spin_after_a_halt_starts_anew_and_one_after_a_stop_does_not(run):
    run.tick()
    run.halt("wait a moment")
    assert run.spin(ticks=2) is INVALID
    assert (Drive.started, run.stopped) == (2, "")
    run.halt("for today", for_good=True)
    assert run.spin() is INVALID
    assert run.tick().status is INVALID
    assert (Drive.started, run.stopped) == (2, "for today")


def test_a_stop_ends_a_loop_of_ones_own(run):
    loops = 0
    while run.tick().running:
        loops += 1
        if loops == 3:
            run.halt("enough", for_good=True)
    assert (loops, Drive.started, Drive.cancelled, run.status) == (3, 1, 1, INVALID)


def test_the_status_after_a_halt_and_after_close_is_not_running(run):
    assert run.tick().running and run.status is RUNNING
    run.halt("enough")
    assert run.status is INVALID
    run.tick()
    run.close()
    assert run.status is INVALID


def test_the_status_of_what_ended_by_itself_stays():
    with Run(load("version: 1\ntree: t\nroot: {succeed: {}}\n")) as run:
        assert run.spin() is SUCCESS
        run.halt("late")
    assert run.status is SUCCESS


def test_every_listener_hears_the_ticks_and_halts_in_their_order(run):
    """A halt that comes while a tick is being told is told after it."""
    heard = []
    run.listen(lambda tick: run.halt("a listener said so") if tick.running else None, Tick)
    run.listen(lambda tick: heard.append((tick.number, tick.status)), Tick)
    run.tick()
    assert heard == [(1, RUNNING), (1, INVALID)]


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError])
def test_whatever_leaves_the_first_poll_it_is_cancelled(error, strict):
    calls = []

    @skill
    class Motor(Skill):
        def start(self) -> None:
            calls.append("on")

        def poll(self) -> Status:
            raise error

        def cancel(self) -> None:
            calls.append("off")

    text = "version: 1\ntree: t\nroot: {sequence: [motor: {}]}\n"
    with Run(load(text, skills=[Motor]), strict=strict) as run:
        if error is not KeyboardInterrupt and not strict:
            assert run.tick().status is Status.FAILURE
        else:
            with pytest.raises(error if error is KeyboardInterrupt else NodeError):
                run.tick()
    assert calls == ["on", "off"]


def test_a_handler_of_sigterm_that_is_there_already_is_left_alone(run):
    def mine(number, frame):
        run.halt("SIGTERM of mine")

    before = signal.signal(signal.SIGTERM, mine)
    try:
        run.listen(lambda tick: os.kill(os.getpid(), signal.SIGTERM), Tick)
        assert run.spin() is INVALID
        assert signal.getsignal(signal.SIGTERM) is mine
    finally:
        signal.signal(signal.SIGTERM, before)
    assert run.stopped == "SIGTERM of mine"

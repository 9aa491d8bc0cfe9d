"""A run's time never goes back, whatever its clock does; long waits cost nothing."""

from __future__ import annotations

import random
import threading
import time
from types import SimpleNamespace

import pytest

import bt_runtime as bt
from bt_runtime import Run, Status, load
from bt_runtime.clock import Manual, Simulated
from bt_runtime.events import Notice, Tick
from bt_runtime.tree import runner
from bt_runtime.tree.clock import Alarm, behind

SUCCESS, FAILURE, RUNNING, INVALID = Status.SUCCESS, Status.FAILURE, Status.RUNNING, Status.INVALID


def tree(root: str, *skills, header: str = ""):
    return load(f"version: 1\ntree: t\n{header}\nroot:\n  {root}\n", skills=skills)


class Bare:
    """A clock that can say the time, and nothing else."""

    def __init__(self, now: float = 100.0) -> None:
        self.time = now

    def now(self) -> float:
        return self.time


TIMERS = {
    "wait: 5": SUCCESS,
    "wait: {until: go, seconds: 5}": FAILURE,
    "timeout: {seconds: 5, child: {wait: {until: go}}}": FAILURE,
    "delay: {seconds: 5, child: {succeed: {}}}": SUCCESS,
}


@pytest.mark.parametrize("root", TIMERS)
@pytest.mark.parametrize("jump", [-50.0, -1e6, -0.001])
def test_what_was_left_of_a_wait_is_left_of_it_after_a_jump_back(root, jump):
    clock = Bare()
    with Run(tree(root, header="blackboard: {go: {type: boolean, default: false}}"), clock=clock) as run:
        assert run.tick().running
        clock.time += 2
        assert run.tick().running
        clock.time += jump
        assert run.tick().running
        clock.time += 2.9
        assert run.tick().running
        clock.time += 0.2
        assert run.tick().status is TIMERS[root]


def test_a_clock_that_stands_still_lets_no_time_pass():
    clock = Bare()
    with Run(tree("wait: 5"), clock=clock) as run:
        assert all(run.tick().running for _ in range(100))
        clock.time += 5
        assert run.tick().status is SUCCESS


class Polling(Bare):
    """A simulator's clock with a `wait` that knows nothing of jumps."""

    def wait(self, woken, until: float) -> None:
        while self.time < until and not woken.is_set():
            moved.wait(0.001)


moved = threading.Event()  # never set: a moment's rest


@pytest.mark.parametrize("make", [Bare, Polling, lambda now: Simulated(now)])
@pytest.mark.parametrize("factor", [1, 10])
def test_a_simulator_that_is_reset_or_is_fast_keeps_the_rate(make, factor):
    """It is moved when the runner knows what it waits for, so that no machine is too slow for it."""
    clock, ticked = make(100.0), threading.Semaphore(0)
    stamps: list[float] = []
    now = 100.0

    def move(to: float) -> None:
        nonlocal now
        now = to
        if isinstance(clock, Simulated):
            clock.set(to)
        else:
            clock.time = to

    run = Run(tree("wait: 1000"), clock=clock)
    run.listen(lambda tick: stamps.append(clock.now()), Tick)
    following = run.parts.runner._next

    def known(due, tick):
        """Moved before this, the clock would have missed a deadline, and another tick come later."""
        found = following(due, tick)
        ticked.release()
        return found

    run.parts.runner._next = known
    thread = threading.Thread(target=lambda: run.spin(hz=10))
    thread.start()
    try:
        assert ticked.acquire(timeout=60)
        for number in range(40):
            if number == 20:
                behind = run.parts.context.clock.ahead
                move(now - 50)
                while run.parts.context.clock.ahead == behind:  # until the jump is seen
                    moved.wait(0.001)
                assert not ticked.acquire(timeout=0.05)  # … and is no time
            move(now + 0.1 * factor + 1e-6)
            assert ticked.acquire(timeout=60), number
    finally:
        run.halt("the test is over", for_good=True)
        thread.join(60)
        run.close()
    assert len(stamps) >= 41


def test_clocks_are_public():
    assert bt.clock.Simulated is Simulated
    assert bt.clock.Manual is Manual


# Long waits ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "root",
    [
        "repeat: {times: -1, child: {rate: {hz: 0.1, child: {succeed: {}}}}}",
        "retry: {times: -1, child: {rate: {hz: 0.1, child: {fail: x}}}}",
        "until_failure: {force: {status: success, child: {rate: {hz: 0.1, child: {succeed: {}}}}}}",
        "repeat: {times: -1, child: {sequence: [rate: {hz: 0.1, child: {succeed: {}}}]}}",
        "retry: {times: -1, child: {delay: {seconds: 10, child: {fail: x}}}}",
        "repeat: {times: -1, child: {delay: {seconds: 10, child: {succeed: {}}}}}",
    ],
)
def test_rounds_that_wait_for_their_time_tick_no_more_than_there_is_to_do(root):
    with Run(tree(root), clock=Manual()) as run:
        assert run.spin(seconds=100) is INVALID
        assert run.parts.engine.count <= 25


def test_a_tree_that_never_rests_gets_a_bounded_rate_and_its_node_is_named(monkeypatch):
    """The machine's time stands, so that the ticks are never too slow for the bound."""
    rests, lines = [], []
    monkeypatch.setattr(runner, "time", SimpleNamespace(monotonic=lambda: 0.0, sleep=time.sleep))
    with Run(tree("sequence: [{repeat: {times: -1, child: {succeed: {}}, name: busy}}]"), clock=Manual()) as run:
        run.listen(lines.append, Notice)
        run.parts.runner.rest = rests.append
        run.spin(ticks=12_000)
    assert len(rests) > 100
    assert [line.path for line in lines] == ["/t/busy"]


@pytest.mark.parametrize("seed", range(5))
def test_what_is_waited_for_by_a_clock_that_is_behind_has_come_when_the_wait_is_over(seed):
    """However the two times round: a run that goes on by a clock of its own would wait for the same moment for ever."""
    draw = random.Random(seed)
    for _ in range(20_000):
        clock, ahead = Manual(draw.uniform(0, 10)), draw.choice((1, -1)) * draw.random() * 10 ** draw.randint(-9, 9)
        until = clock.now() + ahead + draw.choice((0.01, 0.05, 1.0, draw.random()))
        clock.wait(Alarm(), behind(until, ahead))
        assert clock.now() + ahead >= until
        assert clock.now() + ahead - until < 1e-3

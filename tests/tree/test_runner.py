"""The runner: when it ticks, when it sleeps, what wakes it, how it is stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading

import pytest

from bt_runtime import BtError, Run, Skill, load, skill
from bt_runtime.clock import Manual, Simulated
from bt_runtime.events import Notice, Tick
from bt_runtime.testing import FAILURE, INVALID, RUNNING, SUCCESS, after
from bt_runtime.tree.clock import Alarm
from bt_runtime.tree.runner import GIVE_WAY

HEAD = "version: 1\ntree: t\nroot:\n"
X = "blackboard: {x: {type: any, default: 0}}"


def at_rate(make, durations, hz=10.0):
    """Spins a tree whose n-th tick takes so long; the times at which the ticks began."""
    times = []

    def slow():
        times.append(round(t.clock.now(), 6))
        t.clock.advance(durations[len(times) - 1])
        return RUNNING if len(times) < len(durations) else SUCCESS

    t = make("reactive_sequence: [a: {}, b: {}]", a=lambda: slow() and SUCCESS, b=after(len(durations) - 1))
    assert t.run.spin(hz=hz) is SUCCESS
    return t, times


def test_ticks_keep_to_absolute_deadlines_whatever_they_take_within_a_period(make):
    t, times = at_rate(make, [0.03, 0.09, 0.0, 0.05, 0.01])
    assert times == [0.0, 0.1, 0.2, 0.3, 0.4]
    assert (t.run.parts.runner.overruns, t.run.parts.runner.missed) == (0, 0)


def test_a_late_tick_is_counted_and_the_deadlines_it_missed_are_skipped(make):
    t, times = at_rate(make, [0.35, 0.0, 0.12, 0.0])
    assert times == [0.0, 0.4, 0.5, 0.7]
    assert (t.run.parts.runner.overruns, t.run.parts.runner.missed) == (2, 4)


def test_a_tick_at_a_rate_gives_way_while_skills_wait_for_a_thread_but_is_made_and_it_is_told_once(make):
    t = make("a: {}", a=after(2))
    rests, notices = [], []
    t.run.listen(notices.append, Notice)
    t.run.parts.runner.rest = rests.append
    t.run.parts.runner.crowded = lambda: True
    assert t.run.spin(hz=10.0) is SUCCESS
    assert (
        rests == list(GIVE_WAY) * t.run.parts.runner.gave_way
        and t.run.parts.runner.gave_way == t.run.parts.engine.count
    )
    assert [notice.text.partition(":")[0] for notice in notices] == [
        "ticks give way to skills, which wait for a thread"
    ]


def test_a_tick_rests_no_longer_than_until_the_skills_have_begun_and_without_a_rate_not_at_all(make):
    t = make("a: {}", a=after(1))
    rests, crowd = [], [True, True, False, False]
    t.run.parts.runner.rest = rests.append
    t.run.parts.runner.crowded = lambda: crowd.pop(0)
    assert t.run.spin(hz=10.0) is SUCCESS
    assert rests == list(GIVE_WAY[:2]) and crowd == []
    t = make("a: {}", a=after(1))
    t.run.parts.runner.crowded = lambda: pytest.fail("asked without a rate")
    assert t.run.spin() is SUCCESS


class Ends(Skill):
    """A job that has ended a moment after it began."""

    wakes = True

    def start(self) -> None:
        self.begun = Ends.clock.now()

    def poll(self):
        return SUCCESS if Ends.clock.now() > self.begun else RUNNING


class Passing(Manual):
    """While somebody waits, a moment passes and a job ends."""

    def wait(self, woken, until):
        self._now = min(until, self._now + 0.03)
        self.job()


def test_a_job_that_ends_gets_a_tick_between_two_deadlines_of_a_rate():
    """One in a period, and the deadlines stay where they were."""
    clock, times = Passing(), []
    Ends.clock = clock
    tree = load(HEAD + "  repeat: {times: 3, child: {ends: {}}}\n", skills=[Ends])
    with Run(tree, clock=clock) as run:
        clock.job = run.parts.context.wake
        run.listen(lambda tick: times.append(round(clock.now(), 6)), Tick)
        assert run.spin(hz=10) is SUCCESS
    assert times[:5] == [0.0, 0.03, 0.1, 0.13, 0.2]


def test_a_written_entry_waits_for_the_deadline_of_a_rate():
    clock, times = Passing(), []
    tree = load(HEAD.replace("root", X + "\nroot") + "  wait: {until: x > 4}\n")
    with Run(tree, clock=clock) as run:
        clock.job = lambda: run.blackboard.update("x", lambda x: x + 1)
        run.listen(lambda tick: times.append(round(clock.now(), 6)), Tick)
        assert run.spin(hz=10) is SUCCESS
    assert times == [0.0, 0.1, 0.2]


@pytest.mark.parametrize("hz", [-1.0, float("inf"), float("nan")])
def test_an_impossible_rate_is_an_error(make, hz):
    with pytest.raises(BtError, match="times a second"):
        make("wait: 1").run.spin(hz=hz)


def test_without_a_rate_it_sleeps_until_the_tree_wants_a_tick(make):
    t = make("sequence: [wait: 100, {timeout: {seconds: 50, child: {wait: 70}}}]")
    assert t.run.spin() is FAILURE
    assert (t.clock.now(), t.run.parts.engine.count) == (150, 3)


def test_it_ticks_again_at_once_when_the_tree_has_work(make):
    t = make("repeat: {times: 500, child: {succeed: {}}}")
    assert t.run.spin() is SUCCESS
    assert (t.clock.now(), t.run.parts.engine.count) == (0, 500)


def test_a_write_inside_a_tick_is_seen_by_who_was_ticked_before_it(make):
    t = make("parallel: [wait: {until: x == 1}, {sequence: [wait: 5, set: {x: 1}]}]", header=X)
    assert t.run.spin(seconds=60) is SUCCESS
    assert (t.clock.now(), t.run.parts.engine.count) == (5, 3)


def test_a_write_that_changes_nothing_keeps_nobody_awake(make):
    t = make("reactive_sequence: [set: {x: 0}, wait: 10]", header=X)
    assert t.run.spin() is SUCCESS
    assert t.run.parts.engine.count == 2


def test_a_write_from_another_thread_wakes_it():
    run = Run(load(HEAD.replace("root", X + "\nroot") + "  wait: {until: x == 1}\n"))
    began = threading.Event()
    run.listen(lambda tick: began.set(), Tick)
    thread = threading.Thread(target=lambda: (began.wait(60), run.blackboard.__setitem__("x", 1)))
    thread.start()
    assert run.spin(seconds=120) is SUCCESS
    assert run.parts.engine.count <= 3
    thread.join()
    run.close()


def test_a_finished_job_wakes_it():
    go = threading.Event()

    @skill
    def job() -> bool:
        return go.wait(60)

    run = Run(load(HEAD + "  job: {}\n", skills=[job]))
    run.listen(lambda tick: go.set(), Tick)  # it finishes only once the first tick is over
    assert run.spin(seconds=120) is SUCCESS
    assert run.parts.engine.count == 2
    run.close()


def test_skills_that_cannot_say_when_they_are_done_are_looked_at_again_and_again():
    class Steps(Skill):
        left = 3

        def start(self) -> None: ...

        def poll(self):
            self.left -= 1
            return RUNNING if self.left else SUCCESS

        def cancel(self) -> None: ...

    @skill
    def generator():
        yield
        yield

    run = Run(load(HEAD + "  sequence: [steps: {}, generator: {}]\n", skills=[Steps, generator]), clock=Manual())
    assert run.spin(seconds=60) is SUCCESS
    assert run.parts.engine.count == 5
    run.close()


def test_a_budget_of_seconds_ends_the_run_and_halts_everything(make):
    t = make("parallel: [a: {}, wait: 1000]", a=RUNNING)
    assert t.run.spin(seconds=60) is INVALID
    assert t.run.parts.runner.timed_out
    assert t.clock.now() == pytest.approx(60)
    assert t.skills["a"].cancels == 1
    assert {why for _, why in t.ticks[-1].halts} == {("runner", "the time for the run is up")}


def test_a_budget_of_ticks_ends_the_run(make):
    t = make("retry: {times: -1, child: {fail: x}}")
    assert t.run.spin(ticks=7) is INVALID
    assert (t.run.parts.engine.count, t.run.parts.runner.timed_out) == (7, True)


@pytest.mark.parametrize("hz", [None, 20.0])
def test_another_thread_may_stop_it(hz):
    run = Run(load(HEAD + "  wait: 1000\n"))
    began = threading.Event()
    run.listen(lambda tick: began.set(), Tick)
    thread = threading.Thread(target=lambda: (began.wait(60), run.parts.runner.halt("enough")))
    thread.start()
    assert run.spin(hz=hz) is INVALID
    assert run.parts.engine.root.status is INVALID
    thread.join()
    run.close()


def test_a_halt_from_another_thread_ends_a_wait_for_a_job():
    """A halted tree is started anew at the next tick; one that is stopped is not."""
    run = Run(load(HEAD + "  wait: 1000\n"), clock=Simulated())
    began = threading.Event()
    run.listen(lambda tick: began.set(), Tick)
    thread = threading.Thread(target=lambda: (began.wait(60), run.parts.runner.halt("enough")))
    thread.start()
    assert run.spin() is INVALID
    thread.join()
    run.close()


def test_a_simulated_clock_moves_the_run():
    clock = Simulated()
    run = Run(load(HEAD + "  wait: 10\n"), clock=clock)
    began = threading.Event()
    run.listen(lambda tick: began.set(), Tick)
    thread = threading.Thread(target=lambda: (began.wait(60), clock.set(5), clock.set(10)))
    thread.start()
    assert run.spin() is SUCCESS
    thread.join()
    run.close()


def test_an_alarm_may_be_set_by_a_signal_handler_at_any_moment():
    """With an Event, this stands still sooner or later: its lock may be held by the very code that was interrupted."""
    alarm, rings = Alarm(), 0

    def ring(*_):
        nonlocal rings
        rings += 1
        alarm.set()

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.0002, 0.0002)
    try:
        while rings < 500:
            alarm.clear()
            alarm.wait(60)
            assert alarm.is_set()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_an_alarm_that_nobody_waits_for_does_not_grow():
    alarm = Alarm()
    for _ in range(1000):
        alarm.set()
    assert alarm._bell.qsize() == 1
    alarm.clear()
    assert not alarm.is_set()


# Ctrl-C, in a process of its own ----------------------------------------------------------------------

PROGRAM = """
    import sys, time
    from bt_runtime import Run, Skill, Status, load

    class Drive(Skill):
        def start(self):
            print("started", flush=True)
            if "blocking" in sys.argv:
                time.sleep(60)
        def poll(self):
            return Status.RUNNING
        def cancel(self):
            print("cancelled", flush=True)

    with Run(load("version: 1\\ntree: t\\nroot:\\n  sequence: [drive: {}]\\n", skills=[Drive])) as run:
        print(run.spin().value, run.parts.runner.stopped, flush=True)
"""


@pytest.fixture
def program():
    started = []

    def start(*args):
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(PROGRAM), *args],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
        started.append(process)
        assert process.stdout.readline() == "started\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_ctrl_c_once_halts_the_tree_and_returns(program):
    process = program()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=900)
    assert out == "cancelled\nINVALID interrupted\n"
    assert (process.returncode, err) == (0, "")


def test_ctrl_c_twice_kills_though_a_skill_blocks_the_tick(program):
    process = program("blocking")
    process.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.3)  # the tick goes on: the first one only asks
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=900)
    assert process.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in err
    assert "cancelled" in out


def test_a_second_spin_of_a_run_is_refused_because_the_two_would_take_each_others_wake_ups():
    begun, go_on, ended = threading.Event(), threading.Event(), []

    @skill
    def work() -> None:
        begun.set()
        go_on.wait(60)

    with Run(load(HEAD + "  work: {}\n", skills=[work])) as run:
        thread = threading.Thread(target=lambda: ended.append(run.spin()))
        thread.start()
        assert begun.wait(60)
        try:
            with pytest.raises(BtError, match="the run spins already"):
                run.spin(seconds=0)
        finally:
            go_on.set()
            thread.join(60)
        assert ended == [SUCCESS]
        assert run.spin() is SUCCESS  # a run may spin again

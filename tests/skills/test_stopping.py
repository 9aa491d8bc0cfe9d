"""What was told to stop may take its time: it is waited for, for a while, and so is what it uses."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import threading
from contextlib import asynccontextmanager

import pytest

from bt_runtime import Run, Skill, Status, load, skill
from bt_runtime.clock import Manual
from bt_runtime.events import Notice, Tick
from bt_runtime.journal import replay

SUCCESS, FAILURE, RUNNING, INVALID = Status.SUCCESS, Status.FAILURE, Status.RUNNING, Status.INVALID
HEAD = "version: 1\ntree: t\n"


def tree(root: str, *skills, header: str = ""):
    return load(f"{HEAD}{header}\nroot:\n  {root}\n", skills=skills)


@pytest.fixture
def motors():
    """An async skill that stops its motors in some steps, and what came of it."""
    ended, began = [], threading.Event()

    @skill
    async def drive() -> bool:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            for _ in range(20):
                await asyncio.sleep(0)
            ended.append("stopped")
        return True

    drive.ended, drive.began = ended, began  # type: ignore[attr-defined]
    return drive


def ends_by_itself(form: str):
    """An async skill that is in its own clean-up; what it did, that it is there, and what lets it go on in its loop."""
    ended, inside, released, loops = [], threading.Event(), threading.Event(), []

    async def stop():
        loops.append(asyncio.get_running_loop())
        inside.set()
        while not released.is_set():
            await asyncio.sleep(0)
        ended.append("stopped")

    async def inner():
        try:
            pass
        finally:
            await stop()

    @asynccontextmanager
    async def motors():
        try:
            yield
        finally:
            await stop()

    @skill
    async def plain() -> bool:
        try:
            return True
        finally:
            await stop()

    @skill
    async def broken() -> bool:
        try:
            raise ValueError
        finally:
            await stop()

    @skill
    async def nested() -> bool:
        await inner()
        return True

    @skill
    async def managed() -> bool:
        async with motors():
            return True

    @skill
    async def behind() -> bool:
        await inner()
        await asyncio.Event().wait()
        ended.append("went on")
        return True

    made = {"plain": plain, "broken": broken, "nested": nested, "managed": managed, "behind": behind}
    return made[form], ended, inside, lambda: loops[0].call_soon_threadsafe(released.set)


@pytest.mark.parametrize("form", ["plain", "broken", "nested", "managed", "behind"])
def test_a_halt_in_a_skills_own_finally_lets_that_end_and_nothing_after_it(form):
    drive, ended, inside, release = ends_by_itself(form)
    with Run(tree(f"{form}: {{}}", drive)) as run:
        run.tick()
        assert inside.wait(60)
        run.halt("enough")
        release()  # after the loop has heard of the cancel
    assert ended == ["stopped"]
    assert not run.parts.context.resources.left()


@pytest.mark.parametrize("end", ["close", "halt", "timeout", "exception", "spin"])
def test_the_clean_up_of_an_async_skill_runs_to_its_end_100_times_of_100(motors, end):
    for turn in range(100):
        motors.began.clear()
        clock = Manual()
        text = "{timeout: {seconds: 5, child: {drive: {}}}}" if end in ("timeout", "spin") else "drive: {}"
        run = Run(tree(f"sequence: [{text}]", motors), clock=clock)
        if end == "spin":
            run.listen(lambda tick: motors.began.wait(30), Tick)
            assert run.spin() is FAILURE
            assert len(motors.ended) == turn + 1  # before anybody has closed it
            run.close()
            continue
        run.tick()
        assert motors.began.wait(30)
        if end == "close":
            run.close()
        elif end == "halt":
            run.halt("enough")
            run.close()
        elif end == "timeout":
            clock.advance(5)
            assert run.tick().status is FAILURE
            run.close()
        else:
            with pytest.raises(ZeroDivisionError), run:
                _ = 1 / 0
        assert len(motors.ended) == turn + 1
    assert not [t for t in threading.enumerate() if t.name == "bt-async"]


PROGRAM = """
    import asyncio, sys
    from bt_runtime import Run, load, skill

    @skill
    async def drive() -> bool:
        print("started", flush=True)
        try:
            await asyncio.sleep(60)
        finally:
            for _ in range(50):
                await asyncio.sleep(0)
            print("stopped", flush=True)

    run = Run(load("version: 1\\ntree: t\\nroot:\\n  sequence: [drive: {}]\\n", skills=[drive]))
    print(run.spin().value, run.stopped, flush=True)
"""


@pytest.mark.parametrize(("number", "word"), [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "SIGTERM")])
def test_a_signal_lets_an_async_skill_stop_though_nobody_closes_the_run(number, word):
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PROGRAM)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    assert process.stdout is not None and process.stdout.readline() == "started\n"
    process.send_signal(number)
    out, err = process.communicate(timeout=900)
    assert (out, err, process.returncode) == (f"stopped\nINVALID {word}\n", "", 0)


def test_what_does_not_stop_is_waited_for_no_longer_than_asked_and_is_named():
    began, go, lines = threading.Event(), threading.Event(), []

    @skill("hold the arm up")
    async def hold() -> bool:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            while not go.is_set():
                await asyncio.sleep(0.001)

    run = Run(tree("hold: {}", hold))
    run.listen(lines.append, Notice)
    run.tick()
    assert began.wait(30)
    run.close(timeout=0.01)
    assert [line.text for line in lines] == ["this has not stopped within 0.01 s: hold the arm up"]
    go.set()


class Server:
    """Takes one goal at a time, and some polls to let go of one."""

    def __init__(self) -> None:
        self.goal = ""
        self.letting_go = 0
        self.said: list[str] = []

    def send(self, goal: str) -> None:
        self.said.append(f"{'rejects' if self.goal else 'accepts'} {goal}")
        self.goal = self.goal or goal

    def cancel(self) -> None:
        self.letting_go = 3
        self.said.append(f"stops {self.goal}")

    def still(self) -> bool:
        self.letting_go -= 1
        if self.letting_go <= 0 and self.goal:
            self.said.append(f"stopped {self.goal}")
            self.goal = ""
        return bool(self.goal)


def drive_with(server: Server, is_async: bool = False, uses=("base",)):
    @skill("drive to {place}", uses=uses, on_resume="repeat")
    class Drive(Skill):
        def start(self, place: str) -> None:
            server.send(place)

        def poll(self) -> Status:
            return RUNNING

        if is_async:

            async def cancel(self) -> None:
                server.cancel()
                while server.still():
                    await asyncio.sleep(0)
        else:

            def cancel(self) -> None:
                server.cancel()

            def stopping(self) -> bool:
                return server.still()

    return Drive


PREEMPT = """reactive_fallback:
    - sequence:
        when: obstacle
        children: [{drive: dock}]
    - drive: door
"""


@pytest.mark.parametrize("is_async", [False, True])
def test_the_next_use_of_a_thing_waits_until_the_one_before_has_stopped(is_async):
    server = Server()
    header = "blackboard: {obstacle: {type: boolean, default: false}}"
    with Run(tree(PREEMPT, drive_with(server, is_async), header=header), clock=Manual()) as run:
        run.tick()
        run.blackboard["obstacle"] = True
        for _ in range(2000):
            run.tick()
            if "accepts dock" in server.said:
                break
            assert "waits until this is over: drive to door" in [n.feedback_message for n in run.nodes()]
            if is_async:
                threading.Event().wait(0.001)  # its own loop is to come to its turn
    assert server.said[:4] == ["accepts door", "stops door", "stopped door", "accepts dock"]
    assert not [said for said in server.said if said.startswith("rejects")]


def test_two_at_once_that_use_the_same_take_turns():
    order = []

    @skill(uses=["base"])
    def move(to: str):
        order.append(f"begin {to}")
        yield
        yield
        order.append(f"end {to}")

    with Run(tree("parallel: [move: a, move: b]", move), clock=Manual()) as run:
        assert run.spin(ticks=20) is SUCCESS
    assert order == ["begin a", "end a", "begin b", "end b"]


def test_a_node_that_starts_again_waits_until_its_last_start_has_stopped():
    server = Server()
    root = "retry: {times: 2, child: {timeout: {seconds: 1, child: {drive: door}}}}"
    clock = Manual()
    with Run(tree(root, drive_with(server, uses=())), clock=clock) as run:
        run.tick()
        clock.advance(1)
        for _ in range(6):
            run.tick()
    assert server.said[:4] == ["accepts door", "stops door", "stopped door", "accepts door"]


def test_what_a_function_in_a_thread_uses_is_free_when_it_has_returned():
    go, starts = threading.Event(), []
    began = threading.Event()

    @skill(uses=["camera"])
    def look(side: str):
        starts.append(side)
        began.set()
        go.wait(30)
        return False

    clock = Manual()
    root = "fallback: [{timeout: {seconds: 1, child: {look: left}}}, look: right]"
    with Run(tree(root, look), clock=clock) as run:
        run.tick()
        assert began.wait(30)
        clock.advance(1)
        assert run.tick().running and run.tick().running
        assert starts == ["left"]
        go.set()
        assert run.spin() is FAILURE
    assert starts == ["left", "right"]


def test_a_recorded_run_that_waited_until_something_had_stopped_comes_again(tmp_path):
    from bt_runtime.journal import replay

    server = Server()
    header = "blackboard: {obstacle: {type: boolean, default: false}}"
    text = tree(PREEMPT, drive_with(server), header=header)
    with Run(text, clock=Manual(), journal=tmp_path) as run:
        run.tick()
        run.blackboard["obstacle"] = True
        for _ in range(8):
            run.tick()
        run.halt("enough")
        path = run.parts.journal.path
    assert "accepts dock" in server.said
    found = replay(path)
    assert found.same, found


def test_a_stopping_that_raises_is_named_and_the_end_still_waits_for_the_others() -> None:
    left = [3]

    class Moving(Skill):
        def poll(self) -> Status:
            return RUNNING

    @skill
    class Broken(Moving):
        def stopping(self) -> bool:
            raise OSError("the bus is off")

    @skill
    class Slow(Moving):
        def stopping(self) -> bool:
            left[0] -= 1
            return left[0] > 0

    notices: list[str] = []
    run = Run(tree("parallel: [broken: {}, slow: {}]", Broken, Slow))
    run.listen(lambda notice: notices.append(notice.text), Notice)
    run.tick()
    run.close(timeout=0.05)
    assert left[0] <= 0
    assert notices == ["this has not stopped within 0.05 s: broken"]


def test_a_skill_waits_for_another_whose_stopping_raises_and_the_run_is_replayed(tmp_path):
    asked = []

    class Moving(Skill):
        def poll(self) -> Status:
            return RUNNING

    @skill(uses=["arm"], on_resume="repeat")
    class Broken(Moving):
        def stopping(self) -> bool:
            asked.append(1)
            if len(asked) < 3:
                raise OSError("the bus is off")
            return False

    @skill(uses=["arm"], on_resume="repeat")
    class Next(Moving):
        pass

    root = "reactive_fallback: [sequence: [check: go, next: {}], broken: {}]"
    whole = tree(root, Broken, Next, header="blackboard: {go: {type: boolean, default: false}}")
    with Run(whole, clock=Manual(), journal=tmp_path) as run:
        run.tick()
        run.blackboard["go"] = True
        said = []
        for _ in range(5):
            assert (tick := run.tick()).status is RUNNING and not tick.crashes
            said.append([*run.nodes()][3].feedback_message)
        path = run.parts.journal.path
    assert said == [
        "waits until this is over: broken",
        "waits for a skill whose `stopping` raises: OSError: the bus is off",
        "waits for a skill whose `stopping` raises: OSError: the bus is off",
        "next",
        "next",
    ]
    assert (found := replay(path)).same, found.difference

"""In an event loop of the caller's: the tree is ticked there, async skills run there, and it goes on meanwhile."""

from __future__ import annotations

import asyncio
import os
import signal
import threading

import pytest

from bt_runtime import Run, Status, load, skill
from bt_runtime.clock import Manual, Simulated

SUCCESS, FAILURE, RUNNING, INVALID = Status.SUCCESS, Status.FAILURE, Status.RUNNING, Status.INVALID
HANG = 60


def tree(root: str, *skills, header: str = ""):
    return load(f"version: 1\ntree: t\n{header}\nroot:\n  {root}\n", skills=skills)


def go(work):
    return asyncio.run(asyncio.wait_for(work, HANG))


def test_an_async_skill_runs_on_the_callers_loop_and_may_share_its_events():
    async def main():
        opened, seen = asyncio.Event(), []

        @skill
        async def enter():
            seen.append((asyncio.get_running_loop(), threading.current_thread()))
            await opened.wait()

        async with Run(tree("enter: {}", enter)) as run:
            spinning = asyncio.create_task(run.aspin())
            while not seen:
                await asyncio.sleep(0)
            opened.set()
            assert await spinning is SUCCESS
        assert seen == [(asyncio.get_running_loop(), threading.current_thread())]

    go(main())


@pytest.mark.parametrize("clock", [None, Manual, Simulated])
def test_a_spin_in_a_loop_waits_by_the_runs_clock_and_lets_others_go_on(clock):
    async def main():
        turns = 0
        made = clock() if clock else None

        async def other():
            nonlocal turns
            while True:
                turns += 1
                if isinstance(made, Simulated):
                    made.set(made.now() + 0.1)
                await asyncio.sleep(0)

        beside = asyncio.create_task(other())
        async with Run(tree("repeat: {times: 3, child: {wait: 0.01}}"), clock=made) as run:
            assert await run.aspin() is SUCCESS
        beside.cancel()
        assert turns > 3

    go(main())


def test_a_write_a_halt_and_a_stop_end_its_sleep():
    header = "blackboard: {go: {type: boolean, default: false}}"

    async def main(act, status):
        async with Run(tree("wait: {until: go}", header=header)) as run:
            spinning = asyncio.create_task(run.aspin())
            while run.status is not RUNNING:
                await asyncio.sleep(0)
            thread = threading.Thread(target=act, args=(run,))
            thread.start()
            assert await spinning is status
            thread.join()

    go(main(lambda run: run.blackboard.update(go=True), SUCCESS))
    go(main(lambda run: run.halt("enough"), INVALID))
    go(main(lambda run: run.halt("enough", for_good=True), INVALID))


def test_a_loop_of_ones_own_is_woken_when_there_is_something_to_do():
    async def main():
        begin = asyncio.Event()

        @skill
        async def job():
            await begin.wait()
            return True

        ticks = 0
        async with Run(tree("sequence: [job: {}, wait: 0.001]", job)) as run:
            while (tick := run.tick()).running:
                ticks += 1
                begin.set()
                await run.woken(tick.due)
        assert tick.status is SUCCESS
        assert ticks < 10

    go(main())


def drive_of(began: asyncio.Event, ended: list[str]):
    @skill
    async def drive():
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            for _ in range(5):
                await asyncio.sleep(0)
            ended.append("stopped")

    return drive


@pytest.mark.parametrize("end", ["cancel", "leave", "sigterm"])
def test_clean_up_on_the_callers_loop_runs_to_its_end_100_times_of_100(end):
    async def main():
        for _ in range(100):
            began, ended = asyncio.Event(), []

            drive = drive_of(began, ended)
            run = Run(tree("sequence: [drive: {}]", drive))
            if end == "leave":
                async with run:
                    run.tick()
                    await began.wait()
                assert ended == ["stopped"]
                continue
            spinning = asyncio.create_task(run.aspin())
            await began.wait()
            if end == "cancel":
                spinning.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await spinning
            else:
                os.kill(os.getpid(), signal.SIGTERM)
                assert await spinning is INVALID
                assert run.stopped == "SIGTERM"
            assert ended == ["stopped"]
            await run.aclose()

    go(main())


def test_a_spin_that_blocks_the_callers_loop_gives_async_skills_one_of_their_own():
    """In a notebook, for instance, where a loop runs already."""

    async def main():
        @skill
        async def nap():
            await asyncio.sleep(0)
            return True

        with Run(tree("nap: {}", nap)) as run:
            assert run.spin(seconds=HANG) is SUCCESS

    go(main())


def test_two_runs_never_share_a_loop_so_one_that_blocks_holds_nobody_else_up():
    blocked, go_on, loops = threading.Event(), threading.Event(), []

    @skill
    async def block():
        loops.append(asyncio.get_running_loop())
        blocked.set()
        go_on.wait(HANG)

    @skill
    async def quick():
        loops.append(asyncio.get_running_loop())
        return True

    with Run(tree("block: {}", block)) as one, Run(tree("quick: {}", quick)) as two:
        one.tick()
        assert blocked.wait(HANG)
        assert two.spin(seconds=HANG) is SUCCESS
        go_on.set()
        assert one.spin(seconds=HANG) is SUCCESS
    assert loops[0] is not loops[1]

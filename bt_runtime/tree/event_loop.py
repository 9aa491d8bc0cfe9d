"""A runner inside an asyncio event loop: only programs that have one load this."""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING, cast

from py_trees.common import Status

from bt_runtime.tree.clock import of_the_machine

if TYPE_CHECKING:
    from bt_runtime.tree.runner import Runner


async def aspin(runner: Runner, seconds: float | None = None, ticks: int | None = None) -> Status:
    """Ticks to the end, as `Runner.spin`, and lets the loop run during each pause."""
    turns = runner.turns(seconds, ticks)
    while True:
        try:
            pause = next(turns)
        except StopIteration as end:
            return cast(Status, end.value)
        if pause.until > -math.inf:
            await asleep(runner, pause.until)
        else:
            await asyncio.sleep(pause.rest)


async def asleep(runner: Runner, until: float) -> None:
    """Sleeps until `until` on the run's clock, or until something wakes the run."""
    clock, loop = runner.engine.context.clock, asyncio.get_running_loop()
    if not of_the_machine(clock):
        try:
            await loop.run_in_executor(None, clock.wait, runner.woken, until)
        finally:
            runner.woken.set()  # a cancelled wait ends the wait in the thread too
        return
    rung = asyncio.Event()
    leave = runner.woken.listen(lambda: loop.call_soon_threadsafe(rung.set))
    try:
        if not runner.woken.is_set():
            async with asyncio.timeout(None if math.isinf(until) else max(0.0, until - clock.now())):
                await rung.wait()
    except TimeoutError:
        pass
    finally:
        leave()

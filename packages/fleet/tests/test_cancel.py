"""A task that somebody has cancelled does not start again, whatever comes between."""

from __future__ import annotations

import asyncio
import json
from itertools import permutations
from pathlib import Path

import pytest

pytest.importorskip("nats", reason="the extra fleet is not installed")

from bt_fleet.server import names
from bt_fleet.store import record
from bt_fleet.store.record import DONE, STARTED
from bt_fleet.store.task import Task
from packages.fleet.tests.test_robot import Instant, Scene, played

# an attempt to connect that fails leaves its socket to the garbage collector, in the client's library
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
HALT, RELEASE, CANCEL, KILL = "halt", "release", "cancel", "kill"
ORDERS = [each for each in permutations((HALT, RELEASE, CANCEL, KILL)) if each.index(HALT) < each.index(RELEASE)]


class Play:
    """One robot with a run that does not end by itself, and what happens to it."""

    def __init__(self, made: Scene, tree: str) -> None:
        self.made, self.tree, self.cancelled = made, tree, False
        self.runners: list[Instant] = []

    async def join(self) -> None:
        runner = Instant(self.made.clock)
        runner.hold.clear()
        self.runners.append(runner)
        await self.made.join("r1", runner)

    async def happens(self, what: str) -> None:
        store, agent = self.made.store, self.made.robots["r1"]
        if what in (HALT, RELEASE):
            said = {"reason": "a person is in the cell"} if what == HALT else None
            await (await self.made.link.bucket(names.SETTINGS)).put("halt", json.dumps(said).encode())
            while bool(agent.halted) != (what == HALT) or (what == HALT and agent.running):
                await asyncio.sleep(0.01)
        elif what == CANCEL:
            held = await store.change("t", lambda held: held.cancelled(0.0))
            assert held is not None
            await store.order("r1", "t", {"stop": "cancel", "task": "t", "term": held.term, "reason": ""})
            while (own := agent.held.tasks.get("t")) is not None and not own.cancel:
                await asyncio.sleep(0.01)
            self.cancelled = True
        else:
            await self.made.leave("r1")
            await self.join()
        if self.cancelled:  # whoever runs now was told before, or has begun after it
            self.runs = [len(each.ran) for each in self.runners]


@pytest.mark.parametrize("order", [*ORDERS, (HALT, CANCEL, RELEASE), (CANCEL, HALT, RELEASE), (CANCEL,)], ids="-".join)
@pytest.mark.parametrize("tree", ["repeat", "stays"])
def test_a_cancelled_task_ends_so_and_the_next_one_is_done(tmp_path: Path, order: tuple[str, ...], tree: str) -> None:
    """Its run was halted, the agent killed, or both, before or after: the verdict is `cancelled`, and the run is not
    gone on with after the robot knew of it."""

    async def story(made: Scene) -> None:
        play = Play(made, tree)
        await play.join()
        await made.store.add(Task("t", tree))
        await made.until("t", STARTED)
        await play.runners[0].begun.wait()
        for what in order:
            await play.happens(what)
        held = await made.until("t", DONE)
        assert held.verdict == record.CANCELLED
        assert [len(each.ran) for each in play.runners][: len(play.runs)] == play.runs
        for each in play.runners:
            each.hold.set()
        await made.store.add(Task("next", "repeat"))
        assert (await made.until("next", DONE)).verdict == record.SUCCESS

    played(tmp_path, story)

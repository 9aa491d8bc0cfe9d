"""A task that somebody has cancelled does not start again, whatever comes between."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("nats", reason="the extra fleet is not installed")

from bt_fleet.coordinator import auction, coordinator
from bt_fleet.server import names
from bt_fleet.store import record
from bt_fleet.store.record import ASSIGNED, DONE, STARTED
from bt_fleet.store.store import Store
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
            said = json.dumps({"on": what == HALT, "reason": "a person is in the cell"}).encode()
            await (await self.made.link.bucket(names.SETTINGS)).put(names.halt(names.EVERY, "ann"), said)
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


def test_a_task_that_is_cancelled_while_the_robots_are_asked_is_given_to_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_call = auction.Call.collected

    async def story(made: Scene) -> None:
        async def collected(call: auction.Call, *rest: Any) -> Any:
            offers = await made_call(call, *rest)
            await made.store.change("t", lambda held: held if held.cancel else held.cancelled(0.0))
            return offers

        monkeypatch.setattr(auction.Call, "collected", collected)
        runner = Instant(made.clock)
        await made.join("r1", runner)
        await made.store.add(Task("t", "repeat"))
        assert (await made.until("t", ASSIGNED, DONE)).verdict == record.CANCELLED
        assert runner.ran == []

    played(tmp_path, story)


def test_a_cancel_whose_order_was_lost_reaches_the_robot_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who cancelled it may die between the record and the order, and the server may forget orders."""
    monkeypatch.setattr(coordinator, "AGAIN", 0.05)

    async def story(made: Scene) -> None:
        runner = Instant(made.clock)
        runner.hold.clear()
        await made.join("r1", runner)
        await made.store.add(Task("t", "stays"))
        await made.until("t", STARTED)
        await runner.begun.wait()
        await made.store.change("t", lambda held: held.cancelled(0.0, "ann", "the shelf is wet"))
        held = await made.until("t", DONE)
        assert (held.verdict, held.reason) == (record.CANCELLED, "the shelf is wet")
        assert runner.ran == ["t"]

    played(tmp_path, story)


def test_a_cancelled_task_that_its_robot_never_got_is_not_ordered_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coordinator, "AGAIN", 0.05)
    given, order, lost = [], Store.order, []

    async def losing(store: Store, robot: str, task: str, body: Mapping[str, Any]) -> None:
        given.append("do" if "do" in body else body["stop"])
        if not lost:  # the first order is lost on its way; the task is cancelled before it is given again
            lost.append(robot)
            await store.change("t", lambda held: held.cancelled(0.0, "ann", "the shelf is wet"))
        else:
            await order(store, robot, task, body)

    async def story(made: Scene) -> None:
        monkeypatch.setattr(Store, "order", losing)
        runner = Instant(made.clock)
        await made.join("r1", runner)
        await made.store.add(Task("t", "repeat"))
        held = await made.until("t", DONE)
        assert (held.verdict, held.reason) == (record.CANCELLED, "the shelf is wet")
        assert runner.ran == [] and given.count("do") == 1

    played(tmp_path, story)

"""A call waits for robots as long as they usually take, so that one slow answer does not hold back a task."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

pytest.importorskip("nats", reason="the extra fleet is not installed")

from bt_fleet.coordinator.auction import Call
from bt_fleet.coordinator.bid import Known, Offer
from bt_fleet.coordinator.patience import LEAST, MOST, Patience
from bt_fleet.robot.plan import Robot
from bt_fleet.server import names
from bt_fleet.server.messages import Intake
from bt_fleet.store.record import Record
from bt_fleet.store.task import Task
from packages.fleet.tests.serving import linked


def test_the_limit_follows_how_robots_answer() -> None:
    """Steady answers make it short, varying ones long; nobody is known at first; who was late gets twice the time."""
    patience = Patience()
    assert patience.limit(["new"]) == MOST
    for _ in range(50):
        patience.heard("steady", 0.004)
    assert patience.limit(["steady"]) == LEAST
    for number in range(50):
        patience.heard("varying", 0.004 if number % 2 else 0.04)
    assert 0.05 < patience.limit(["varying", "steady"]) < MOST
    before = patience.of("varying")
    patience.missed("varying")
    assert patience.of("varying") == pytest.approx(min(MOST, 2 * before))


def test_a_robot_that_is_later_than_usual_is_not_waited_for_unless_nobody_else_can(tmp_path: Path) -> None:
    """`slow` answers when the test lets it; the first call ends without it, the second has no other robot and waits."""

    async def story() -> None:
        async with linked(tmp_path) as (_, link):
            patience, free = Patience(), asyncio.Event()
            for name in ("quick", "slow"):
                for _ in range(50):
                    patience.heard(name, 0.001)

            async def called(message) -> None:
                name, body = message.subject.rpartition(".")[2], json.loads(message.data)
                (task,) = body["tasks"]
                if name == "slow":
                    await free.wait()
                costs = {task["id"]: Known(1.0, "stays")} if name == "slow" or task["id"] == "any" else {}
                offer = Offer(Robot(name), costs, {}).plain()
                await link.nc.publish(names.bid(name, body["call"]), json.dumps(offer).encode())

            for name in ("quick", "slow"):
                await link.nc.subscribe(names.call(name), cb=called)
            both = {"quick", "slow"}
            offers = await Call(link, [Record(Task("any", "t"))], both, Intake()).collected(
                lambda: both, 60.0, patience
            )
            assert set(offers) == {"quick"}
            free.set()
            asyncio.get_running_loop().call_later(0.1, free.set)
            free.clear()
            offers = await Call(link, [Record(Task("mine", "t"))], both, Intake()).collected(
                lambda: both, 60.0, patience
            )
            assert set(offers) == both

    asyncio.run(story())

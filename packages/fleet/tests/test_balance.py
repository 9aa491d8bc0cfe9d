"""Tasks that nobody has begun change hands for a gain, and not with every estimate."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("nats", reason="the extra fleet is not installed")

import itertools

from bt_fleet.coordinator.balance import KEEPS, Balance, kept
from bt_fleet.coordinator.bid import Known, Offer
from bt_fleet.robot.plan import Job, Robot
from bt_fleet.store.record import Record
from bt_fleet.store.task import Task


class Orders:
    """Takes the place of the store: remembers who was asked to give back what."""

    def __init__(self) -> None:
        self.given: list[tuple[str, str]] = []

    async def order(self, robot: str, task: str, body: object) -> None:
        self.given.append((robot, task))


def test_a_task_that_has_moved_stays_for_longer_each_time() -> None:
    """For an hour each look finds the other robot better; the task changes hands a bounded number of times, by a clock
    that only the test moves."""
    now, orders = 0.0, Orders()
    balance = Balance(orders, lambda: now)  # type: ignore[arg-type]
    held = Record(Task("t", "t")).assigned("r0", "stays", 0.0)
    moved: list[float] = []
    for now in (2.0 * look for look in range(1800)):
        if not (movable := balance.movable([held])):
            continue
        has, other = (held.robot or ""), ("r1" if held.robot == "r0" else "r0")
        offers = {
            has: Offer(Robot(has, free=60.0, jobs=[Job("t", 30.0)]), {"t": Known(30.0, "stays")}),
            other: Offer(Robot(other), {"t": Known(30.0, "stays")}),
        }
        if asyncio.run(balance.move(movable, offers, now)):
            moved.append(now)
            held = held.returned(now, "moved").assigned(other, "stays", now)
    assert orders.given[:2] == [("r0", "t"), ("r1", "t")]
    assert moved[0] == 0.0 and moved[1] - moved[0] >= KEEPS
    rests = [after - before for before, after in itertools.pairwise(moved)]
    assert all(rest >= kept(number + 2) for number, rest in enumerate(rests))
    assert len(moved) <= 3600 / kept(99) + 6


def test_a_task_moves_only_for_a_clear_gain() -> None:
    """A robot that would be done half a second earlier does not get it."""
    orders = Orders()
    held = Record(Task("t", "t")).assigned("r0", "stays", 0.0)
    for free, moves in ((0.5, []), (30.0, ["t"])):
        offers = {
            "r0": Offer(Robot("r0", free=free, jobs=[Job("t", 30.0)]), {"t": Known(30.0, "stays")}),
            "r1": Offer(Robot("r1"), {"t": Known(30.0, "stays")}),
        }
        assert asyncio.run(Balance(orders).move([held], offers, 0.0)) == moves  # type: ignore[arg-type]

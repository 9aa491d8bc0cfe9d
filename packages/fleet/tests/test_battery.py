"""A robot bids for what its battery lasts for, and a low one makes its bid dearer."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

pytest.importorskip("nats", reason="the extra fleet is not installed")

from bt_fleet.coordinator.auction import decided
from bt_fleet.coordinator.bid import Known, Offer, offer_of
from bt_fleet.robot.battery import LOW, RESERVE, Battery
from bt_fleet.robot.card import Card
from bt_fleet.robot.held import Held
from bt_fleet.robot.plan import Robot
from bt_fleet.robot.robot import Agent
from bt_fleet.server.link import Address, Link
from bt_fleet.store.record import Record
from bt_fleet.store.task import Task
from bt_runtime import BtError
from packages.fleet.tests.still import Still


class Takes(Still):
    async def known(self, task: Task) -> Known:
        return Known(1800.0, "stays")


def test_of_two_robots_the_charged_one_gets_the_task_unless_it_is_far(tmp_path: Path) -> None:
    """Half an hour of work takes 20 % of a battery. The file is read anew at each bid."""
    file, known = tmp_path / "capacity", {}
    for name, battery in (("low", Battery(file, 40.0)), ("full", Battery())):
        held = Held(tmp_path / name / "held.db")
        agent = Agent(Card(name, {"battery": 100}, battery=battery), Link(Address()), held, Takes())
        for percent in (45, 29):
            file.write_text(f"{percent}\n")
            try:
                known[name, percent] = asyncio.run(
                    agent.bidder._cost(Task("t", "t", needs="battery>5"), agent.card.now())
                )
            except BtError as error:
                assert (name, percent) == ("low", 29) and "does not last: 29 % now, 9 % afterwards" in str(error)
        held.close()
    assert known["full", 45] == Known(1800.0, "stays")
    assert known["low", 45].strain == pytest.approx(1800 * (LOW - 25) / LOW)
    for way, winner in ((600.0, "full"), (700.0, "low")):
        offers = [
            Offer(Robot("low"), {"t": known["low", 45]}),
            Offer(Robot("full", free=way), {"t": known["full", 45]}),
        ]
        read = {
            each.robot.name: offer_of(each.robot.name, each.plain(), each.costs) for each in offers
        }  # as it comes over the wire
        assert decided([Record(Task("t", "t"))], read, 0.0).given == {"t": winner}


def test_the_reserve_is_never_promised() -> None:
    """What is promised already counts; exactly the reserve may be left."""
    battery = Battery(drain=60.0)
    assert battery.strain(RESERVE + 30, 900, 900) == pytest.approx(900 * (LOW - RESERVE) / LOW)
    with pytest.raises(BtError):
        battery.strain(RESERVE + 30, 900, 961)
    assert Battery().left({}) is None and Battery().left({"battery": True}) is None

"""A vehicle under a master control as a robot of a fleet: operators see it and halt it, and it takes no tasks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bt_fleet.coordinator.bid import Known
from bt_fleet.robot.card import Card
from bt_fleet.robot.held import Held, Own
from bt_fleet.robot.robot import Agent
from bt_fleet.robot.runner import Outcome, Refused
from bt_fleet.server.link import Address, Link
from bt_fleet.store.task import Task
from bt_runtime.language.faults.diagnostic import BtError

WHY = "it does the orders of a master control, and takes no tasks"


class NoTasks:
    """A runner that runs nothing."""

    async def known(self, task: Task) -> Known:
        raise BtError(WHY, "send it to another robot")

    async def run(self, own: Own, again: bool) -> Outcome:
        raise BtError(WHY, "send it to another robot")

    def stop(self, task: str) -> None: ...

    def journal(self, own: Own) -> Path | None:
        return None

    async def move_in(self, own: Own, pieces: list[bytes]) -> None:
        raise Refused(WHY)

    async def close(self) -> None: ...


async def enrolled(at: Address, name: str, state: Path, halted: Callable[[str | None], None]) -> None:
    """Is a robot of the fleet until it is cancelled. `halted` is called with why the vehicle must stand, or with None,
    as often as the fleet says so."""
    link, held = Link(at, name), Held(state / "held.db")
    agent = Agent(Card(name), link, held, NoTasks())
    agent.on_halt = halted
    try:
        await agent.work()
    finally:
        await link.close()
        held.close()

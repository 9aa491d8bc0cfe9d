"""What tasks would cost a robot: the seconds that it expects, and why it cannot do some."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from bt_fleet.coordinator.bid import Known, Offer
from bt_fleet.robot.card import Card
from bt_fleet.robot.plan import Robot, distance
from bt_fleet.robot.runner import Runner
from bt_fleet.store import task as tasks
from bt_fleet.store.task import Task
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.types import Json


class Bidder:
    """Makes one robot's offers. `plan` is what it has promised."""

    def __init__(self, card: Card, plan: Robot, runner: Runner, mono: Callable[[], float]) -> None:
        self.card, self.plan, self.runner, self.mono = card, plan, runner, mono
        self.ends: float | None = None  # expected end of the present run, by `mono`

    async def offer(self, asked: list[Mapping[str, Any]]) -> Offer:
        costs: dict[str, Known] = {}
        cannot: dict[str, str] = {}
        facts = self.card.now()
        for data in asked:
            try:
                costs[data["id"]] = await self._cost(tasks.of(data), facts)
            except BtError as error:
                cannot[data["id"]] = error.message[:500]
        self.plan.free = abs(self.ends - self.mono()) if self.ends is not None else 0.0  # late: as late once more
        return Offer(self.plan, costs, cannot)

    async def _cost(self, task: Task, facts: Mapping[str, Json]) -> Known:
        if lacks := tasks.lacking(task.needs, facts):
            raise BtError(f"lacks {lacks}", "join it with --has, or send it to another robot")
        known = await self.runner.known(task)
        if (left := self.card.battery.left(facts)) is None:
            return known
        way = distance(self.plan.end(), known.place) / self.card.speed
        promised = self.plan.cost().work + (max(0.0, self.ends - self.mono()) if self.ends is not None else 0.0)
        return replace(known, strain=round(self.card.battery.strain(left, promised, way + known.takes), 1))

"""What happens in a fleet, for whoever looks on: changes of records and heartbeats of robots, as they come."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from bt_fleet.face import Fleet
from bt_fleet.server import forms, names
from bt_fleet.store.record import Record


def follow(
    fleet: Fleet, changed: Callable[[Record], None], alive: Callable[[str, dict[str, Any]], None],
    told: Callable[[str, str, dict[str, Any]], None] | None = None,
) -> Callable[[], None]:  # fmt: skip
    """Calls back from the fleet's thread: first every record, then each change. Returns what ends it.

    told: what runs say of themselves: robot, what, and the message."""

    intake = fleet.store.intake

    async def tasks() -> None:
        async for held in fleet.store.follow():
            if held is not None:
                changed(held)

    def beat(subject: str, body: dict[str, Any]) -> None:
        alive(subject.split(".")[3], body)

    def said(subject: str, body: dict[str, Any]) -> None:
        if told is not None:
            robot, what = subject.split(".")[3:5]
            told(robot, what, body)

    async def begin() -> tuple[asyncio.Task[None], list[Any]]:
        nc = fleet.link.nc
        subscriptions = [
            await nc.subscribe(names.news(names.alive()), cb=intake.each(forms.BEAT, beat)),
            await nc.subscribe(names.news(names.said("*", "asks")), cb=intake.each(forms.ASKS, said)),
        ]
        first = await fleet.store.records()
        for held in first:
            changed(held)
        return asyncio.create_task(fleet.link.always(tasks)), subscriptions

    work, subscriptions = fleet.call(begin())

    async def end() -> None:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        for each in subscriptions:
            await each.unsubscribe()

    return lambda: fleet.call(end())

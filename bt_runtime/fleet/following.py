"""What happens in a fleet, for whoever looks on: changes of records and heartbeats of robots, as they come."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from bt_runtime.fleet import names, record
from bt_runtime.fleet.buckets import kept, snapshot
from bt_runtime.fleet.face import Fleet
from bt_runtime.fleet.record import Record


def follow(
    fleet: Fleet, changed: Callable[[Record], None], alive: Callable[[str, dict[str, Any]], None],
    told: Callable[[str, str, dict[str, Any]], None] | None = None,
) -> Callable[[], None]:  # fmt: skip
    """Calls back from the fleet's thread: first every record, then each change. Returns what ends it.

    told: what runs say of themselves: robot, what, and the message."""

    async def one(message: Any) -> None:
        each = kept(names.TASKS, message)
        if not each.gone:
            changed(record.of(each.value))

    async def beat(message: Any) -> None:
        alive(message.subject.rpartition(".")[2], json.loads(message.data))

    async def said(message: Any) -> None:
        if told is not None:
            robot, what = message.subject.split(".")[2:4]
            told(robot, what, json.loads(message.data))

    async def begin() -> list[Any]:
        nc = fleet.link.nc
        subscriptions = [await nc.subscribe(f"{names.CHANGED}.{names.TASKS}.>", cb=one),
                         await nc.subscribe(names.alive(), cb=beat),
                         await nc.subscribe(f"{names.SAID}.>", cb=said)]  # fmt: skip
        for each in await snapshot(fleet.link, names.TASKS):
            if not each.gone:
                changed(record.of(each.value))
        return subscriptions

    subscriptions = fleet.call(begin())

    async def end() -> None:
        for each in subscriptions:
            await each.unsubscribe()

    return lambda: fleet.call(end())

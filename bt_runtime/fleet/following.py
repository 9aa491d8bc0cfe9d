"""What happens in a fleet, for whoever looks on: changes of records and heartbeats of robots, as they come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.fleet import forms, messages, names, record
from bt_runtime.fleet.buckets import kept, snapshot
from bt_runtime.fleet.face import Fleet
from bt_runtime.fleet.messages import Intake
from bt_runtime.fleet.record import Record

ASKS = "asks"  # what a run says when it asks a person


def follow(
    fleet: Fleet, changed: Callable[[Record], None], alive: Callable[[str, dict[str, Any]], None],
    told: Callable[[str, str, dict[str, Any]], None] | None = None,
) -> Callable[[], None]:  # fmt: skip
    """Calls back from the fleet's thread: first every record, then each change. Returns what ends it. A message that
    does not fit its form is counted and logged, and calls nobody.

    told: what runs say of themselves: robot, what, and the message."""

    intake = Intake()

    def taken(subject: str, data: bytes) -> None:
        try:
            messages.read(forms.RECORD, data)
            held = record.of(data)
        except BtError as error:
            intake.refuse(subject, error.message)
        else:
            changed(held)

    async def one(message: Any) -> None:
        each = kept(names.TASKS, message)
        if not each.gone:
            taken(message.subject, each.value)

    async def beat(message: Any) -> None:
        if (body := intake.read(forms.BEAT, message)) is not None:
            alive(message.subject.rpartition(".")[2], body)

    async def said(message: Any) -> None:
        robot, what = message.subject.split(".")[2:4]
        if what == ASKS and told is not None and (body := intake.read(forms.ASKS, message)) is not None:
            told(robot, what, body)

    async def begin() -> list[Any]:
        nc = fleet.link.nc
        subscriptions = [await nc.subscribe(f"{names.CHANGED}.{names.TASKS}.>", cb=one),
                         await nc.subscribe(names.alive(), cb=beat),
                         await nc.subscribe(f"{names.SAID}.*.*", cb=said)]  # fmt: skip
        for each in await snapshot(fleet.link, names.TASKS):
            if not each.gone:
                taken(f"$KV.{names.TASKS}.{each.key}", each.value)
        return subscriptions

    subscriptions = fleet.call(begin())

    async def end() -> None:
        for each in subscriptions:
            await each.unsubscribe()

    return lambda: fleet.call(end())

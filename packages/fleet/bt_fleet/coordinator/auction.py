"""The auction: one call to all robots for a batch of tasks, their answers within a bounded time, and who gets what."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bt_fleet.coordinator.assign import assigned, total
from bt_fleet.coordinator.bid import Known, Offer, job_of, offer_of
from bt_fleet.coordinator.patience import Patience
from bt_fleet.robot.plan import Job, Robot
from bt_fleet.server import forms, messages, names
from bt_fleet.server.link import Link
from bt_fleet.server.messages import Intake
from bt_fleet.store.record import Record
from bt_runtime.language.faults.diagnostic import BtError

if TYPE_CHECKING:
    from nats.aio.msg import Msg

BATCH = 250  # tasks of one call
_LARGEST = 4 * 1024 * 1024  # bytes of them


def search_seconds(tasks: int) -> float:
    """Returns how long better plans are searched for, once every task has a robot."""
    return 0.05 + min(0.5, 0.004 * tasks)


@dataclass
class Result:
    """Who gets what, and why nobody gets the rest."""

    given: dict[str, str] = field(default_factory=dict)
    offers: dict[str, Offer] = field(default_factory=dict)

    def why_not(self, task: str) -> str:
        said = sorted({f"{name}: {offer.cannot[task]}" for name, offer in self.offers.items() if task in offer.cannot})
        more = f" and {len(said) - 3} more" if len(said) > 3 else ""
        return "; ".join(said[:3]) + more if said else "no robot answers"


def batch(records: Sequence[Record]) -> list[Record]:
    """Returns the first of these tasks, as many as one message to a robot may hold."""
    found: list[Record] = []
    size = 0
    for held in records[:BATCH]:
        size += len(json.dumps(held.task.plain()))
        if found and size > _LARGEST:
            break
        found.append(held)
    return found


class Call:
    """One call for a batch of tasks. Each robot is asked for what it may do, and answers under its own name."""

    def __init__(self, link: Link, records: Sequence[Record], robots: Iterable[str], intake: Intake) -> None:
        self.link, self.records, self.intake, self.robots = link, records, intake, set(robots)
        self.id = secrets.token_hex(8)
        self.offers: dict[str, Offer] = {}
        plain = [(held, json.dumps({**held.task.plain(), "refused": []})) for held in records]
        asked = {name: [text for held, text in plain if held.task.to in (None, name) and name not in held.refused]
                 for name in self.robots}  # fmt: skip
        self.texts = {name: f'{{"call":"{self.id}","tasks":[{",".join(tasks)}]}}' for name, tasks in asked.items()
                      if tasks}  # fmt: skip

    def served(self) -> bool:
        """True when somebody has made an offer for every task."""
        return all(any(held.task.id in offer.costs for offer in self.offers.values()) for held in self.records)

    async def collected(
        self, expected: Callable[[], set[str]], seconds: float, patience: Patience | None = None
    ) -> dict[str, Offer]:
        """Calls, and returns the offers: as soon as each expected robot has answered, after `seconds` at the latest.
        With `patience` it does not wait for a robot that is later than usual, once each task has an offer."""
        complete, late, begun = asyncio.Event(), False, time.monotonic()

        def waited() -> set[str]:
            return expected() & self.texts.keys()

        async def heard(message: Msg) -> None:
            name = messages.sender(message.subject)
            if name not in self.texts or (said := self.intake.read(forms.BID, message)) is None:
                return
            try:
                self.offers[name] = offer_of(name, said, [held.task.id for held in self.records])
            except BtError as error:
                self.intake.refuse(message.subject, error.message)
                return
            if patience is not None:
                patience.heard(name, time.monotonic() - begun)
            if waited() <= self.offers.keys() or (late and self.served()):
                complete.set()

        async def answered(until: float) -> bool:
            with suppress(TimeoutError):
                async with asyncio.timeout(until - (time.monotonic() - begun)):
                    await complete.wait()
            return complete.is_set()

        subscription = await self.link.nc.subscribe(names.bid("*", self.id), cb=heard)
        try:
            for name, text in self.texts.items():
                await self.link.nc.publish(names.call(name), text.encode())
            if robots := waited():
                first = seconds if patience is None else min(seconds, patience.limit(robots))
                if not await answered(first) and not self.served():
                    late = True
                    await answered(seconds)
            if patience is not None:
                for name in waited() - self.offers.keys():
                    patience.missed(name)
        finally:
            await subscription.unsubscribe()
        for held in self.records:
            for name in self.robots.intersection(held.refused):
                self.offers.setdefault(name, Offer(Robot(name), {}, {})).cannot[held.task.id] = "could not begin it"
        return self.offers


def better(records: Sequence[Record], offers: dict[str, Offer], now: float) -> dict[str, str]:
    """Returns task → robot for what nobody has begun and another robot should have: the fleet would be done earlier by
    a twentieth, and by more than a second."""
    before = total({name: offer.robot for name, offer in offers.items()})
    planned = {job.id for offer in offers.values() for job in offer.robot.jobs}
    records = [held for held in records if held.task.id in planned]  # else it has just been begun
    moving = {held.task.id for held in records}
    for offer in offers.values():
        offer.robot.jobs = [job for job in offer.robot.jobs if job.id not in moving]
    given = decided(records, offers, now).given
    after = total({name: offer.robot for name, offer in offers.items()})
    gain = before[1][0] - after[1][0] if before[1] else 0.0
    if before[0] <= after[0] and gain < max(1.0, before[1][0] / 20 if before[1] else 0.0):
        return {}
    return {held.task.id: given[held.task.id] for held in records
            if given.get(held.task.id, held.robot) != held.robot}  # fmt: skip


def decided(records: Sequence[Record], offers: dict[str, Offer], now: float) -> Result:
    """Returns who gets what. Robots that refused a task before are not asked to take it again."""
    made: dict[tuple[str, Known], Job] = {}

    def job(held: Record, known: Known) -> Job:
        key = held.task.id, known
        if key not in made:
            made[key] = job_of(held.task, known, now)
        return made[key]

    jobs = {
        r.task.id: {
            name: job(r, offer.costs[r.task.id])
            for name, offer in offers.items()
            if r.task.id in offer.costs and name not in r.refused and r.task.to in (None, name)
        }
        for r in records
    }
    end = time.monotonic() + search_seconds(len(records))
    given = assigned(
        [o.robot for o in offers.values()], [r.task.id for r in records], jobs, lambda: time.monotonic() < end
    )
    return Result(given, offers)

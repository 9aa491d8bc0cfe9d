"""The auction: one call to all robots for a batch of tasks, their answers within a bounded time, and who gets what."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bt_runtime.fleet import names
from bt_runtime.fleet.assign import assigned, total
from bt_runtime.fleet.bid import Known, Offer, job_of, offer_of
from bt_runtime.fleet.link import Link
from bt_runtime.fleet.patience import Patience
from bt_runtime.fleet.plan import Job
from bt_runtime.fleet.record import Record

if TYPE_CHECKING:
    from nats.aio.msg import Msg

BATCH = 250  # tasks of one call


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


async def collected(link: Link, records: Sequence[Record], expected: Callable[[], set[str]], seconds: float,
                    patience: Patience | None = None) -> dict[str, Offer]:  # fmt: skip
    """Calls, and returns the offers: as soon as each expected robot has answered, after `seconds` at the latest. With
    `patience` it does not wait for a robot that is later than usual, once each task has an offer."""
    offers: dict[str, Offer] = {}
    complete, late, begun = asyncio.Event(), False, time.monotonic()

    def served() -> bool:
        return all(any(held.task.id in offer.costs for offer in offers.values()) for held in records)

    async def heard(message: Msg) -> None:
        offer = offer_of(json.loads(message.data))
        offers[offer.robot.name] = offer
        if patience is not None:
            patience.heard(offer.robot.name, time.monotonic() - begun)
        if expected() <= offers.keys() or (late and served()):
            complete.set()

    async def answered(until: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(until - (time.monotonic() - begun)):
                await complete.wait()
        return complete.is_set()

    inbox = link.nc.new_inbox()
    subscription = await link.nc.subscribe(inbox, cb=heard)
    try:
        body = {"tasks": [{**r.task.plain(), "refused": list(r.refused)} for r in records]}
        await link.nc.publish(names.CALL, json.dumps(body, separators=(",", ":")).encode(), reply=inbox)
        if robots := expected():
            first = seconds if patience is None else min(seconds, patience.limit(robots))
            if not await answered(first) and not served():
                late = True
                await answered(seconds)
        if patience is not None:
            for name in expected() - offers.keys():
                patience.missed(name)
    finally:
        await subscription.unsubscribe()
    return offers


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

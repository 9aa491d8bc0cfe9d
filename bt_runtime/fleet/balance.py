"""Takes tasks back that nobody has begun, so that another robot gets them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from bt_runtime.fleet import auction
from bt_runtime.fleet.bid import Offer
from bt_runtime.fleet.record import Record
from bt_runtime.fleet.store import Store


async def take_back(store: Store, held: Record, why: str) -> None:
    """Asks the robot to return a task; one that has begun it does not."""
    body = {"stop": "return", "task": held.task.id, "term": held.term, "reason": why}
    await store.order(held.robot or "", held.task.id, body)


async def balance(store: Store, planned: Sequence[Record], offers: dict[str, Offer], now: float) -> None:
    """Takes back what another robot would be done with earlier."""
    moves = await asyncio.to_thread(auction.better, planned, offers, now)
    for held in planned:
        if (name := moves.get(held.task.id)) is not None:
            await take_back(store, held, f"{name} is done with it earlier")

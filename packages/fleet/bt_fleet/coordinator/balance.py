"""Takes tasks back that nobody has begun, so that another robot gets them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from bt_fleet.coordinator import auction
from bt_fleet.coordinator.bid import Offer
from bt_fleet.store.record import Record
from bt_fleet.store.store import Store

KEEPS = 5.0  # seconds that a task's second robot keeps it; each later robot keeps it twice as long as the one before


async def take_back(store: Store, held: Record, why: str) -> None:
    """Asks the robot to return a task; one that has begun it does not."""
    body = {"stop": "return", "task": held.task.id, "term": held.term, "reason": why}
    await store.order(held.robot or "", held.task.id, body)


class Balance:
    """What may change hands, and what does. Robots' estimates vary under load: a task must not follow each of them."""

    def __init__(self, store: Store, mono: Callable[[], float] = time.monotonic) -> None:
        self.store, self.mono = store, mono
        self._since: dict[str, tuple[int, float]] = {}  # since when a task has the robot of this term

    def movable(self, planned: Sequence[Record]) -> list[Record]:
        """Returns the tasks whose robot has had them for long enough. The first robot may lose one at once."""
        now = self.mono()
        before, self._since = self._since, {}
        for held in planned:
            term, since = before.get(held.task.id, (0, now))
            self._since[held.task.id] = held.term, since if term == held.term else now
        return [held for held in planned if now - self._since[held.task.id][1] >= kept(held.term)]

    async def move(self, planned: Sequence[Record], offers: dict[str, Offer], now: float) -> list[str]:
        """Takes back what another robot would be done with earlier; returns those tasks."""
        moves = await asyncio.to_thread(auction.better, planned, offers, now)
        for held in planned:
            if (name := moves.get(held.task.id)) is not None:
                await take_back(self.store, held, f"{name} is done with it earlier")
        return list(moves)


def kept(term: int) -> float:
    """Returns the seconds for which the robot of this term keeps a task that it has not begun."""
    return 0.0 if term < 2 else KEEPS * 2.0 ** min(term - 2, 4)

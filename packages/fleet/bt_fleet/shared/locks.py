"""Locks on places and lifts that one robot of a fleet at a time may have, as leases in a NATS key-value bucket.

The server ends a lease that is not renewed: no clocks are compared. A robot counts its own lease from before it asked,
so that it gives up a lease before the server gives it to another robot."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from bt_fleet.server import buckets, names
from bt_fleet.server.link import heard
from bt_fleet.shared.board import ASK

if TYPE_CHECKING:
    from bt_fleet.server.link import Link

BUCKET = names.LOCKS
LEASE = 10.0  # seconds after which the server ends a lease that was not renewed
MARGIN = 0.25  # the part of a lease that a robot does not count on
IDLE = 2.0  # seconds after which a lease that no skill took is given back


class Lease:
    """A lock as this robot sees it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.holder = ""  # another robot, as far as is known
        self.revision = 0  # of our own lease; it grows with each holder, as a fencing token does
        self.until = 0.0  # when our own lease ends; 0: it is not ours
        self.used = 0  # skills of this robot that run with it
        self.asked = 0.0  # when a waiting skill last asked for it
        self.lost = 0  # how often it was lost while a skill had it


class Locks:
    """One robot's leases. Its coroutines run on the link's loop; `holds`, `use` and `leave` may be called anywhere."""

    def __init__(
        self, link: Link, robot: str, lease: float = LEASE, clock: Callable[[], float] = time.monotonic
    ) -> None:  # fmt: skip
        self.link, self.robot, self.lease, self.clock = link, robot, lease, clock
        self.leases: dict[str, Lease] = {}
        self.listeners: list[Callable[[], None]] = []  # called when a lease was granted, lost, or has another holder
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._stirred = asyncio.Event()

    # For the tick, at once ---------------------------------------------------------------------

    def holds(self, name: str) -> bool:
        """True while the lease is this robot's; else it is asked for in the background."""
        lease = self.leases.setdefault(name, Lease(name))
        lease.asked = now = self.clock()
        if lease.until > now:
            return True
        self._stir()
        return False

    def ours(self, name: str, lost: int) -> bool:
        """True while the lease is this robot's and was never lost since `lost` was read."""
        lease = self.leases[name]
        return lease.lost == lost and lease.until > self.clock()

    def use(self, name: str) -> None:
        self.leases[name].used += 1

    def leave(self, name: str) -> None:
        """Ends a use; the lease is given back in the background when it was the last one."""
        lease = self.leases[name]
        lease.used = max(0, lease.used - 1)
        if lease.used == 0:
            lease.asked = -IDLE
            self._stir()

    def holder(self, name: str) -> str:
        """Returns the other robot that has it, as far as is known; "" when none is known."""
        found = self.leases.get(name)
        return found.holder if found is not None else ""

    # On the loop -------------------------------------------------------------------------------

    async def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        await self.link.js.key_value(BUCKET)
        self._task = self._loop.create_task(self._work())

    async def stop(self) -> None:
        """Gives back every lease."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self.link.up.is_set():
            for lease in self.leases.values():
                if lease.until > 0:
                    await self._give_back(lease)

    def _stir(self) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._stirred.set)

    async def _work(self) -> None:
        """Asks for, renews and gives back leases, one after another."""
        while True:
            await heard(self._stirred, min(self.lease / 5, 0.5))
            for lease in list(self.leases.values()):
                try:
                    await self._mind(lease)
                except Exception as error:  # the server cannot be reached: the lease runs out by our own clock
                    logging.getLogger(__name__).debug("fleet lock %s: %r", lease.name, error)
                self._run_out(lease)

    async def _mind(self, lease: Lease) -> None:
        now = self.clock()
        wanted = lease.used > 0 or now - lease.asked < IDLE
        if lease.until <= now:
            if wanted and lease.used == 0:
                await self._ask(lease)
        elif not wanted:
            await self._give_back(lease)
        elif lease.until - now < self.lease * (1 - MARGIN) * 0.7:
            await self._renew(lease)

    def _run_out(self, lease: Lease) -> None:
        if 0 < lease.until <= self.clock():
            lease.until = 0.0
            lease.lost += 1
            self._tell()

    async def _ask(self, lease: Lease) -> None:
        now = self.clock()
        free, holder = await self._last(lease.name)
        if holder and holder != self.robot:
            self._held_by(lease, holder)
            return
        try:
            lease.revision = await self._put(lease.name, free)
        except Exception as error:
            if not buckets.conflict(error):
                raise
            self._held_by(lease, (await self._last(lease.name))[1])
            return
        lease.until, lease.holder = now + self.lease * (1 - MARGIN), ""
        self._tell()

    async def _renew(self, lease: Lease) -> None:
        now = self.clock()
        try:
            lease.revision = await self._put(lease.name, lease.revision)
            lease.until = now + self.lease * (1 - MARGIN)
        except Exception as error:
            if not buckets.conflict(error):
                raise
            lease.until = now  # another robot's, or an operator has ended it
            self._held_by(lease, (await self._last(lease.name))[1])

    async def _give_back(self, lease: Lease) -> None:
        revision, lease.until = lease.revision, 0.0
        with suppress(Exception):  # if it fails, the server lets the lease run out
            key = buckets.own_key(lease.name, self.robot)
            await buckets.write(self.link, BUCKET, key, revision, b"", ASK, ends=60.0, gone=True)

    async def _put(self, name: str, base: int) -> int:
        """Writes our lease if the last revision is this one; 0: if there is none."""
        key = buckets.own_key(name, self.robot)
        return await buckets.write(self.link, BUCKET, key, base, b"1", ASK, ends=self.lease)

    async def _last(self, name: str) -> tuple[int, str]:
        """Returns the last revision of a lock and who holds it; "" when nobody does."""
        found = await buckets.snapshot(self.link, BUCKET, ASK, buckets.own_key(name, "*"))
        last = buckets.latest(found).get(name)
        if last is None:
            return 0, ""
        return last.revision, "" if last.gone else last.key.rpartition(".")[2]

    def _held_by(self, lease: Lease, holder: str) -> None:
        before, lease.holder = lease.holder, holder
        if holder != before:
            self._tell()

    def _tell(self) -> None:
        for listener in tuple(self.listeners):
            listener()

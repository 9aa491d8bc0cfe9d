"""This process as a member of a fleet: one connection, in a thread of its own, for runs with shared entries and locks.

A program gives it to its run: `Run(tree, services={"fleet": member})`. A run that a robot's agent started finds it by
the environment."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

from bt_fleet.server.link import Address, Link
from bt_fleet.shared.board import Board
from bt_fleet.shared.locks import LEASE, Locks
from bt_fleet.shared.traffic.places import Places
from bt_runtime.language.closing import Closing

T = TypeVar("T")


class Member(Closing):
    """Joins the fleet in the background: `board` and `locks` may be used at once, and work as soon as it is there."""

    def __init__(self, address: Address, robot: str, lease: float = LEASE) -> None:
        self.robot = robot
        self.loop = asyncio.new_event_loop()
        self.link = Link(address, robot)
        self.board = Board(self.link, robot)
        self.locks = Locks(self.link, robot, lease)
        self.places = Places(self.link, robot)
        self.ready = threading.Event()  # set when the fleet's entries are here
        self._thread = threading.Thread(target=self._serve, name="fleet", daemon=True)
        self._thread.start()
        self._joining = self.begin(self._join())

    def _serve(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    async def _join(self) -> None:
        await self.link.opened(None)
        while True:
            try:
                await self.board.start()
                break
            except Exception:  # no coordinator has made the buckets yet
                await asyncio.sleep(0.5)
        await self.locks.start()
        await self.places.start()
        self.ready.set()

    def begin(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Runs a coroutine on the link's loop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def close(self) -> None:
        """Gives back every lease and leaves; claims on places stay; a second call does nothing."""
        if self.loop.is_closed():
            return
        self._joining.cancel()
        with suppress(Exception):
            self.begin(self._leave()).result(15)  # four parts, a second each, on a busy machine
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(5)
        self.loop.close()

    async def _leave(self) -> None:
        for part in (self.places.stop, self.locks.stop, self.board.stop, self.link.close):
            with suppress(Exception):
                await asyncio.wait_for(part(), 1)  # a server that is gone answers nothing
        rest = asyncio.all_tasks() - {asyncio.current_task()}  # of the library
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

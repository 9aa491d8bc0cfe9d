"""A run's journal on its way to the store, which takes nothing more of it once another robot has the run."""

from __future__ import annotations

import asyncio
from pathlib import Path

from bt_fleet.robot.held import Own
from bt_fleet.server import names
from bt_fleet.store.replica import Source
from bt_fleet.store.store import Store
from bt_runtime.language.faults.diagnostic import BtError


class Fenced(BtError):
    """Another robot goes on with the run."""


class Copy:
    """The copy of one run. Each piece names the piece before it, so that the server refuses one that comes after a
    fence."""

    def __init__(self, store: Store, robot: str, own: Own) -> None:
        self.store, self.robot, self.own = store, robot, own
        self.subject = names.journal(robot, own.task.id, own.term)
        self._source, self._last = Source(), -1  # the number of the last piece; -1: not known
        self._one = asyncio.Lock()

    async def go_on(self, path: Path, sure: bool = False) -> None:
        """Copies what is new. `sure`: raises when the file cannot be read."""
        async with self._one:
            try:
                for piece in self._source.pieces(path, sure):
                    await self._put(piece)
            except BaseException:
                self._source, self._last = Source(), -1  # from its beginning: what comes twice changes nothing
                raise

    async def _put(self, piece: bytes) -> None:
        while True:
            if self._last < 0:
                self._last, fenced = await self.store.end_of_journal(self.robot, self.subject)
                if fenced:
                    raise Fenced(f"{self.own.task.id} was given to another robot", "btr fleet show tells to which")
            number = await self.store.append(self.subject, piece, self._last)
            self._last = -1 if number is None else number
            if number is not None:
                return

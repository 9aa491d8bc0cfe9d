"""What a robot hands in: reports in their order, and the journals of its runs. Both wait while there is no network."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.fleet import names
from bt_runtime.fleet.held import Held, Own
from bt_runtime.fleet.link import library
from bt_runtime.fleet.replica import Source
from bt_runtime.fleet.store import Store

COPY = 1.0  # seconds between two copies of what a run has recorded since
_LOG = logging.getLogger(__name__)


def unanswered(error: Exception) -> bool:
    """True when the server did not answer, so that another attempt may succeed."""
    return isinstance(error, TimeoutError | library().errors.Error | BtError)


class HandIn:
    """The two of them for one robot. `journal` finds the file of a run."""

    def __init__(self, name: str, store: Store, held: Held, journal: Callable[[Own], Path | None]) -> None:
        self.name, self.store, self.held, self.journal = name, store, held, journal
        self.reports = asyncio.Event()  # set when there is something to report
        self._copies: dict[tuple[str, int], tuple[Own, Source]] = {}  # journals that are not wholly in the store

    async def reporting(self) -> None:
        """Sends reports in their order, each until it is acknowledged."""
        link = self.store.link
        link.listeners.append(lambda up: self.reports.set() if up else None)
        while not link.closing:
            await self.reports.wait()
            self.reports.clear()
            await link.up.wait()
            try:
                while unsent := self.held.unsent():
                    for number, body in unsent:
                        await self.store.report(self.name, body, f"{self.name}.{body['task']}.{number}.{body['at']}")
                    self.held.sent(unsent[-1][0])
            except Exception as error:
                if not unanswered(error):
                    raise
                _LOG.debug("%s: reports: %s", self.name, error)
                await asyncio.sleep(0.2)
                self.reports.set()

    def begin(self, own: Own) -> None:
        """Copies the journal of a run from now on."""
        self._copies[own.task.id, own.term] = own, Source()

    async def copying(self, running: Callable[[], str | None]) -> None:
        """Copies journals while their runs go on; those that ended without a network afterwards."""
        while not self.store.link.closing:
            await asyncio.sleep(COPY)
            await self.store.link.up.wait()
            for key, (own, source) in list(self._copies.items()):
                ended = running() != own.task.id
                try:
                    await self._copy(own, source)
                except Exception as error:
                    if not unanswered(error):
                        raise
                    self._copies[key] = own, Source()  # from its beginning: what comes twice changes nothing
                    break
                if ended and self._copies.get(key) == (own, source):
                    del self._copies[key]

    async def _copy(self, own: Own, source: Source) -> None:
        if (path := self.journal(own)) is not None:
            for piece in source.pieces(path):
                await self.store.js.publish(names.journal(self.name, own.task.id, own.term), piece)

"""What a robot hands in: reports in their order, and the journals of its runs. Both wait while there is no network."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from bt_fleet.robot.copying import Copy, Fenced
from bt_fleet.robot.held import Held, Own
from bt_fleet.server import forms
from bt_fleet.server.link import library
from bt_fleet.store.store import Store
from bt_runtime.language.faults.diagnostic import BtError

COPY = 1.0  # seconds between two copies of what a run has recorded since
ANSWER = 2.0  # seconds that the store has for taking a copy that a run waits for
MANY = 32  # reports that are handed in without a pause
AGAIN = "again"
_LOG = logging.getLogger(__name__)


def unanswered(error: Exception) -> bool:
    """True when the server did not answer, so that another attempt may succeed."""
    return isinstance(error, TimeoutError | library().errors.Error | BtError)


class HandIn:
    """The two of them for one robot. `journal` finds a run's file; `fenced` is called when another robot has it."""

    def __init__(self, name: str, store: Store, held: Held, journal: Callable[[Own], Path | None],
                 fenced: Callable[[Own], None]) -> None:  # fmt: skip
        self.name, self.store, self.held, self.journal, self.fenced = name, store, held, journal, fenced
        self.reports = asyncio.Event()  # set when there is something to report
        self._copies: dict[tuple[str, int], Copy] = {}  # journals that are not wholly in the store

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
                    for _, body in unsent:
                        await self.store.report(self.name, body)
                    self.held.sent(unsent[-1][0])
                    if len(unsent) > MANY:  # news that come faster are dropped
                        await asyncio.sleep(len(unsent) / forms.REPORTS)
            except Exception as error:
                if not unanswered(error):
                    raise
                _LOG.debug("%s: reports: %s", self.name, error)
                await asyncio.sleep(0.2)
                self.reports.set()

    def begin(self, own: Own) -> None:
        """Copies the journal of a run from now on."""
        self._copies[own.task.id, own.term] = Copy(self.store, self.name, own)

    async def copying(self, running: Callable[[], str | None]) -> None:
        """Copies journals while their runs go on; those that ended without a network afterwards."""
        while not self.store.link.closing:
            await asyncio.sleep(COPY)
            await self.store.link.up.wait()
            for key, copy in list(self._copies.items()):
                ended = running() != copy.own.task.id
                try:
                    if (path := self.journal(copy.own)) is not None:
                        await copy.go_on(path)
                except Fenced:
                    self.fenced(copy.own)
                    ended = True
                except Exception as error:
                    if not unanswered(error):
                        raise
                    break
                if ended and self._copies.get(key) is copy:
                    del self._copies[key]

    async def copied(self, own: Own) -> str:
        """Copies a run's journal now. Returns "" when the store has all of it, AGAIN when it did not answer, else why
        the run may not go on."""
        copy, path = self._copies.get((own.task.id, own.term)), self.journal(own)
        if copy is None or path is None:
            return AGAIN
        try:
            async with asyncio.timeout(ANSWER):
                await copy.go_on(path, sure=True)
        except Fenced as error:
            self.fenced(own)
            return error.message
        except Exception as error:
            if not unanswered(error):
                raise
            return AGAIN
        return ""

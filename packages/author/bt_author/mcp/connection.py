"""A connection to `btr serve mcp --http`. One that sends no whole request holds its place for seconds only, and gives
it to the next one when many do that: whoever has no token cannot keep out whoever has it."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_WAITING = 32  # connections without a request; the oldest makes room
PATIENCE = 5.0  # seconds for the head of a request
_numbers = count()


class Connection(H11Protocol):
    number = 0
    looked: asyncio.TimerHandle | None = None
    seen: Any = None  # the request that was the latest one when it was looked at

    @property
    def waiting(self) -> bool:
        """True when no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.number = next(_numbers)
        self._look_later()
        waiting = [each for each in self.connections if isinstance(each, Connection) and each.waiting]
        if len(waiting) > MOST_WAITING:
            min(waiting, key=lambda each: each.number).drop()

    def connection_lost(self, exc: Exception | None) -> None:
        if self.looked is not None:
            self.looked.cancel()
        super().connection_lost(exc)

    def drop(self) -> None:
        self.connections.discard(self)
        self.transport.abort()

    def _look_later(self) -> None:
        self.looked = self.loop.call_later(PATIENCE, self._look)

    def _look(self) -> None:
        if self.waiting and self.seen is self.cycle:
            self.drop()
        else:
            self.seen = self.cycle
            self._look_later()

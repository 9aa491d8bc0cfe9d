"""Who has what: a skill has the things that it `uses` from its start until it has ended, or has stopped.

What was cancelled may take its time to stop. Until then its things are taken, and the run does not end before it (for
so long as it is given).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable
from typing import Any

STOPPING = 10.0  # seconds that the end of a run waits for what was told to stop
LOOK = 0.002  # seconds between two looks at what cannot say when it has stopped


class Hold:
    """What one start of a skill has; `activity` once it was told to stop and has not done so."""

    __slots__ = ("activity", "names", "sentence")

    def __init__(self, names: tuple[Hashable, ...], sentence: str) -> None:
        self.names, self.sentence = names, sentence
        self.activity: Any = None


class Resources:
    def __init__(self) -> None:
        self._holds: dict[Hashable, Hold] = {}

    def blocker(self, names: Iterable[Hashable]) -> Hold | None:
        """Who has one of these yet; asked inside a tick."""
        for name in names:
            hold = self._holds.get(name)
            if hold is not None and (hold.activity is None or not self._stopped(hold)):
                return hold
        return None

    def take(self, names: tuple[Hashable, ...], sentence: str) -> Hold:
        hold = Hold(names, sentence)
        for name in names:
            self._holds[name] = hold
        return hold

    def leave(self, hold: Hold) -> None:
        for name in hold.names:
            if self._holds.get(name) is hold:
                del self._holds[name]

    def stopping(self, hold: Hold, activity: Any) -> None:
        """It was told to stop, and has not yet."""
        hold.activity = activity
        for name in hold.names:
            self._holds[name] = hold

    def _stopped(self, hold: Hold) -> bool:
        if not hold.activity.stopped():
            return False
        self.leave(hold)
        return True

    # The end of a run ------------------------------------------------------------------------

    def left(self) -> list[Hold]:
        """What was told to stop and has not."""
        held = {id(h): h for h in tuple(self._holds.values()) if h.activity is not None}
        return [h for h in held.values() if not h.activity.settled()]

    def settle(self, seconds: float, mine: Callable[[Hold], bool] = lambda hold: True) -> list[Hold]:
        """Waits for what is stopping; gives what has not after so long."""
        end = time.monotonic() + seconds
        while waiting := [hold for hold in self.left() if mine(hold)]:
            if time.monotonic() >= end:
                return waiting
            time.sleep(LOOK)
        return []

    async def settled(self, seconds: float) -> list[Hold]:
        import asyncio

        end = time.monotonic() + seconds
        while waiting := self.left():
            if time.monotonic() >= end:
                return waiting
            await asyncio.sleep(LOOK)
        return []

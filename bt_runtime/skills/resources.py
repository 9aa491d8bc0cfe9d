"""Locks for skills: a started skill locks what it `uses` until it has ended or stopped. A cancelled skill may take
time to stop. Until then its resources stay locked, and the run waits for it, up to its time limit."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio

    from bt_runtime.skills.activity import Activity

STOPPING = 10.0  # seconds that the end of a run waits for what was told to stop
LOOK = 0.002  # seconds between two looks at what cannot say when it has stopped


class Hold:
    """The resources of one start; `activity` is set while a cancelled activity has not stopped."""

    __slots__ = ("activity", "names", "sentence")

    def __init__(self, names: tuple[Hashable, ...], sentence: str) -> None:
        self.names, self.sentence = names, sentence
        self.activity: Activity | None = None

    @property
    def loop_of(self) -> asyncio.AbstractEventLoop | None:
        return self.activity.loop_of if self.activity is not None else None


class ResourceLocks:
    def __init__(self) -> None:
        self._holds: dict[Hashable, Hold] = {}

    def blocker(self, names: Iterable[Hashable]) -> Hold | None:
        """Returns the skill that holds one of these resources; called inside a tick."""
        for name in names:
            hold = self._holds.get(name)
            if hold is not None and (hold.activity is None or not hold.activity.stopped()):
                return hold
            if hold is not None:
                self.leave(hold)
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

    def stopping(self, hold: Hold, activity: Activity) -> None:
        """Keeps the hold of a cancelled activity until it has stopped."""
        hold.activity = activity
        for name in hold.names:
            self._holds[name] = hold

    # The end of a run ------------------------------------------------------------------------

    def left(self) -> list[Hold]:
        """Returns the cancelled activities that are still stopping."""
        held = {id(h): h for h in tuple(self._holds.values()) if h.activity is not None}
        return [h for h in held.values() if h.activity is not None and not h.activity.stopped(at_end=True)]

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

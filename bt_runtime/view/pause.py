"""Pause, one step, go on: the thread that ticks waits here between two ticks."""

from __future__ import annotations

import threading
from collections.abc import Callable

LOOK = 0.1  # seconds between two looks at whether the waiting has lost its sense


class PauseGate:
    def __init__(self, shut: bool = False) -> None:
        self._changed = threading.Condition()
        self._shut = shut
        self._steps = 0
        self._done = False

    @property
    def shut(self) -> bool:
        return self._shut and not self._done

    def pause(self) -> None:
        with self._changed:
            self._shut = True

    def resume(self) -> None:
        with self._changed:
            self._shut, self._steps = False, 0
            self._changed.notify_all()

    def step(self) -> None:
        """Lets one tick through; pauses a run that was not paused."""
        with self._changed:
            self._shut = True
            self._steps += 1
            self._changed.notify_all()

    def release(self) -> None:
        """For good: the run is ending."""
        with self._changed:
            self._done = True
            self._changed.notify_all()

    def wait(self, over: Callable[[], bool]) -> None:
        """Returns when the next tick may come, or when it will not."""
        with self._changed:
            while self._shut and not self._steps and not self._done and not over():
                self._changed.wait(LOOK)  # a signal handler sets what `over` reads, and may not notify
            self._steps = max(0, self._steps - 1)

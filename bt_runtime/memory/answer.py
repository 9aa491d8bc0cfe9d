"""A job on a thread: asked now, polled later, dropped when cancelled."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")


class MemoryAnswer(Generic[T]):
    def __init__(self, future: Future[T]) -> None:
        self._future = future
        self.cancelled = ""  # why

    def poll(self) -> T | None:
        """The answer once it is there. Raises what the work raised; nothing after a cancel."""
        if self.cancelled or not self._future.done():
            return None
        return self._future.result()

    def cancel(self, reason: str) -> None:
        self.cancelled = self.cancelled or reason or "cancelled"
        self._future.cancel()

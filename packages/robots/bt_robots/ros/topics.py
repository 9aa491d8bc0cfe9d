"""The last message of a topic, and its age."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bt_runtime.tree.clock import RunClock


class Latest:
    """The latest message: received in any thread, read by the tick. Its age counts from its arrival, by the run's
    clock."""

    def __init__(self, clock: RunClock, news: Callable[[], object]) -> None:
        self.clock, self.news = clock, news
        self._kept: tuple[dict[str, Any] | None, float, int] = (None, 0.0, 0)

    def hear(self, message: dict[str, Any]) -> None:
        self._kept = (message, self.clock.now(), self._kept[2] + 1)
        self.news()

    def look(self) -> tuple[dict[str, Any] | None, float, int]:
        """Returns the message, its age and its number; None before the first message."""
        message, at, count = self._kept
        return message, max(self.clock.now() - at, 0.0), count

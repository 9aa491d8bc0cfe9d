"""The last message of a topic, and how old it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bt_runtime.tree.clock import RunClock


class Latest:
    """Heard in any thread, looked at by the tick. Its age is counted from when it came, by the run's clock."""

    def __init__(self, clock: RunClock, news: Callable[[], object]) -> None:
        self.clock, self.news = clock, news
        self._kept: tuple[dict[str, Any] | None, float, int] = (None, 0.0, 0)

    def hear(self, message: dict[str, Any]) -> None:
        self._kept = (message, self.clock.now(), self._kept[2] + 1)
        self.news()

    def look(self) -> tuple[dict[str, Any] | None, float, int]:
        """The message, its age, and which one it is; None before the first."""
        message, at, count = self._kept
        return message, max(self.clock.now() - at, 0.0), count

"""The last message of a topic, and its age."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bt_robots.ros.transport import LATCHED, SENSOR, USUAL, Qos
from bt_runtime.tree.clock import RunClock

NAMED = {"sensor": SENSOR, "latched": LATCHED, "usual": USUAL}


def qos_of(options: Mapping[str, Any]) -> Qos:
    """Returns the quality of service that a manifest names, by a word or by its parts; `latched: true` is kept for who
    comes later in any case."""
    asked = options.get("qos", "latched" if options.get("latched") else "usual")
    if isinstance(asked, str):
        found = NAMED[asked]
    else:
        reliable = asked.get("reliability", "reliable") == "reliable"
        found = Qos(reliable, asked.get("durability") == "transient_local", asked.get("depth", USUAL.depth))
    return found._replace(latched=True) if options.get("latched") else found


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

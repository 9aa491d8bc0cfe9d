"""Those who read a stream of news at this moment: how many, and waiting until there is none."""

from __future__ import annotations

import threading


class Readers:
    """Base of what viewers read. `_news` is notified whenever something for them has come about."""

    def __init__(self) -> None:
        self._news = threading.Condition()
        self.closed = False
        self.readers = 0

    def close(self) -> None:
        with self._news:
            self.closed = True
            self._news.notify_all()

    def enter(self) -> None:
        with self._news:
            self.readers += 1
            self._news.notify_all()

    def leave(self) -> None:
        with self._news:
            self.readers -= 1
            self._news.notify_all()

    def left(self, seconds: float) -> bool:
        """Waits until no viewer reads."""
        with self._news:
            return self._news.wait_for(lambda: not self.readers, seconds)

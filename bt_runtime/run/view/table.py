"""Streams a table to any number of viewers: each gets only the rows that changed since it last read."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from bt_runtime.run.view.event import Event
from bt_runtime.run.view.feed import FeedPart
from bt_runtime.run.view.readers import Readers
from bt_runtime.types import Json

MOST_GONE = 500  # removed rows that are remembered for readers who still show them
Row = Mapping[str, Json]


class Table(Readers):
    """Has the methods of a `Feed` that the server calls. Its size is bounded by its rows: no history is kept."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._rows: dict[str, tuple[int, Row]] = {}  # the last version of each row, and its content
        self._gone: dict[str, int] = {}
        self._version = self._first = 0
        super().__init__()
        self._now = now

    def put(self, rows: Mapping[str, Row], gone: tuple[str, ...] = ()) -> None:
        """Replaces rows. Equal rows do not count as changed."""
        with self._news:
            changed = {key: row for key, row in rows.items() if key not in self._rows or self._rows[key][1] != row}
            left = [key for key in gone if self._rows.pop(key, None) is not None]
            if not changed and not left:
                return
            self._version += 1
            for key in changed:
                self._gone.pop(key, None)
                self._rows[key] = self._version, changed[key]
            self._gone.update(dict.fromkeys(left, self._version))
            if len(self._gone) > MOST_GONE:
                self._gone, self._first = {}, self._version
            self._news.notify_all()

    def after(self, cursor: int | None, wait: float = 0.0) -> FeedPart:
        """Returns the rows that changed after the cursor; waits at most `wait` seconds for one."""
        with self._news:
            if wait and cursor == self._version and not self.closed:
                self._news.wait(wait)
            anew = cursor is None or not self._first <= cursor <= self._version
            since = -1 if cursor is None or anew else cursor
            rows: list[Event] = [{"k": "run", "id": key, **row} for key, (at, row) in self._rows.items() if at > since]
            gone: list[Event] = (
                [] if anew else [{"k": "gone", "id": key} for key, at in self._gone.items() if at > since]
            )
            events = [{"k": "now", "wall": self._now()}, *gone, *rows] if anew or rows or gone else []
            return FeedPart(events, self._version, anew, self.closed)

    def watched(self, seconds: float) -> bool:
        """Waits until a viewer reads."""
        with self._news:
            return self._news.wait_for(lambda: self.readers > 0 or self.closed, seconds)

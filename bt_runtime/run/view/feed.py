"""Streams events to any number of viewers, each at its own pace, from a bounded ring buffer. Events that have left
the ring are summed up in the keyframe. A viewer that is too slow, or joins late, starts with the keyframe."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from bt_runtime.run.view.event import Event
from bt_runtime.run.view.picture import PagePicture
from bt_runtime.run.view.plain import weight
from bt_runtime.run.view.readers import Readers

MOST = 20_000  # events that can be scrubbed
MOST_WEIGHT = 32_000_000  # characters of them, about
MESSAGE = 2_000_000  # characters of one message to a reader, about; what is left comes with the next


class FeedPart(NamedTuple):
    events: list[Event]
    cursor: int  # ask on from here
    anew: bool  # the reader drops what it had: these events start anew
    closed: bool  # no more events will come


class Feed(Readers):
    def __init__(self, events: Iterable[Event] = (), most: int | None = MOST) -> None:
        super().__init__()
        self._ring: deque[Event] = deque()
        self._weights: deque[int] = deque()
        self._weight = 0
        self._first = 0  # the number of the ring's first event
        self._before = PagePicture()
        self._most = most
        self._fills: tuple[Callable[[], None], ...] = ()
        self._fresh = False  # new events wait to be filled in
        self.keep: Callable[[Event], None] = lambda event: None  # sees every event, in order
        for event in events:
            self.put(event)

    def filled(self, fill: Callable[[], None]) -> Callable[[], None]:
        """Registers `fill`, which adds new events when a viewer reads; returns a function that ends that."""
        self._fills = (*self._fills, fill)

        def undo() -> None:
            fill()
            self._fills = tuple(each for each in self._fills if each is not fill)

        return undo

    def stir(self) -> None:
        """Wakes the waiting viewers, which then call the registered `fill`."""
        if self.readers and not self._fresh:
            with self._news:
                self._fresh = True
                self._news.notify_all()

    def _fill(self) -> None:
        self._fresh = False
        for fill in self._fills:
            fill()

    def put(self, *events: Event) -> None:
        weights = [weight(event) for event in events]
        with self._news:
            for event in events:
                self._ring.append(event)
                self.keep(event)
            self._weights.extend(weights)
            self._weight += sum(weights)
            if self._most is not None and len(self._ring) > self._most:
                self._fold(self._most // 10)
            while self._most is not None and self._weight > MOST_WEIGHT and len(self._ring) > 1:
                self._fold(1)
            self._news.notify_all()

    def _fold(self, count: int) -> None:
        """Moves the oldest events into the keyframe."""
        for _ in range(count):
            self._before.take(self._ring.popleft())
            self._weight -= self._weights.popleft()
            self._first += 1

    def close(self) -> None:
        self._fill()
        super().close()

    def after(self, cursor: int | None, wait: float = 0.0, most: int = 4000) -> FeedPart:
        """Returns the events after the cursor; waits at most `wait` seconds for one. Without a cursor, begins with the
        keyframe."""
        self._fill()
        if wait:
            with self._news:
                if cursor == self._first + len(self._ring) and not self.closed and not self._fresh:
                    self._news.wait(wait)
            self._fill()
        with self._news:
            last = self._first + len(self._ring)
            if cursor is None or not self._first <= cursor <= last:
                start = [*self._before.events()] if self._first else []
                part = self._part(0, most)
                at = self._first + len(part)
                return FeedPart([*start, *part], at, True, self.closed and at == last)
            events = self._part(cursor - self._first, most)
            return FeedPart(events, cursor + len(events), False, self.closed and cursor + len(events) == last)

    def picture(self) -> PagePicture:
        """Returns the current state."""
        self._fill()
        with self._news:
            events = [*self._before.events(), *self._ring]
        return PagePicture(events)

    def _part(self, start: int, most: int) -> list[Event]:
        found = self._some(start, most)
        if self._weight <= MESSAGE:
            return found
        left = MESSAGE
        for count, event in enumerate(found):
            left -= weight(event)
            if left < 0:
                return found[: count or 1]
        return found

    def _some(self, start: int, most: int) -> list[Event]:
        size = len(self._ring)
        if start == 0 and size <= most:
            return list(self._ring)
        if start * 2 > size:  # near the end, where readers are
            return [self._ring[i - size] for i in range(start, min(size, start + most))]
        return [self._ring[i] for i in range(start, min(size, start + most))]


class Latest:
    """The present picture of a feed, updated on demand."""

    def __init__(self, feed: Feed) -> None:
        self.feed, self.picture = feed, PagePicture()
        self.cursor: int | None = None
        self.closed = False

    def now(self, wait: float = 0.0) -> PagePicture:
        """Waits so many seconds for something new."""
        while True:
            part = self.feed.after(self.cursor, wait)
            if part.anew:
                self.picture = PagePicture()
            for event in part.events:
                self.picture.take(event)
            self.cursor, self.closed, wait = part.cursor, part.closed, 0.0
            if not part.events:
                return self.picture


def read_lines(path: Path) -> Iterable[Event]:
    """Reads events from JSON Lines; a last line that was cut off is ignored."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            try:
                event = json.loads(line)
            except json.JSONDecodeError:
                if line.endswith("\n"):
                    raise
                return
            yield event

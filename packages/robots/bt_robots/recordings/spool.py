"""Passes events from a run to an exporter: a thread of its own and a bounded queue. The run never waits for it. When
the queue is full, events are dropped, counted and reported."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress

from bt_runtime.journal.lines import Line, Say

MOST_LINES = 20_000  # most lines waiting to be written
MOST_SIZE = 32_000_000  # characters of their long texts
EVERY = 0.25  # seconds between two looks
PATIENCE = 5.0  # seconds that the end of a run waits for what is left


class Spool:
    """Calls `work` with lines in order, in the spool's thread; calls `end` there once, after the last line."""

    def __init__(self, name: str, work: Callable[[Sequence[Line]], None], end: Callable[[], None]) -> None:
        self.name, self.work, self.end = name, work, end
        self.say: Say = lambda what: None
        self.dropped = 0
        self._waiting: deque[tuple[Line, int]] = deque()
        self._size = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"bt-{name}", daemon=True)

    def begin(self, line: Line, say: Say) -> None:
        self.say = say
        self.take(line, 0)
        self._thread.start()

    def take(self, line: Line, size: int) -> None:
        if len(self._waiting) >= MOST_LINES or self._size + size > MOST_SIZE:
            self.dropped += 1
            if self.dropped == 1:
                self.say(f"{self.name} does not keep up: some of what this run does is left out there")
            return
        self._size += size
        self._waiting.append((line, size))

    def close(self) -> None:
        """Closes within a time limit; events not written by then are dropped."""
        self._over.set()
        self._thread.join(PATIENCE)
        left = self.dropped + (len(self._waiting) if self._thread.is_alive() else 0)
        if left:
            self.say(f"{self.name}: {left:,} entries were left out")

    def _run(self) -> None:
        try:
            while not self._over.wait(EVERY):
                self._drain()
            self._drain()
            self.end()
        except Exception as error:
            with suppress(Exception):
                self.end()
            self.say(f"{self.name} was given up: {type(error).__name__}: {error}")
            self.dropped += len(self._waiting)

    def _drain(self) -> None:
        taken = [self._waiting.popleft() for _ in range(len(self._waiting))]
        self._size -= sum(size for _, size in taken)
        self.work([line for line, _ in taken])

"""The batch under construction: rows for the journal's next commit, and the tickets that wait for it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from bt_runtime.journal import codec
from bt_runtime.journal.layout import LONGEST, Event, NodeRow
from bt_runtime.journal.store import Batch
from bt_runtime.journal.texts import Piece
from bt_runtime.types import Json


class Ticket:
    """Done once everything that was noted before it is on the disk, or cannot be: then `failed` says why."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self.wake, self._event = wake, threading.Event()
        self.failed = ""

    @property
    def done(self) -> bool:
        return self._event.is_set()

    def settle(self, failed: str = "") -> None:
        if not self.done:
            self.failed = failed
            self._event.set()
            self.wake()

    def wait(self, seconds: float) -> bool:
        """Waits for at most so many seconds; True when the batch was written by then."""
        return self._event.wait(seconds) and not self.failed


class Made:
    """A batch in the making."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.texts: list[Piece] = []
        self.ticks: list[tuple[int, float, str]] = []
        self.nodes: list[NodeRow] = []
        self.head: dict[str, str] = {}
        self.tickets: list[Ticket] = []
        self.durable = False
        self.tick = 0
        self.size = 0  # bytes, roughly

    @property
    def any(self) -> bool:
        return bool(self.events or self.texts or self.ticks or self.nodes or self.head)

    def forget(self) -> None:
        """Drops the batch's rows, which will never be written."""
        self.events, self.texts, self.ticks, self.nodes, self.head = [], [], [], [], {}

    def batch(self) -> Batch:
        return Batch(self.events, self.texts, self.ticks, self.nodes, self.head)


def bounded(body: dict[str, Json]) -> str:
    """Returns the body as text; replaces long values by a description when the text is too long."""
    text = codec.text(body)
    if len(text) <= LONGEST:
        return text
    sizes = {name: len(codec.text(value)) for name, value in body.items()}
    return codec.text(
        {n: v if sizes[n] < 1000 else {codec.TAG: "opaque", "v": f"{sizes[n]:,} characters"} for n, v in body.items()}
    )

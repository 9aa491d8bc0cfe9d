"""The thread that writes: the tick only appends to a list. Batches go out now and then, at once when asked."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from py_trees.common import Status

from bt_runtime.journal import codec
from bt_runtime.journal.layout import LONGEST, Event, NodeRow
from bt_runtime.journal.store import Batch, Store, safe
from bt_runtime.journal.texts import Piece, Texts
from bt_runtime.types import Json

EVERY = 0.25  # seconds between two batches, when nobody asks for one
LARGEST = 5000  # entries of one batch
LETTERS = {Status.INVALID: "I", Status.RUNNING: "R", Status.SUCCESS: "S", Status.FAILURE: "F"}
ALWAYS = frozenset({"graft", "halt", "halted", "result", "verdict", "closed", "full"})  # noted even when it is full
_CHECKED = 64  # batches between two looks at the file's size


class Ticket:
    """Done once everything that was noted before it is on the disk."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self.wake, self._event = wake, threading.Event()

    @property
    def done(self) -> bool:
        return self._event.is_set()

    def settle(self) -> None:
        self._event.set()
        self.wake()

    def wait(self, seconds: float) -> bool:
        return self._event.wait(seconds)


class Writer:
    def __init__(self, store: Store, texts: Texts, seq: int = 0, broke: Callable[[str], None] | None = None) -> None:
        self.store, self.texts, self.seq = store, texts, seq
        self.told = broke or (lambda why: None)
        self.queue: deque[tuple[Any, ...]] = deque()  # appended to by any thread, taken from by the one that writes
        self.wanted = threading.Event()
        self.broken = ""  # why nothing can be written any more
        self.is_full = False
        self.closing = False
        self.thread = threading.Thread(target=self._work, name="bt-journal", daemon=True)
        self.thread.start()

    # From the tick ---------------------------------------------------------------------------

    def event(self, tick: int, kind: str, body: dict[str, Json], texts: dict[str, str] | None = None) -> None:
        self.queue.append(("event", tick, time.time(), kind, body, texts))

    def changes(self, tick: int, changes: Any) -> None:
        self.queue.append(("changes", tick, time.time(), changes))

    def nodes(self, rows: list[NodeRow]) -> None:
        self.queue.append(("nodes", rows))

    def head(self, name: str, value: Json) -> None:
        self.queue.append(("head", name, codec.text(value)))

    def durable(self, wake: Callable[[], None] = lambda: None) -> Ticket:
        ticket = Ticket(wake)
        self.queue.append(("ticket", ticket))
        self.wanted.set()
        if self.broken or self.closing:
            ticket.settle()
        return ticket

    def soon(self) -> None:
        """A boundary: a decision was taken, an action has ended. Write it down now, and to the disk."""
        self.queue.append(("boundary",))
        self.wanted.set()

    def close(self) -> None:
        if self.closing:
            return
        self.closing = True
        self.wanted.set()
        self.thread.join()

    # In the thread ---------------------------------------------------------------------------

    def _work(self) -> None:
        while not self.closing:
            self.wanted.wait(EVERY)
            self.wanted.clear()
            self._flush()
            self._settle()
            if self.queue:
                self.wanted.set()
        while self.queue:
            self._flush()
        try:
            self.store.close()
        except Exception as error:
            self._break(error)

    def _flush(self) -> None:
        made = _Made()
        for _ in range(min(len(self.queue), LARGEST)):  # whoever notes faster than this writes keeps nobody waiting
            entry = self.queue.popleft()
            getattr(self, f"_{entry[0]}")(made, *entry[1:])
        try:
            if not self.broken and made.any:
                self.store.commit(made.batch(), made.durable)
                if self.store.written % _CHECKED == 0 and not self.is_full and self.store.full():
                    self.is_full = True
                    self.event(made.tick, "full", {"bytes": self.store.limits.bytes})
        except Exception as error:
            self._break(error)
        for ticket in made.tickets:
            ticket.settle()

    def _settle(self) -> None:
        try:
            if not self.broken:
                self.store.settle()
        except Exception as error:
            self._break(error)

    def _break(self, error: Exception) -> None:
        if not self.broken:
            self.broken = f"{type(error).__name__}: {error}"
            self.told(f"the journal {self.store.path} cannot be written: {error}; the run goes on without")

    def _event(
        self, made: _Made, tick: int, at: float, kind: str, body: dict[str, Json], texts: dict[str, str] | None
    ) -> None:
        made.tick = tick
        if self.is_full and kind not in ALWAYS:
            return
        for name, text in (texts or {}).items():
            number, piece = self.texts.add(safe(text) if len(text) < LONGEST else f"({len(text):,} characters)")
            body = {**body, name: {codec.TAG: "text", "v": number}}
            if piece is not None:
                made.texts.append(piece)
        self.seq += 1
        made.events.append(Event(self.seq, tick, at, kind, _bounded(body)))

    def _clock(self, made: _Made, tick: int, now: float) -> None:
        self._event(made, tick, time.time(), "clock", {"value": now}, None)

    def _changes(self, made: _Made, tick: int, at: float, changes: Any) -> None:
        text = " ".join([f"{node.seen_as}{LETTERS[status]}" for node, status in changes])
        made.ticks.append((tick, at, text))

    def _nodes(self, made: _Made, rows: list[NodeRow]) -> None:
        made.nodes += rows

    def _head(self, made: _Made, name: str, value: str) -> None:
        made.head[name] = value

    def _ticket(self, made: _Made, ticket: Ticket) -> None:
        made.tickets.append(ticket)
        made.durable = True

    def _boundary(self, made: _Made) -> None:
        made.durable = True


class _Made:
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

    @property
    def any(self) -> bool:
        return bool(self.events or self.texts or self.ticks or self.nodes or self.head)

    def batch(self) -> Batch:
        return Batch(self.events, self.texts, self.ticks, self.nodes, self.head)


def _bounded(body: dict[str, Json]) -> str:
    """As text; what is too long to be kept is described."""
    text = codec.text(body)
    if len(text) <= LONGEST:
        return text
    sizes = {name: len(codec.text(value)) for name, value in body.items()}
    return codec.text(
        {n: v if sizes[n] < 1000 else {codec.TAG: "opaque", "v": f"{sizes[n]:,} characters"} for n, v in body.items()}
    )

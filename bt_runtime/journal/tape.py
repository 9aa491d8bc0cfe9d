"""The tape records every answer from outside in order; a replayed run reads the tape instead.

A tree is deterministic except for outside answers: the time, a model's answers, a world's. All of them pass here."""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol

from bt_runtime.faults.diagnostic import BtError, TooLong
from bt_runtime.journal import codec
from bt_runtime.journal.layout import Event
from bt_runtime.journal.reading import Recording
from bt_runtime.journal.store import safe
from bt_runtime.journal.writer import Body, Writer
from bt_runtime.types import Json

_ASKED = "clock world ask answer begin done told seek found question reply open opened news stopped instant"
ASKED = frozenset(_ASKED.split())
OUTSIDE = frozenset({"write", "change", "halt", "late", "debug", "forked"})  # what others did, between two ticks
TAPED = ASKED | OUTSIDE
STANDING = frozenset({"resumed", "in doubt"})  # notes of what befell a process: no run that is made again makes them


class Difference(BaseException):
    """Raised when a replayed run differs from its recording. It is no Exception, so that no node can catch it."""

    def __init__(self, tick: int, what: str) -> None:
        super().__init__(f"tick {tick}: {what}")
        self.tick, self.what = tick, what


class Over(BaseException):
    """Raised at the end of a recording that cannot continue live."""


class Failed(BtError):
    """Raised in a replay for an outside failure that was recorded."""


class Counting(Protocol):
    """The counter of a run's ticks: its engine."""

    @property
    def count(self) -> int: ...


class Tape:
    """Records and replays answers. `writer` takes new entries; without a writer, the tape only replays."""

    def __init__(self, writer: Writer | None, recording: Recording | None = None) -> None:
        self.writer = writer
        self.recording = recording
        events: Iterable[Event] = recording.until_full() if recording else ()
        self.events = deque(in_order(e for e in events if e.kind in TAPED))
        self.told = Counter((e.tick, e.kind) for e in events if e.kind not in TAPED | STANDING)  # written already
        self.engine: Counting | None = None  # of the run, once it is recorded
        self.on_live: Callable[[], None] = lambda: None
        self.path: Path | None = None  # of the journal, once it is recorded
        self.broken = False  # a difference was found: what the halted nodes still ask has no meaning
        self.number = 0  # of the latest job

    def tick(self) -> int:
        """Returns the number of the present tick."""
        return self.engine.count if self.engine is not None else 0

    @property
    def live(self) -> bool:
        return not self.events

    @property
    def goes_on(self) -> bool:
        """True after the recorded part, when new questions go to the real world and models."""
        return self.live and self.writer is not None and not self.broken

    def next_number(self) -> int:
        self.number += 1
        return self.number

    # Answers ---------------------------------------------------------------------------------

    def take(self, kind: str, key: dict[str, Json]) -> dict[str, Json] | None:
        """The recorded entry, which must be this one; None when the tape has been played and the run goes on live."""
        if self.live:
            if self.writer is None:
                self.broken = True
                raise Over
            return None
        event, body = self._head()
        if event.kind != kind or event.tick != self.tick() or any(body.get(k) != v for k, v in key.items()):
            self._differ(kind, key, event, body)
        return self._pop(body)

    def answer(self, kind: str, number: int) -> dict[str, Json] | None:
        """The recorded answer to a job, if it is what comes next."""
        if self.live or self.broken:
            return None
        event, body = self._head()
        if event.kind != kind or event.tick != self.tick() or body["job"] != number:
            return None
        return self._pop(body)

    def _head(self) -> tuple[Event, dict[str, Json]]:
        assert self.recording is not None
        return self.events[0], self.recording.body(self.events[0])

    def _pop(self, body: dict[str, Json]) -> dict[str, Json]:
        self.events.popleft()
        if self.live:
            self.on_live()
        return body

    def _differ(self, kind: str, key: dict[str, Json], event: Event, body: dict[str, Json]) -> None:
        self.broken = True
        now, then = _shown(kind, key), _shown(event.kind, {k: body.get(k) for k in key} if event.kind == kind else body)
        where = "" if event.tick == self.tick() else f" at tick {event.tick}"
        raise Difference(self.tick(), f"the run comes to {now}; the recording has {then}{where}")

    # Between ticks ---------------------------------------------------------------------------

    def outside(self) -> tuple[Event, dict[str, Json]] | None:
        """Returns the next outside event due before the coming tick, such as another thread's write, or None."""
        if self.live or self.events[0].kind not in OUTSIDE or self.events[0].tick > self.tick():
            return None
        event, body = self._head()
        self._pop(body)
        return event, body

    # Writing ---------------------------------------------------------------------------------

    def note(self, kind: str, body: Body, texts: dict[str, str] | None = None) -> None:
        """Writes a note for the record. A replay repeats its notes; those already stored stay."""
        key = (self.tick(), kind)
        if self.told[key] > 0:
            self.told[key] -= 1
        elif self.writer is not None and not self.broken:
            self.writer.event(self.tick(), kind, body, texts)

    def put(
        self, kind: str, body: dict[str, Json], texts: dict[str, str] | None = None, tick: int | None = None
    ) -> None:
        if self.writer is not None and self.goes_on:
            self.writer.event(self.tick() if tick is None else tick, kind, body, texts)

    def boundary(self) -> None:
        if self.writer is not None:
            self.writer.flush_at_boundary()

    def call(
        self, kind: str, key: dict[str, Json], make: Callable[[], object], redo: Callable[[], object] | None = None
    ) -> Any:
        """Returns an immediate answer: the recorded one, or a new one, which it records. `redo` is called for a
        recorded one."""
        found = None if self.broken else self.take(kind, key)
        if found is not None:
            if redo is not None:
                redo()
            return result_of(found)
        try:
            value = make()
        except Exception as error:
            self.put(kind, {**key, **failure(error)})
            raise
        lines = as_lines(value)
        if lines is not None:
            self.put(kind, key, {"lines": lines})
        else:
            self.put(kind, {**key, "value": codec.plain(value)})
        return value


def in_order(events: Iterable[Event]) -> list[Event]:
    """Orders events by their time of effect: another thread's write may have been noted late."""
    keyed, latest = [], 0
    for event in events:
        if event.kind == "write":
            latest = int(json.loads(event.body)["order"])
        outside = event.kind in OUTSIDE
        keyed.append(((event.tick, outside, latest if outside else 0), event))
    return [event for _, event in sorted(keyed, key=lambda pair: pair[0])]


def as_lines(value: object) -> str | None:
    """A long list of sentences, as a text that is kept once."""
    if isinstance(value, list | tuple) and len(value) > 4 and set(map(type, value)) == {str}:
        joined = "\n".join(value)
        return safe(joined) if joined.count("\n") == len(value) - 1 else None
    return None


def failure(error: Exception) -> dict[str, Json]:
    message, hint = (error.message, error.hint) if isinstance(error, BtError) else (codec.shown(error), "")
    told: dict[str, Json] = {"error": message, "hint": hint, "type": type(error).__name__}
    return {**told, "measure": [error.tokens, error.limit]} if isinstance(error, TooLong) else told


def result_of(body: dict[str, Json]) -> Any:
    if "measure" in body:
        raise TooLong(body["error"], body["hint"], *body["measure"])
    if "error" in body:
        raise Failed(body["error"], body["hint"])
    if "lines" in body:
        return body["lines"].split("\n")
    return codec.full(body["value"])


def _shown(kind: str, body: dict[str, Json]) -> str:
    said = ", ".join(f"{k} {str(v)[-160:]!r}" for k, v in body.items() if k != "job")
    return f"`{kind}` ({said})" if said else f"`{kind}`"

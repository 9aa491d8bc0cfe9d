"""The tape records every answer from outside in order; a replayed run reads the tape instead.

A tree is deterministic except for outside answers: the time, a model's answers, a world's. All of them pass here."""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from bt_runtime.journal import codec
from bt_runtime.journal.layout import Event
from bt_runtime.journal.order import (
    AT_END,
    LISTENER,
    STANDING,
    STATE,
    WORLD,
    Caller,
    Inside,
    in_order,
    is_outside,
    is_taped,
    places,
)
from bt_runtime.journal.reading import Recording
from bt_runtime.journal.store import safe
from bt_runtime.journal.writer import Body, Writer
from bt_runtime.language.faults.diagnostic import BtError, TooLong, message_of
from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_runtime.tree.engine import Engine

T = TypeVar("T")
WRITES = "blackboard"  # a node's writes


class Difference(BaseException):
    """Raised when a replayed run differs from its recording. It is no Exception, so that no node can catch it."""

    def __init__(self, tick: int, what: str) -> None:
        super().__init__(f"tick {tick}: {what}")
        self.tick, self.what = tick, what


class Over(BaseException):
    """Raised at the end of a recording that cannot continue live."""


class Failed(BtError):
    """Raised in a replay for an outside failure that was recorded."""


class Tape:
    """Records and replays answers. `writer` takes new entries; without a writer, the tape only replays."""

    def __init__(self, writer: Writer | None, recording: Recording | None = None) -> None:
        self.writer = writer
        self.recording = recording
        events: Iterable[Event] = recording.until_full() if recording else ()
        taped = [e for e in events if is_taped(e) and not _known(e, recording)]
        notes = [e for e in events if not is_taped(e) and e.kind not in STANDING and e.kind != STATE]
        self.inside = places(taped, notes)  # number of an event → where it stands within its tick
        self.events = deque(in_order(taped))
        self.told = Counter((e.tick, e.kind) for e in notes)  # written already
        self.writes = deque(e for e in notes if e.kind == WRITES)
        self.noted = (0, 0)  # a tick, and how many of its notes were made again
        self.again: Callable[[str, dict[str, Json]], None] = lambda kind, body: None  # repeats a recorded change
        self.caller: Caller | None = None  # the caller whose call is being made
        self.unsure = False  # the record of an action may have been lost
        self.asked_first: set[str] = set()  # the actions that were looked at since, before they were begun
        self.engine: Engine | None = None  # the run's engine, once it is recorded
        self.on_live: Callable[[], None] = lambda: None
        self.path: Path | None = None  # the journal's file, once there is one
        self.broken = False  # a difference was found: what the halted nodes still ask has no meaning
        self.number = 0  # the latest job's number

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

    def may_be_done(self, sentence: str) -> bool:
        """True once for each action that may have been done without a record."""
        if not self.unsure or sentence in self.asked_first:
            return False
        self.asked_first.add(sentence)
        return True

    def was_begun(self, sentence: str) -> bool:
        """True when the recording has an action of these words."""
        return self.recording is not None and self.recording.was_begun(sentence)

    def next_number(self) -> int:
        self.number += 1
        return self.number

    # Answers ---------------------------------------------------------------------------------

    def take(self, kind: str, key: dict[str, Json]) -> dict[str, Json] | None:
        """The recorded entry, which must be this one; None when the tape has been played and the run goes on live."""
        while self._due() is not None:
            self._repeat()
        if self.live:
            if self.writer is None:
                self.broken = True
                raise Over
            return None
        event, body = self._head()
        if event.kind != kind or event.tick != self.tick() or any(body.get(k) != v for k, v in key.items()):
            self._differ(kind, key, event, body)
        return self._answered(body)

    def answer(self, kind: str, number: int) -> dict[str, Json] | None:
        """The recorded answer to a job, if it is what comes next."""
        if self.live or self.broken:
            return None
        if self.inside:
            self._reach(kind, number)
            if self.live:
                return None
        event, body = self._head()
        if event.kind != kind or event.tick != self.tick() or body["job"] != number:
            return None
        return self._answered(body)

    def _answered(self, body: dict[str, Json]) -> dict[str, Json]:
        self._pop()
        self._listened()
        return body

    def _head(self) -> tuple[Event, dict[str, Json]]:
        assert self.recording is not None
        return self.events[0], self.recording.body(self.events[0])

    def _pop(self, at: int = 0) -> None:
        del self.events[at]
        if self.live:
            self.on_live()

    def _differ(self, kind: str, key: dict[str, Json], event: Event, body: dict[str, Json]) -> None:
        self.broken = True
        now, then = _shown(kind, key), _shown(event.kind, {k: body.get(k) for k in key} if event.kind == kind else body)
        where = "" if event.tick == self.tick() else f" at tick {event.tick}"
        raise Difference(self.tick(), f"the run comes to {now}; the recording has {then}{where}")

    # Within a tick ---------------------------------------------------------------------------

    def calling(self, number: int, call: str, made: Callable[..., T], /, *args: Any, **named: Any) -> T:
        """Calls code of a skill, a model or a world: what it does to the run, no node will do again."""
        before, self.caller = self.caller, (number, call)
        try:
            return made(*args, **named)
        finally:
            self.caller = before

    def called(self, number: int, call: str) -> None:
        """Repeats what such a call has done to the run."""
        while self.inside and (due := self._due()) is not None and due.caller == (number, call):
            self._repeat()

    def end_stepping(self) -> None:
        """Repeats what is left of this tick, at the latest before the changes of shape are made."""
        while self._due(end=True) is not None:
            self._repeat()
        if not self.broken and self.events and self.writes and self.writes[0].tick < self.tick():
            self._differ_in_writing(None, self.writes[0])

    def _due(self, end: bool = False) -> Inside | None:
        """Returns where the next event was made, if it is a change made within this tick."""
        if not self.inside or self.broken or not self.events or self.events[0].tick != self.tick():
            return None
        found = self.inside.get(self.events[0].seq)
        return found if found is not None and (end or found.caller != AT_END) else None

    def _repeat(self) -> None:
        event, body = self._head()
        self._pop()
        self.calling(*LISTENER, self.again, event.kind, body)

    def _reach(self, kind: str, number: int) -> None:
        """Repeats the changes before the answer to a job, when that is what comes next."""
        event = next((e for e in self.events if e.seq not in self.inside), None)
        if event is None or (event.kind, event.tick) != (kind, self.tick()) or self.recording is None:
            return
        if self.recording.body(event)["job"] == number:
            while self._due() is not None:
                self._repeat()

    def _listened(self) -> None:
        """Repeats what listeners did after as many notes as have been made."""
        made = self.noted[1] if self.noted[0] == self.tick() else 0
        while (due := self._due()) is not None and due.caller == LISTENER and due.notes <= made:
            self._repeat()

    def _compare(self, kind: str, body: Body) -> None:
        """Compares what a node writes with what it wrote."""
        if kind != WRITES or not self.writes or self.broken:
            return
        event = self.writes.popleft()
        if event.tick != self.tick() or not (callable(body) or _as_written(body, event.body)):
            self._differ_in_writing(None if callable(body) else body, event)

    def _differ_in_writing(self, body: dict[str, Json] | None, event: Event) -> None:
        now = "the run does not write it" if body is None else f"the run writes {_shown(WRITES, body)}"
        self.broken = True
        then = _shown(WRITES, json.loads(event.body))
        raise Difference(self.tick(), f"{now}; the recording has {then} at tick {event.tick}")

    # Between ticks ---------------------------------------------------------------------------

    def outside(self) -> tuple[Event, dict[str, Json]] | None:
        """Returns the next outside event due before the coming tick, such as another thread's write, or None.

        What is asked between two ticks, a halt has asked, as by a `finally`: it comes first."""
        now, at = self.tick(), 0
        while at < len(self.events) and self.events[at].tick <= now:
            event = self.events[at]
            if is_outside(event, self.inside):
                self._pop(at)
                assert self.recording is not None
                return event, self.recording.body(event)
            at += 1
        return None

    # Writing ---------------------------------------------------------------------------------

    def note(self, kind: str, body: Body, texts: dict[str, str] | None = None) -> None:
        """Writes a note for the record. A replay repeats its notes; those already stored stay."""
        if self.told and self.told[key := (self.tick(), kind)] > 0:
            self.told[key] -= 1
            self._compare(kind, body)
            if self.inside:
                self.noted = (key[0], self.noted[1] + 1 if self.noted[0] == key[0] else 1)
                self._listened()
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
                self.calling(*WORLD, redo)
            return result_of(found)
        try:
            value = self.calling(*WORLD, make)
        except Exception as error:
            self.put(kind, {**key, **failure(error)})
            raise
        lines = as_lines(value)
        if lines is not None:
            self.put(kind, key, {"lines": lines})
        else:
            self.put(kind, {**key, "value": codec.plain(value)})
        return value


def _known(event: Event, recording: Recording | None) -> bool:
    """True for what others wrote before the kept state that the reading begins with, and noted after it."""
    if event.kind not in ("write", "unset") or recording is None or recording.begins is None:
        return False
    order = recording.body(event).get("order")
    return order is not None and order <= recording.begins.body["board"][0]


def as_lines(value: object) -> str | None:
    """A long list of sentences, as a text that is kept once."""
    if isinstance(value, list | tuple) and len(value) > 4 and set(map(type, value)) == {str}:
        joined = "\n".join(value)
        return safe(joined) if joined.count("\n") == len(value) - 1 else None
    return None


def failure(error: Exception) -> dict[str, Json]:
    """Words an exception as a live run does, so that a replayed one has the same message."""
    hint = error.hint if isinstance(error, BtError) else ""
    told: dict[str, Json] = {"error": message_of(error), "hint": hint, "type": type(error).__name__}
    return {**told, "measure": [error.tokens, error.limit]} if isinstance(error, TooLong) else told


def result_of(body: dict[str, Json]) -> Any:
    if "measure" in body:
        raise TooLong(body["error"], body["hint"], *body["measure"])
    if "error" in body:
        raise Failed(body["error"], body["hint"])
    if "lines" in body:
        return body["lines"].split("\n")
    return codec.full(body["value"])


def _as_written(body: dict[str, Json], text: str) -> bool:
    """Compares what a node writes. A value that the journal only describes equals any other."""
    if codec.text(body) == text:
        return True
    then = json.loads(text)
    return '"opaque"' in text and all(body[name] == then.get(name) for name in ("scope", "name"))


def _shown(kind: str, body: dict[str, Json]) -> str:
    said = ", ".join(f"{k} {str(v)[-160:]!r}" for k, v in body.items() if k != "job")
    return f"`{kind}` ({said})" if said else f"`{kind}`"

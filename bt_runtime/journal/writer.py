"""The writing thread: the tick only appends to a list. Batches are written now and then, or at once on request.

Failed batches are kept and retried; the journal's policy decides about waiters."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import cast

from bt_runtime.events import Tick
from bt_runtime.journal import codec, layout, opening
from bt_runtime.journal.layout import LONGEST, Event, NodeRow, Texts
from bt_runtime.journal.lines import Following, Nowhere
from bt_runtime.journal.order import STATE
from bt_runtime.journal.outage import (
    BEST_EFFORT,
    POLICIES,
    WAITING,
    FailureMarker,
    Outage,
    Overtaken,
    Unwritable,
    WriteFailure,
    full,
)
from bt_runtime.journal.store import JournalStore, RowBatch, Ticket, bounded, safe
from bt_runtime.language.faults.diagnostic import message_of
from bt_runtime.tree.clock import Alarm
from bt_runtime.tree.describe.census import feedback, statuses
from bt_runtime.types import Json

Queued = tuple[int, Callable[..., None], *tuple[object, ...]]  # bytes, roughly; what makes rows of an entry; the entry
Body = dict[str, Json] | Callable[[], dict[str, Json]]  # a function makes it in the writing thread
EVERY = 0.25  # seconds between two batches, when nobody asks for one
QUIET = 1.0  # … while nothing happens in the tree: what then waits are the times of ticks
FEW = 1000  # … and not more of them
LARGEST = 2**20  # bytes of one batch, roughly
ALWAYS = frozenset(
    {"graft", "halt", "halted", "result", "verdict", "closed", "full", "shape"}
)  # noted even when it is full
LAST = frozenset({"verdict", "closed"})  # … and when even that has become too much
TOO_MUCH = 1.25  # times the size limit, from which on only LAST is noted
BEHIND = 64  # entries still to be written, beyond which ticks leave it a moment while somebody waits for the disk
MOMENT = 0.0005  # seconds
ROOM = 2**20  # bytes still to be written, beyond which the next tick waits until half of them are …
MOST_WAIT = 0.01  # … or for so many seconds
SLOWED = 0.1  # seconds that ticks waited in all, from which on the run's log tells of it
LATER = 500  # bytes that an entry may come to that is made in the writing thread, roughly
_ROW = 200  # bytes that an entry takes in memory besides its text, roughly
_CHECKED = 64  # batches between two looks at the file's size
_PART = 1 / 32  # … or so much of its limit: a program that ticks without a pause makes large batches

elsewhere: Callable[[Path, Callable[[], bool]], str] | None = None  # "" once another place has it too; see `_copied`


class Writer:
    def __init__(
        self, store: JournalStore, texts: Texts, seq: int = 0, told: Callable[[str], None] | None = None,
        policy: str = POLICIES[0], following: Following | None = None, stop: Callable[[str], None] | None = None,
    ) -> None:  # fmt: skip
        """`stop` ends the run when another process has continued it."""
        self.stop = stop or (lambda why: None)
        self.following = following or Following(lambda what: None)
        self.store, self.texts, self.seq, self.policy = store, texts, seq, policy
        self.told = told or (lambda what: None)
        self.queue: deque[Queued] = deque()  # appended to by any thread, taken from by the one that writes
        self.noted = self.taken = 0  # bytes that were ever put into the queue, and taken from it
        self.slowed = 0.0  # seconds that ticks have waited
        self.waiting: deque[RowBatch] = deque()  # rows not yet written, in order
        self.trouble: Outage | None = None
        self.latest: Ticket | None = None  # the latest ticket that was asked for
        self.mark = FailureMarker(store.path if not isinstance(store, Nowhere) else None)
        self.tick, self.ended = 0, ""  # the last tick of which something was written; how the run ended
        self.wanted = Alarm()
        self.broken = ""  # why nothing can be written any more
        self.lost = ""  # why the thread has ended before its time
        self.is_full = self.is_shut = False
        self.wrote, self.stirred = 0.0, True  # moment of the last write; more than tick times noted since
        self.unlooked = 0  # bytes written since the last look at the file's size, roughly
        self.flooded = False  # did more come than is kept
        self.closing = self.careful = False  # careful: did an action begin or end since `elsewhere` was last asked
        self.thread = threading.Thread(target=self._run, name="bt-journal", daemon=True)
        self.thread.start()

    # From the tick ---------------------------------------------------------------------------

    def event(self, tick: int, kind: str, body: Body, texts: dict[str, str] | None = None) -> None:
        """Notes an event as text at once: what waits for the disk holds no nodes, and burdens no garbage collector."""
        following, found = self.following, cast("Body | str", body)
        size = sum(map(len, texts.values())) if texts else 0
        if following.all or body.__class__ is not dict:
            size += LATER
        else:
            found = written(kind, body)
            size += len(found)
        now = following.now() if following.all else None
        self._note(size, Writer._event, tick, layout.wall_time(), kind, found, texts, now)
        self.stirred = True  # after it: what is not seen now is seen at the next look

    def clock(self, tick: int, now: float) -> None:
        """Notes the time of a tick. It is so frequent that it is written only with another entry."""
        self._note(0, Writer._clock, tick, layout.wall_time(), float(now))

    def changes(self, tick: Tick) -> None:
        text = layout.changes_text(statuses(tick), feedback(tick))
        self._note(len(text), Writer._changes, tick.number, layout.wall_time(), text, self.following.now())
        self.stirred = True

    def nodes(self, rows: list[NodeRow]) -> None:
        self._note(len(rows) * _ROW, Writer._nodes, rows)
        self.stirred = True

    def head(self, name: str, value: Json) -> None:
        self._note(0, Writer._head, name, codec.text(value))
        self.stirred = True

    def _note(self, size: int, write: Callable[..., None], *entry: object) -> None:
        """Puts an entry into the queue. Nothing may follow a gap: when more waits than is kept, it is the last one."""
        if self.noted - self.taken > WAITING:
            if self.flooded:
                return
            self.flooded, write, entry = True, Writer._flood, ()
        size += _ROW
        self.noted += size
        self.queue.append((size, write, *entry))

    def durable(self, wake: Callable[[], None] = lambda: None) -> Ticket:
        ticket = self.latest = Ticket(wake)
        self.queue.append((0, Writer._ticket, ticket))
        self.wanted.set()
        if self.closing or self.lost:
            ticket.settle(self.lost or "the journal is closed")
        return ticket

    def flush_at_boundary(self) -> None:
        """Requests a write and sync at a boundary: after a decision, or an action's end.

        Repeated requests merge into one and never block the caller."""
        with suppress(IndexError):  # the one that writes has just taken it
            if self.queue[-1][1] is Writer._boundary:
                return
        self.queue.append((0, Writer._boundary))
        self.wanted.set()

    def keep_up(self) -> None:
        """Slows a program between two ticks that notes more than this thread can write."""
        if self.noted - self.taken > ROOM:
            self._slow()
        elif len(self.queue) > BEHIND and self.latest is not None and not (self.latest.done or self.closing):
            time.sleep(MOMENT)

    def _slow(self) -> None:
        start = now = time.monotonic()
        self.wanted.set()
        while self.noted - self.taken > ROOM // 2 and now < start + MOST_WAIT and self.thread.is_alive():
            time.sleep(MOMENT)
            now = time.monotonic()
        if self.slowed < SLOWED <= self.slowed + now - start:
            why = f"more is noted than {self.store.path.name} takes"
            self.told(f"ticks wait for the journal, each {MOST_WAIT * 1000:g} ms at most: {why}")
        self.slowed += now - start

    def close(self) -> None:
        if self.closing:
            return
        self.closing = True
        self.wanted.set()
        self.thread.join()

    # In the thread ---------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._work()
        except BaseException as error:  # no defect here may leave a skill waiting for its record
            self._died(error)

    def _died(self, error: BaseException) -> None:
        self.lost = self.broken = self.broken or f"its thread ended: {message_of(error)}"
        with suppress(Exception):
            self.told(f"the journal {self.store.path} ends at tick {self.tick}: {self.broken}")
        with suppress(Exception):
            self._say()
        for ticket in [t for made in self.waiting for t in made.tickets]:
            ticket.settle(self.lost)
        while self.queue:
            entry = self.queue.popleft()
            for each in entry[2:]:
                if isinstance(each, Ticket):
                    each.settle(self.lost)
        for close in (self.store.close, self.mark.close, self.following.close):
            with suppress(Exception):
                close()

    def _work(self) -> None:
        while not self.closing:
            self.wanted.wait(EVERY)
            if self.wanted.is_set() or not self._quiet():
                self.wanted.clear()
                self.stirred, self.wrote = False, time.monotonic()
                self._flush()
            if not self.broken and self.trouble is None:
                with suppress(sqlite3.Error):  # committed rows stay in the log
                    self.store.settle()
            if self.queue:
                self.wanted.set()
        while self.queue:
            self._flush()
        while self.waiting and self.trouble is not None and self.trouble.locked and not self.trouble.over:
            self.wanted.clear()
            self.wanted.wait(EVERY)  # whoever holds it will let go; a full disk stays full
            self._write()
        if self.waiting:
            self._write(now=True)
        self._end()

    def _quiet(self) -> bool:
        """True when there is nothing to write, or so little that it can wait."""
        if self.trouble is not None or self.following.all or time.monotonic() - self.wrote >= QUIET:
            return False
        return not self.stirred and len(self.queue) < FEW

    def _end(self) -> None:
        if self.waiting and self.trouble is not None:
            self._give_up(self.trouble)
            self._answer(self.trouble)
        try:
            self.store.close()
        except Overtaken:
            pass  # the fault is told already
        except Exception as error:
            self.told(f"the journal {self.store.path} could not be closed: {error}; what was written is in it")
        if self.broken:
            self._say()
        self.mark.close(ours=self.trouble is None or not self.trouble.taken)
        self.following.close()

    def _flush(self) -> None:
        made = RowBatch()
        while self.queue and made.size < LARGEST:  # whoever notes faster than this writes keeps nobody waiting
            size, write, *given = self.queue.popleft()
            try:
                write(self, made, *given)
            except Exception as error:
                self._keep(made)
                self._unwritable(write.__name__.lstrip("_"), error)
                made = RowBatch()
            self.taken += size
            made.size += size
        self._keep(made)
        self._write()

    def _keep(self, made: RowBatch) -> None:
        if made.any or made.tickets:
            self.waiting.append(made)

    def _unwritable(self, what: str, error: Exception) -> None:
        """Writes the notes before an unwritable one, then stops: nothing may follow a gap."""
        self._write(now=True)
        if not self.broken:
            self._failed(Unwritable(f"`{what}` has no form that can be written: {message_of(error)}"))
            self._write()

    def _write(self, now: bool = False) -> None:
        if not self.broken and (now or self.trouble is None or self.trouble.due):
            try:
                while self.waiting:
                    self._put(self.waiting[0])
                self._well()
            except Exception as error:
                self._failed(error)
        if self.trouble is not None:
            self._answer(self.trouble)

    def _put(self, made: RowBatch) -> None:
        self.store.check()
        if made.any:
            self._commit(made, made.durable)
        if made.durable:
            self.store.sync()
            self.mark.reached(self.store.end.events)
        self.waiting.popleft()
        self.tick = max(self.tick, made.tick)
        why = self._copied(made)
        for ticket in made.tickets:
            ticket.settle(why)
        self.unlooked += made.size
        if self.store.written % _CHECKED == 0 or self.unlooked > _PART * self.store.limits.bytes:
            self.unlooked = 0
            self._look_at_size(made.tick)

    def _copied(self, made: RowBatch) -> str:
        """Waits until another place has what actions wait for; returns why it never will, and they may not begin."""
        self.careful = self.careful or any(event.kind in ("begin", "done") for event in made.events)
        asks = elsewhere if made.tickets and self.careful else None
        self.careful = bool(why := asks(self.store.path, lambda: self.closing) if asks else "")
        return why

    def _look_at_size(self, tick: int) -> None:
        if not self.is_full and self.store.full():
            self.is_full = True
            self.event(tick, "full", {"bytes": self.store.limits.bytes})
        elif self.is_full and not self.is_shut:
            self.is_shut = self.store.bytes() > TOO_MUCH * self.store.limits.bytes

    def _commit(self, batch: RowBatch, durable: bool) -> None:
        try:
            self.store.commit(batch, durable)
        except sqlite3.Error as error:
            if not full(error):
                raise
            self.store.make_room()
            self.store.commit(batch, durable)

    # When it cannot --------------------------------------------------------------------------

    def _failed(self, error: Exception) -> None:
        if self.trouble is None:
            self.trouble = Outage(error, self.store.limits.patience)
            if not isinstance(error, Unwritable):
                then = (
                    "the run goes on without" if self.policy == BEST_EFFORT else "skills that may not be repeated wait"
                )
                self.told(f"the journal {self.store.path} cannot be written: {error}; {then}")
        else:
            self.trouble.met(error)
        if self.trouble.final or sum(made.size for made in self.waiting) > WAITING:
            self._give_up(self.trouble)
        self._say()

    def _well(self) -> None:
        if self.trouble is not None:
            self.trouble = None
            self.told(f"the journal {self.store.path} can be written again: nothing is missing in it")
        if self.mark.said is not None and self.store.written:
            self.mark.say(None)

    def _give_up(self, trouble: Outage) -> None:
        """Gives up: the missing notes stay missing, and nothing may be written after them."""
        self.broken, trouble.final = trouble.why, True
        self.told(f"the journal {self.store.path} ends at tick {self.tick}: {trouble.why}")
        for made in self.waiting:
            made.forget()
        if trouble.taken:
            self.stop(trouble.why)

    def _say(self, careful: bool = False) -> bool:
        """Writes the failure marker beside the journal for its readers."""
        careful = careful or (self.mark.said is not None and self.mark.said.careful)
        if self.trouble is not None and self.trouble.taken:
            return False  # the files beside the journal are another process's
        why = self.trouble.why if self.trouble is not None else self.broken
        return self.mark.say(WriteFailure(self.tick, why, careful, self.ended, bool(self.broken)))

    def _answer(self, trouble: Outage) -> None:
        """Answers the waiters that have waited long enough for the disk."""
        tickets = [ticket for made in self.waiting for ticket in made.tickets]
        best = self.policy == BEST_EFFORT and not trouble.taken and (trouble.over or not trouble.locked)
        if tickets and (best or trouble.over):
            failed = "" if best and self._say(careful=True) else f"the journal cannot be written: {trouble.why}"
            for ticket in tickets:
                ticket.settle(failed)
            for made in self.waiting:
                made.tickets.clear()
        if self.mark.said is not None and self.mark.said.ended != self.ended:
            self._say()
        if self.broken:
            self.waiting.clear()

    # What there is to write ------------------------------------------------------------------

    def _event(
        self, made: RowBatch, tick: int, at: float, kind: str, found: Body | str, texts: dict[str, str] | None,
        now: float | None,
    ) -> None:  # fmt: skip
        made.tick = tick
        if texts or found.__class__ is not str or self.following.all:
            found = self._body(made, (tick, at, now, kind), found, texts or {})
        if kind in ("result", "ask", "begin", "halt"):
            self.ended = opening.status_of(found) if kind == "result" else ""
        if self.is_full and kind not in (LAST if self.is_shut else ALWAYS):
            return
        self.seq += 1
        made.events.append(Event(self.seq, tick, at, kind, found))

    def _clock(self, made: RowBatch, tick: int, at: float, now: float) -> None:
        self._event(made, tick, at, "clock", f'{{"value":{now!r}}}', None, None)

    def _body(
        self, made: RowBatch, about: tuple[int, float, float | None, str], found: Body | str, texts: dict[str, str]
    ) -> str:
        """Completes the text of an entry: one that the tick has not made, or that has long texts beside it."""
        kind, told = about[3], found
        if self.following.all and kind != STATE:
            told = opening.decoded(found) if isinstance(found, str) else found() if callable(found) else found
            self.following.event(*about, {**opening.writable(kind, told), **texts}, sum(map(len, texts.values())))
        if self.is_full and kind not in ALWAYS:
            return ""  # the journal is not written
        body = told if isinstance(told, str) else written(kind, told() if callable(told) else told)
        for name, text in texts.items():
            number, piece = self.texts.add(safe(text) if len(text) < LONGEST else f"({len(text):,} characters)")
            body = f'{body[:-1]}{"," if len(body) > 2 else ""}"{name}":{{"{codec.TAG}":"text","v":{number}}}}}'
            if piece is not None:
                made.texts.append(piece)
        return body

    def _changes(self, made: RowBatch, tick: int, at: float, text: str, now: float | None = None) -> None:
        self.following.changes(tick, at, now, text)
        made.ticks.append((tick, at, text))
        made.tick = max(made.tick, tick)

    def _nodes(self, made: RowBatch, rows: list[NodeRow]) -> None:
        self.following.nodes(rows)
        if not self.is_shut:
            made.nodes += rows

    def _head(self, made: RowBatch, name: str, value: str) -> None:
        made.head[name] = value

    def _ticket(self, made: RowBatch, ticket: Ticket) -> None:
        made.tickets.append(ticket)
        made.durable = True

    def _boundary(self, made: RowBatch) -> None:
        made.durable = True

    def _flood(self, made: RowBatch) -> None:
        raise OverflowError(f"more than {WAITING // 2**20} MB wait to be written")


def written(kind: str, body: dict[str, Json]) -> str:
    """Returns the text of an entry."""
    return bounded(opening.writable(kind, body))

"""Reads a journal up to its first damage, and says where and why it is damaged."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bt_runtime.journal import folder, opening, outage
from bt_runtime.journal.behind import Behind, behind
from bt_runtime.journal.layout import (
    DEPTH,
    LONGEST,
    STATUS,
    End,
    Event,
    NodeRow,
    TextPiece,
    TickRow,
    Whole,
    changes_of,
    checksum,
)
from bt_runtime.journal.order import STATE
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.types import Json

DECIDED = ("answer", "done", "result")  # a decision or an action is whole once this is there
MOST_TOLD = 2**28  # characters that the texts of one journal may come to when all of them are told


class KeptState(NamedTuple):
    """A state that a run has kept in its journal, and its place among the events."""

    seq: int
    tick: int
    sum: int
    body: dict[str, Json]


class Recording:
    """The recording of one run. `damage` describes damage, "" without any; `torn`: events are missing too, and `behind`
    tells what is known of them. `held`: the reader holds the journal's lock, so that nobody writes it."""

    head: dict[str, Json]  # texts, settings and versions that the run was made of
    end: End
    events: list[Event]
    ticks: dict[int, TickRow]
    nodes: list[NodeRow]
    texts: Whole
    sum: int  # the chained checksum of the last event
    begins: KeptState | None = None  # the kept state from which reading begins, if not the run's beginning

    def __init__(self, path: Path, held: bool = False, near: float = 0) -> None:
        """`near`: reads on from the latest state that the run has kept before this tick, if there is one and no damage
        after it."""
        self.path, self.held, self.near = path, held, near
        self._read()
        if self.damage and self._live:
            self._read()  # read again: the run wrote while we began
        if self.damage and self.begins is not None:
            self.near = 0
            self._read()  # what is whole before the damage is told from the beginning on
        if self.torn:
            self._to_last_whole_decision()

    # What it says ----------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return str(self.head["name"])

    @property
    def count(self) -> int:
        """Returns the number of all events, those before a kept state included."""
        return len(self.events) + (self.begins.seq if self.begins is not None else 0)

    @property
    def last_tick(self) -> int:
        latest = self.events[-1].tick if self.events else self.begins.tick if self.begins is not None else 0
        return max(latest, max(self.ticks, default=0))

    @property
    def full(self) -> bool:
        return any(e.kind == "full" for e in self.events)

    def until_full(self) -> list[Event]:
        """Returns the events before the journal reached its size limit, which have no gaps."""
        end = next((i for i, e in enumerate(self.events) if e.kind == "full"), len(self.events))
        return self.events[:end]

    @property
    def result(self) -> str:
        """SUCCESS or FAILURE when the root has ended and nothing followed; else ""."""
        for event in reversed(self.events):
            if event.kind == "result":
                status = str(self.body(event)["status"])
                return "" if status == "INVALID" else status  # one that was skipped has no result, and may be ticked on
            if event.kind in ("ask", "begin", "halt"):
                return ""
        return ""

    @property
    def verdict(self) -> tuple[int, int] | None:
        found = next((e for e in reversed(self.events) if e.kind == "verdict"), None)
        if found is None:
            return None
        body = self.body(found)
        return int(body["met"]), int(body["total"])

    def body(self, event: Event) -> dict[str, Json]:
        """Returns an event's content with its texts filled in."""
        found: dict[str, Json] = opening.decoded(event.body)
        for name, number in _references(event, found):
            found[name] = self.texts[number]
        return found

    def of(self, *kinds: str) -> Iterator[tuple[Event, dict[str, Json]]]:
        """Yields the events of these kinds with their bodies; raises BtError when the bodies are too large."""
        if sum(count for kind, count in self.lengths.items() if not kinds or kind in kinds) > MOST_TOLD:
            why = f"the texts of {self.name} come to more than {MOST_TOLD // 2**20} million characters"
            raise BtError(why, "`btr runs show` tells its story without them")
        for event in self.events:
            if not kinds or event.kind in kinds:
                yield event, self.body(event)

    def length(self, event: Event) -> int:
        """Returns the total length of an event's texts."""
        if _REFERENCE not in event.body:
            return 0
        return sum(self.texts.lengths[number] for _, number in _references(event, opening.decoded(event.body)))

    def paths(self) -> dict[int, str]:
        """Returns each node's path, by its number."""
        return {row.number: row.path for row in self.nodes}

    def changes(self, tick: int) -> list[tuple[int, str]]:
        """Returns (node, status) in order, without resets; old ticks may have been dropped."""
        statuses, _ = changes_of(self.ticks[tick].changes if tick in self.ticks else "")
        return [(number, STATUS[letter]) for number, letter in statuses if letter in STATUS]

    def keep(self, count: int) -> None:
        """Keeps the first `count` events, and drops status changes of later ticks."""
        self.events = self.events[:count]
        self.sum = self.begins.sum if self.begins is not None else 0
        for event in self.events:
            self.sum = checksum(event, self.sum)

    # Reading ---------------------------------------------------------------------------------

    @property
    def _live(self) -> bool:
        """True while another process writes it."""
        return not self.held and folder.is_live(self.path)

    def _read(self) -> None:
        self.damage, self.torn, self.behind = "", False, Behind()
        self.events, self.nodes, self.ticks, self.sum = [], [], {}, 0
        self.lengths: Counter[str] = Counter()  # kind → characters of its events' texts
        self.texts = Whole()
        self.latest = TickRow(-1, 0.0, "")
        with opening.opened(self.path) as connection:
            self.head, end = opening.head_of(self.path, connection)
            self._say_end(end)
            self.begins = self._nearest(connection) if self.near else None
            if self.begins is not None:
                self.sum = self.begins.sum
            self._add(connection)
            missing = self._missing() if not self.damage and not self._live else ""
            if missing:
                self.damage, self.torn = missing, True
            if self.torn:
                newest = outage.read(self.path).events
                self.behind = behind(connection, self.events, newest or (0 if missing else self.end.events))

    def _missing(self) -> str:
        """Why rows are missing at the end, though those that are there fit together; "" when they are not."""
        if missing := outage.missing(self.path, self.count):
            return missing
        if self.end.open and not Path(f"{self.path}-wal").exists() and not self._broke_off():
            return f"it was not closed, and {self.path.name}-wal is not beside it: what came last is missing"
        return ""

    def _broke_off(self) -> bool:
        """True when writing failed early and the journal is complete up to the tick that the failure marker names."""
        broken = outage.marked(self.path)
        return broken is not None and broken != outage.UNREADABLE and self.last_tick >= broken.tick

    def more(self) -> tuple[list[Event], list[TickRow]]:
        """Reads the rows that a live run has written since the last call."""
        with opening.opened(self.path) as connection:
            row = connection.execute("SELECT value FROM head WHERE name = 'end'").fetchone()
            self._say_end(opening.decoded(row[0]) if row is not None else None)
            events, tick = len(self.events), self.latest.tick
            self._add(connection)
        return self.events[events:], [row for number, row in self.ticks.items() if number > tick]

    def _say_end(self, found: Json) -> None:
        try:
            self.end = End.of(found)
        except ValueError as error:
            self.end, self.damage, self.torn = End(), str(error), True

    def _add(self, connection: sqlite3.Connection) -> None:
        """Reads all tables at one moment, each up to its first damage."""
        for part in (self._read_texts, self._read_events, self._read_nodes, self._read_ticks):
            try:
                part(connection)
                continue
            except opening.InvalidEntry as error:
                self.damage = self.damage or str(error)
            except (sqlite3.Error, ValueError, TypeError, OverflowError) as error:
                self.damage = self.damage or f"it cannot be read on: {error}"
            self.torn = self.torn or part == self._read_events

    def _nearest(self, connection: sqlite3.Connection) -> KeptState | None:
        """Finds the latest kept state, from the end on; None where there is none, or where it is damaged."""
        sql = "SELECT seq, tick, at, kind, body, sum FROM events WHERE kind = ? AND tick < ?"
        try:
            before_tick = min(self.near, opening.LAST_TICK + 1)
            found = connection.execute(f"{sql} ORDER BY seq DESC LIMIT 1", (STATE, before_tick))
            *row, sum = found.fetchone() or (0, 0)
            if not row[1:]:
                return None
            event = Event(*row)
            before = connection.execute("SELECT sum FROM events WHERE seq = ?", (event.seq - 1,)).fetchone()
            body = opening.body_of(event, before[0], sum) if before is not None else None
            return KeptState(event.seq, event.tick, sum, body) if body is not None else None
        except (sqlite3.Error, ValueError, TypeError, OverflowError):
            return None

    def was_begun(self, sentence: str) -> bool:
        """True when there is an action of these words."""
        if any(e.kind == "begin" and self.body(e)["sentence"] == sentence for e in self.events):
            return True
        if self.begins is None:
            return False
        with opening.opened(self.path) as connection:
            sql = "SELECT body FROM events WHERE kind = 'begin' AND seq <= ?"
            return any(opening.decoded(body)["sentence"] == sentence
                       for (body,) in connection.execute(sql, (self.begins.seq,)))  # fmt: skip

    def _read_texts(self, connection: sqlite3.Connection) -> None:
        """Reads the texts. A damaged text is skipped; an entry that refers to it reports the gap."""
        for piece, sum in opening.rows(connection, TextPiece, max(self.texts, default=0)):
            if opening.is_whole(piece, sum):
                self.texts.add(piece, LONGEST, DEPTH + 1)

    def _read_events(self, connection: sqlite3.Connection) -> None:
        for event, sum in opening.rows(connection, Event, self.count):
            body = opening.body_of(event, self.sum, sum) if event.seq == self.count + 1 else None
            if body is None or any(number not in self.texts for _, number in _references(event, body)):
                raise opening.InvalidEntry(f"event {self.count + 1} is damaged")
            self.events.append(event)
            self.sum = sum
            if _REFERENCE in event.body:
                self.lengths[event.kind] += self.length(event)
        if self.count != self.end.events or self.sum != self.end.sum:
            there = f"{self.count:,} of {self.end.events:,} events are there"
            raise opening.InvalidEntry(f"its end is missing: {there}")

    def _read_nodes(self, connection: sqlite3.Connection) -> None:
        for node, sum in opening.rows(connection, NodeRow, len(self.nodes)):
            if node.number != len(self.nodes) + 1 or not opening.is_whole(node, sum):
                raise opening.InvalidEntry(f"node {len(self.nodes) + 1} is damaged")
            self.nodes.append(node)
        if len(self.nodes) != self.end.nodes:
            raise opening.InvalidEntry(f"{len(self.nodes):,} of {self.end.nodes:,} nodes are there")

    def _read_ticks(self, connection: sqlite3.Connection) -> None:
        since = self.latest.tick
        if self.begins is not None and not self.ticks:  # the row of its tick, or the one before
            last = "SELECT max(tick) FROM ticks WHERE tick <= ?"
            since = (connection.execute(last, (self.begins.tick,)).fetchone()[0] or 0) - 1
        for row, sum in opening.rows(connection, TickRow, since):
            linked = row.before == self.latest.tick or not self.ticks  # the ring has forgotten what was before
            if not linked or not opening.is_whole(row, sum):
                raise opening.InvalidEntry(f"what changed after tick {self.latest.tick} is damaged")
            self.ticks[row.tick] = self.latest = row
        if self.latest.tick != self.end.tick or (self.begins is None and len(self.ticks) < self.end.ticks):
            raise opening.InvalidEntry(f"what changed after tick {self.latest.tick} is missing")

    def _to_last_whole_decision(self) -> None:
        whole = next((i for i in range(len(self.events), 0, -1) if self.events[i - 1].kind in DECIDED), 0)
        self.keep(whole)
        last = self.events[-1].tick if self.events else 0
        self.ticks = {tick: row for tick, row in self.ticks.items() if tick < last}  # tick `last` may have gone on


_REFERENCE = '{"$":"text"'


def _references(event: Event, body: dict[str, Json]) -> list[tuple[str, int]]:
    """(field, number) of the texts that an event tells."""
    if _REFERENCE not in event.body:
        return []
    found = ((name, opening.reference(value)) for name, value in body.items())
    return [(name, number) for name, number in found if number is not None]

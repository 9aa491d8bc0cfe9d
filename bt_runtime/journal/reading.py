"""A journal read back: as far as it is whole, and where and why it is not."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from bt_runtime.diagnose import BtError
from bt_runtime.journal import codec
from bt_runtime.journal.store import FORMAT, Event, NodeRow, checksum, head_sum
from bt_runtime.journal.texts import Piece, assemble
from bt_runtime.types import Json

STATUS = {"I": "INVALID", "R": "RUNNING", "S": "SUCCESS", "F": "FAILURE"}
DECIDED = ("answer", "done", "result")  # a decision or an action is whole once this is there


class Recording:
    """What one run left. `damage` says what is wrong with it, "" when nothing is."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damage = ""
        self.sum = 0  # the chained checksum of the last event
        self.events: list[Event] = []
        self.ticks: dict[int, str] = {}
        self.times: dict[int, float] = {}
        self.nodes: list[NodeRow] = []
        self.pieces: dict[int, Piece] = {}
        if not path.is_file():
            raise BtError(f"there is no journal {path}", "`btr runs list` shows those that are there")
        self.head = self._head()
        self._read()
        self.texts = assemble(self.pieces)
        if self.damage:
            self._to_last_whole_decision()

    # What it says ----------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return str(self.head["name"])

    @property
    def last_tick(self) -> int:
        latest = self.events[-1].tick if self.events else 0
        return max(latest, max(self.ticks, default=0))

    @property
    def full(self) -> bool:
        return any(e.kind == "full" for e in self.events)

    def until_full(self) -> list[Event]:
        """The events without gaps: those before the journal reached its size limit."""
        end = next((i for i, e in enumerate(self.events) if e.kind == "full"), len(self.events))
        return self.events[:end]

    @property
    def result(self) -> str:
        """SUCCESS or FAILURE when the root has ended and nothing came after, else nothing."""
        for event in reversed(self.events):
            if event.kind == "result":
                return str(self.body(event)["status"])
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

    def body(self, event: Event) -> dict[str, Any]:
        """An event's content, texts filled in."""
        found: dict[str, Any] = json.loads(event.body)
        for name, value in found.items():
            if isinstance(value, dict) and value.get(codec.TAG) == "text":
                found[name] = self.texts[value["v"]]
        return found

    def of(self, *kinds: str) -> Iterator[tuple[Event, dict[str, Any]]]:
        for event in self.events:
            if not kinds or event.kind in kinds:
                yield event, self.body(event)

    def changes(self, tick: int) -> list[tuple[int, str]]:
        """(node, status) in the order in which they came; the ring may have forgotten old ones."""
        return [(int(c[:-1]), STATUS[c[-1]]) for c in self.ticks.get(tick, "").split()]

    def keep(self, count: int) -> None:
        """Only the first so many events; status changes of ticks that may say more go too."""
        self.events = self.events[:count]
        self.sum = 0
        for event in self.events:
            self.sum = checksum(event, self.sum)

    # Reading ---------------------------------------------------------------------------------

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=rw", uri=True)

    def _head(self) -> dict[str, Json]:
        try:
            with closing(self._open()) as connection:
                found = {n: json.loads(v) for n, v in connection.execute("SELECT name, value FROM head")}
        except (sqlite3.Error, ValueError) as error:
            if "no such table" not in str(error):
                hint = "its beginning is damaged: nothing can be restored"
                raise BtError(f"{self.path} cannot be read as a journal: {error}", hint) from error
            found = {}
        if not found:
            raise BtError(
                f"{self.path}: the run was cut off before it began; nothing was ticked", f"btr runs rm {self.path}"
            )
        if found.get("format") != FORMAT or "tree" not in found:
            raise BtError(f"{self.path} is no journal of this version", "export it with the version that wrote it")
        if found.get("sum") != head_sum(found):
            raise BtError(f"{self.path}: what this journal's run was made of is damaged", "nothing can be restored")
        return found

    def _read(self) -> None:
        for part in (self._read_texts, self._read_events, self._read_nodes, self._read_ticks):
            try:
                with closing(self._open()) as connection:
                    part(connection)
            except (sqlite3.Error, ValueError, TypeError) as error:
                self.damage = self.damage or f"it cannot be read on: {error}"

    def _read_events(self, connection: sqlite3.Connection) -> None:
        for *row, sum in connection.execute("SELECT seq, tick, at, kind, body, sum FROM events ORDER BY seq"):
            event = Event(*row)
            expected = event.seq == len(self.events) + 1 and checksum(event, self.sum) == sum
            if not expected or not self._texts_there(event):
                self.damage = f"event {len(self.events) + 1} is damaged"
                return
            self.events.append(event)
            self.sum = sum

    def _texts_there(self, event: Event) -> bool:
        if '{"$":"text"' not in event.body:
            return True
        wanted = [v["v"] for v in json.loads(event.body).values() if isinstance(v, dict) and v.get(codec.TAG) == "text"]
        return all(self._whole(n) for n in wanted)

    def _whole(self, number: int) -> bool:
        """Is a text there, with all that it builds on?"""
        while number:
            piece = self.pieces.get(number)
            if piece is None:
                return False
            number = piece.parent
        return True

    def _read_texts(self, connection: sqlite3.Connection) -> None:
        for *row, sum in connection.execute("SELECT id, parent, keep, rest, sum FROM texts ORDER BY id"):
            piece = Piece(*row)
            if zlib.crc32(piece.rest.encode()) == sum:
                self.pieces[piece.id] = piece

    def _read_nodes(self, connection: sqlite3.Connection) -> None:
        self.nodes = [NodeRow(*row) for row in connection.execute("SELECT * FROM nodes ORDER BY number")]

    def _read_ticks(self, connection: sqlite3.Connection) -> None:
        for tick, at, changes in connection.execute("SELECT tick, at, changes FROM ticks ORDER BY tick"):
            self.ticks[tick], self.times[tick] = changes, at

    def _to_last_whole_decision(self) -> None:
        whole = next((i for i in range(len(self.events), 0, -1) if self.events[i - 1].kind in DECIDED), 0)
        self.keep(whole)
        last = self.events[-1].tick if self.events else 0
        self.ticks = {t: c for t, c in self.ticks.items() if t < last}  # that of `last` may say what came after

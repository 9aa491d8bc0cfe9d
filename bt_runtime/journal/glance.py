"""The state of one run for a list of many, kept current while its journal grows: each look reads only new rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

from bt_runtime.journal import codec, folder, opening, outage
from bt_runtime.journal.forked import Forked, forked
from bt_runtime.journal.layout import End, changes_of
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.types import Json

WAITING, RUNNING, STOPPED, CRASHED = "not begun", "running", "stopped", "crashed"
BROKEN, DAMAGED = "broken", "damaged"
MOST_TEXT = 400  # characters of a text in the list
MOST_VALUE = 60  # characters of a blackboard entry in the list
MOST_BODY = 65_536  # characters of a journal entry that is read for the list
MOST_ASKS = 8
_ENTRIES = ("blackboard", "write", "unset")
_WITH_BODY = ("crash", "log", "result", "verdict", "question", "reply", "withdrawn", *_ENTRIES)
_AFTER_END = ("ask", "begin", "halt")  # the root goes on after these, as `Recording.result` has it
_TOLD = ("answer", "done", *_AFTER_END, *(kind for kind in _WITH_BODY if kind not in _ENTRIES))


class Fault(NamedTuple):
    """The latest failure, exception or logged error."""

    tick: int
    path: str
    text: str


class Glance:
    """Reads a journal for a list. `look` returns False when nothing was written since the last look.

    `panel`: the names of the blackboard entries to follow, of the run or of any of its trees."""

    def __init__(self, path: Path, panel: Collection[str] = ()) -> None:
        self.path, self.panel = path, tuple(panel)
        self._named = " OR ".join("instr(body, ?)" for _ in self.panel) or "FALSE"
        self._mark: object = None  # times and sizes of the files at the last look
        self.reads = 0  # looks that had to open the journal
        self._failed = 0  # failed looks in a row
        self._forget()

    def _forget(self) -> None:
        self.name, self.tree, self.state, self.why = self.path.stem, "", WAITING, ""
        self.started = self.progress = 0.0  # seconds since 1970; of progress: the last row that is no clock reading
        self.tick = self.decisions = self.actions = 0
        self.met = ""  # "3/4" conditions met
        self.at = self.said = ""  # the node whose status changed last, and its message
        self.fault: Fault | None = None
        self.forked: Forked | None = None  # the run that this one was forked from
        self.questions: dict[int, str] = {}
        self.entries: dict[str, str] = {}
        self._seq = self._sum = 0
        self._result, self._head_sum = "", None

    @property
    def running(self) -> bool:
        return self.state == RUNNING

    def look(self) -> bool:
        live = folder.is_live(self.path)
        mark = (live, *map(_stamp, (self.path, Path(f"{self.path}-wal"), outage.marker_of(self.path))))
        if mark == self._mark:
            return False
        self._mark = mark
        self.reads += 1
        if not folder.begun(self.path):
            self._forget()
            return True
        try:
            with opening.opened(self.path) as connection:
                self._read(connection, live)
            self._failed = 0
        except (sqlite3.Error, ValueError, KeyError, TypeError, OverflowError, AttributeError, BtError) as error:
            self._failed += 1
            if live:
                self._mark = None  # perhaps half written: the next look tries again
            if not live or self._failed > 1:
                self.state, self.why = DAMAGED, _short(error.message if isinstance(error, BtError) else str(error))
        return True

    def _read(self, connection: sqlite3.Connection, live: bool) -> None:
        sums = dict(connection.execute("SELECT name, value FROM head WHERE name IN ('sum', 'end')"))
        if sums.get("sum") != self._head_sum or not self._follows(connection):
            self._forget()
            self._begin(connection)
            self._head_sum = sums.get("sum")
        end = End.of(opening.decoded(sums.get("end", "null")))
        self._events(connection)
        self._latest(connection)
        self._judge(live, end)

    def _follows(self, connection: sqlite3.Connection) -> bool:
        """False when the journal was replaced, or cut by a run that was resumed."""
        if not self._seq:
            return False
        row = connection.execute("SELECT sum FROM events WHERE seq = ?", (self._seq,)).fetchone()
        return row is not None and bool(row[0] == self._sum)

    def _begin(self, connection: sqlite3.Connection) -> None:
        head, _ = opening.head_of(self.path, connection)
        self.name, self.tree = _short(str(head["name"])), _short(str(head["tree"]))
        self.forked = forked(head.get("forked"))
        self.started = self.progress = float(head["started"])
        for part in ("inputs", "board"):
            values = head.get(part)
            for name, value in (values if isinstance(values, dict) else {}).items():
                self._entry(name, value)

    def _events(self, connection: sqlite3.Connection) -> None:
        """Reads the new rows that matter here. SQLite passes over the others, and over entries outside the panel."""
        sql = "SELECT seq, tick, sum FROM events ORDER BY seq DESC LIMIT 1"
        last, tick, sum = connection.execute(sql).fetchone() or (0, 0, 0)
        sql = "SELECT at FROM events WHERE seq > ? AND kind <> 'clock' ORDER BY seq DESC LIMIT 1"
        for (at,) in connection.execute(sql, (self._seq,)):
            opening.need(0 <= at <= opening.LAST_TIME)
            self.progress = max(self.progress, at)
        told = f"kind IN ({_quoted(_TOLD)}) OR kind IN ({_quoted(_ENTRIES)}) AND ({self._named})"
        sql = (
            f"SELECT tick, kind, CASE WHEN length(body) <= {MOST_BODY} THEN body END FROM events "
            f"WHERE seq > ? AND ({told}) ORDER BY seq"
        )
        for at_tick, kind, body in connection.execute(sql, (self._seq, *map(codec.text, self.panel))):
            self._take(kind, at_tick, body)
        self._seq, self._sum, self.tick = last, sum, max(self.tick, tick)

    def _take(self, kind: str, tick: int, text: str | None) -> None:
        self.decisions += kind == "answer"
        self.actions += kind == "done"
        if kind in _AFTER_END:
            self._result = ""
        if text is not None and kind in _WITH_BODY:
            self._told(kind, tick, opening.decoded(text))

    def _told(self, kind: str, tick: int, body: Json) -> None:
        if kind in _ENTRIES:
            self._written(kind, body)
        elif kind == "crash":
            self.fault = Fault(tick, _short(str(body["path"])), _short(str(body["message"])))
        elif kind == "log" and body["level"] == "error":
            self.fault = Fault(tick, _short(str(body["path"])), _short(str(body["text"])))
        elif kind == "result":
            self._result = str(body["status"])
            if self._result == "FAILURE":
                self.fault = Fault(tick, _short(str(body.get("path", ""))), _short(str(body.get("why", ""))))
        elif kind == "verdict":
            self.met = f"{int(body['met'])}/{int(body['total'])}"
        elif kind == "question" and len(self.questions) < MOST_ASKS:
            self.questions[int(body["job"])] = _short(str(body["question"]))
        elif kind in ("reply", "withdrawn"):
            self.questions.pop(int(body["job"]), None)

    def _written(self, kind: str, body: Json) -> None:
        if kind == "unset":
            for name in body["names"]:
                self.entries.pop(str(name), None)
        elif "value" in body:
            self._entry(str(body["name"]), body["value"])

    def _entry(self, name: str, value: Json) -> None:
        if name in self.panel:
            self.entries[name] = _short(_text(value), MOST_VALUE)

    def _latest(self, connection: sqlite3.Connection) -> None:
        """Reads where the tree is from the last recorded tick alone."""
        row = connection.execute("SELECT tick, at, changes FROM ticks ORDER BY tick DESC LIMIT 1").fetchone()
        if row is None:
            return
        self.tick, self.progress = max(self.tick, row[0]), max(self.progress, row[1])
        opening.need(0 <= row[1] <= opening.LAST_TIME)
        statuses, feedback = changes_of(row[2])
        running = [number for number, letter in statuses if letter == "R"]
        numbers = running or [number for number, _ in statuses] or [number for number, _ in feedback]
        paths = [path for number in numbers[:50] if (path := _path(connection, number))]
        if paths:
            self.at = _short(max(paths, key=lambda path: path.count("/")))
            said = {_path(connection, number): text for number, text in feedback[:50]}
            self.said = _short(said.get(self.at, ""))

    def _judge(self, live: bool, end: End) -> None:
        broken = outage.marked(self.path) if not live else None
        self.why = ""
        if live:
            self.state = RUNNING
        elif broken is not None:
            self.state, self.why = BROKEN, _short(str(broken))
        elif missing := outage.missing(self.path, end.events):
            self.state, self.why = DAMAGED, missing
        elif self._result in ("SUCCESS", "FAILURE"):
            self.state = self._result
        elif end.open:
            self.state, self.why = CRASHED, "its process ended without closing the journal"
        else:
            self.state = STOPPED
        if not live:
            self.questions.clear()


def _quoted(kinds: Iterable[str]) -> str:
    return ", ".join(f"'{kind}'" for kind in kinds)


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _path(connection: sqlite3.Connection, number: int) -> str:
    row = connection.execute("SELECT path FROM nodes WHERE number = ?", (number,)).fetchone()
    return str(row[0]) if row is not None else ""


def _text(value: Json) -> str:
    """A value in one line; one that the journal only describes by its description."""
    if isinstance(value, dict) and codec.TAG in value:
        value = value.get("v")
    if isinstance(value, float):
        return f"{value:.6g}"
    return value if isinstance(value, str) else codec.text(value)


def _short(text: str, most: int = MOST_TEXT) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"

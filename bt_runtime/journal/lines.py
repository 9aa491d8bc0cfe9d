"""A journal as plain values in order of time, for exports, pages and scores. Followers get the same lines of a live run
as they are recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from bt_runtime.journal.layout import STATUS, NodeRow, changes_of
from bt_runtime.journal.reading import Recording
from bt_runtime.journal.store import JournalLimits, JournalStore, RowBatch
from bt_runtime.types import Json

_HEAD = (
    "name",
    "tree",
    "file",
    "text",
    "digest",
    "inputs",
    "seed",
    "model",
    "task",
    "versions",
    "started",
    "clock",
    "began",
)


def first(head: Mapping[str, Json], damage: str = "") -> dict[str, Json]:
    """Returns the line that describes the run's components."""
    return {"kind": "run", **{key: head.get(key) for key in _HEAD}, "damage": damage}


def changed(changes: Iterable[tuple[int, str]], paths: Mapping[int, str]) -> list[list[str]]:
    """Returns [path, status] in order; resets are skipped."""
    return [[paths.get(number, "?"), STATUS[letter]] for number, letter in changes if letter in STATUS]


def lines(recording: Recording) -> Iterator[dict[str, Json]]:
    """`run` first, then nodes as they come, events and status changes by tick. Bounded as `Recording.of` is."""
    yield first(recording.head, recording.damage)
    paths = recording.paths()
    nodes = iter(recording.nodes)
    entries = recording.of()
    row, entry = next(nodes, None), next(entries, None)
    for tick in sorted({*recording.ticks, *(e.tick for e in recording.events), *(n.tick for n in recording.nodes)}):
        while row is not None and row.tick <= tick:
            yield {"kind": "node", "tick": row.tick, "number": row.number, "path": row.path, "is": row.kind}
            row = next(nodes, None)
        while entry is not None and entry[0].tick <= tick:
            event, body = entry
            yield {"kind": event.kind, "tick": event.tick, "at": event.at, "what": body}
            entry = next(entries, None)
        if tick in recording.ticks:
            changes = changed(changes_of(recording.ticks[tick].changes)[0], paths)
            yield {"kind": "status", "tick": tick, "at": recording.ticks[tick].at, "what": {"changes": changes}}


Line = Mapping[str, Json]
Say = Callable[[str], None]  # a warning, for whoever reads the run's log


class LineFollower(Protocol):
    """Receives lines in the writer's thread, so it must not block."""

    def begin(self, line: Line, say: Say) -> None: ...
    def take(self, line: Line, size: int) -> None: ...
    def close(self) -> None: ...


class Following:
    """Holds a run's followers. A failing follower is reported once and removed."""

    def __init__(self, say: Say) -> None:
        self.say = say
        self.all: list[LineFollower] = []
        self.time: Callable[[], float] | None = None  # reads a clock that is not the machine's
        self.paths: dict[int, str] = {}
        self.gone: list[int] = []  # told of in the latest tick, which may still change them
        self.head: Mapping[str, Json] = {}

    def join(self, follower: LineFollower) -> None:
        follower.begin(_timed(first(self.head), self.time() if self.time is not None else None), self.say)
        self.all.append(follower)

    def now(self) -> float | None:
        return self.time() if self.all and self.time is not None else None

    def event(self, tick: int, at: float, now: float | None, kind: str, body: Mapping[str, Json], size: int) -> None:
        if kind == "shape":
            for number in self.gone:
                self.paths.pop(number, None)
            self.gone = list(body["gone"])
        self._tell(_timed({"kind": kind, "tick": tick, "at": at, "what": body}, now), size)

    def nodes(self, rows: Sequence[NodeRow]) -> None:
        for row in rows:
            self.paths[row.number] = row.path
            if self.all:
                told = {"kind": "node", "tick": row.tick, "number": row.number, "path": row.path, "is": row.kind}
                self._tell(told, len(row.path))

    def changes(self, tick: int, at: float, now: float | None, text: str) -> None:
        if self.all:
            changes = changed(changes_of(text)[0], self.paths)
            self._tell(_timed({"kind": "status", "tick": tick, "at": at, "what": {"changes": changes}}, now), len(text))

    def close(self) -> None:
        for follower in self.all:
            with suppress(Exception):  # faults were told while the lines were followed
                follower.close()

    def _tell(self, line: Line, size: int) -> None:
        for follower in list(self.all):
            try:
                follower.take(line, size)
            except Exception as error:
                self.all.remove(follower)
                self.say(f"{type(follower).__name__} is told nothing more: {type(error).__name__}: {error}")


def _timed(line: dict[str, Json], now: float | None) -> Line:
    return line if now is None else {**line, "time": now}


class Nowhere(JournalStore):
    """Replaces the file for a run that is not stored, only followed."""

    def __init__(self) -> None:
        self.path, self.limits = Path("nowhere"), JournalLimits()
        self.written, self.synced = 0, True

    def commit(self, batch: RowBatch, durable: bool) -> None:
        """No-op: the followers have received the batch."""

    def check(self) -> None: ...
    def sync(self) -> None: ...
    def make_room(self) -> None: ...
    def settle(self) -> None: ...
    def close(self) -> None: ...

    def full(self) -> bool:
        return False

"""A run as Groot2 expects it, computed from the events of its ticks, in any thread. BehaviorTree.CPP resets some
nodes whose results we keep: below an ended node, a decorator or a reactive node, and the root after its end. These
are shown as idle, with their result."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from uuid import uuid4

from bt_robots.btcpp import tree_xml
from bt_robots.groot2 import protocol
from bt_robots.groot2.protocol import LETTERS, MOST_UIDS, STALE, Code
from bt_runtime.events import Placed, Reshaped, Tick
from bt_runtime.language.kinds.registry import installed
from bt_runtime.tree.describe.census import statuses

MOST_TRANSITIONS = 1000  # most transitions waiting to be fetched; the oldest are dropped


class Mirror:
    def __init__(self, name: str) -> None:
        self.name = name
        self.rows: dict[int, Placed] = {}
        self.below: dict[int, list[int]] = {}
        self.uids: dict[int, int] = {}  # number → what Groot2 calls the node
        self.numbers: dict[int, int] = {}  # … and back
        self.real: dict[int, int] = {}  # number → our status
        self.shown: dict[int, int] = {}  # … and the byte that is shown
        self.id = uuid4().bytes  # another one with every shape
        self.recording: deque[bytes] | None = None
        self.began = 0  # start of the recording, microseconds since 1970
        self._xml: bytes | None = None

    def take(self, tick: Tick, micros: int) -> None:
        if tick.shape is not None:
            self._reshape(tick.shape)
        touched: dict[int, None] = {}  # in order
        for number, letter in statuses(tick):
            if number not in self.rows:
                continue
            code = self.real[number] = LETTERS[letter]
            if code != Code.IDLE:
                self._show(number, code, micros)
            touched[number] = None
        for number in [each for one in touched for each in (*self.below.get(one, ()), one)]:
            self._settle(number, micros)

    def _settle(self, number: int, micros: int) -> None:
        """Decides how a result is shown: it stays while the node above runs, with the results of its children."""
        if number not in self.rows:
            return
        real, row = self.real[number], self.rows[number]
        above = self.rows.get(row.parent)
        if real == Code.RUNNING or (real != Code.IDLE and above is not None and self._keeps(above)):
            self._show(number, real, micros)
        elif 0 < self.shown[number] < STALE:
            self._show(number, STALE + self.shown[number], micros)

    def _keeps(self, above: Placed) -> bool:
        kind = installed().get(above.kind)
        reactive = kind is not None and kind.reactive and kind.onward is not None
        return self.real[above.number] == Code.RUNNING and above.family != "decorator" and not reactive

    def _show(self, number: int, byte: int, micros: int) -> None:
        if self.shown[number] == byte:
            return
        self.shown[number] = byte
        if self.recording is not None and number in self.uids:
            code = byte if byte < STALE else Code.IDLE
            self.recording.append(protocol.transition(micros - self.began, self.uids[number], code))

    # The shape -------------------------------------------------------------------------------

    def _reshape(self, shape: Reshaped) -> None:
        for number in shape.gone:
            for kept in (self.rows, self.below, self.real, self.shown):
                kept.pop(number, None)
            self.numbers.pop(self.uids.pop(number, 0), None)
        for row in shape.add:
            self.rows[row.number] = row
            self.real.setdefault(row.number, Code.IDLE)
            self.shown.setdefault(row.number, Code.IDLE)
            if row.parent == -1:
                self.below[-1] = [row.number]
        self.below.update({number: list(below) for number, below in shape.order.items()})
        for number in self.rows:
            if number not in self.uids and (uid := self._free(number)):
                self.uids[number], self.numbers[uid] = uid, number
        self.id, self._xml = uuid4().bytes, None
        if self.recording is not None:
            self.recording.clear()  # the recording belongs to another tree

    def _free(self, number: int) -> int:
        """Returns the node's number for the monitor: its own, or the lowest free one; 0 when all are used, and the node
        is not shown."""
        if number <= MOST_UIDS and number not in self.numbers:
            return number
        if len(self.numbers) >= MOST_UIDS:
            return 0
        return next(uid for uid in range(1, MOST_UIDS + 1) if uid not in self.numbers)

    def _walk(self) -> Iterator[tuple[Placed, str]]:
        """Yields all nodes in order, each with its path."""
        todo = [(number, "") for number in self.below.get(-1, ())]
        while todo:
            number, above = todo.pop()
            row = self.rows.get(number)
            if row is None or number not in self.uids:
                continue
            path = above if row.segment == "." else f"{above}/{row.segment}"
            yield row, path
            todo += [(child, path) for child in reversed(self.below.get(number, ()))]

    def path(self, uid: int) -> str | None:
        number = self.numbers.get(uid)
        return next((path for row, path in self._walk() if row.number == number), None)

    # What is asked ---------------------------------------------------------------------------

    def xml(self) -> bytes:
        if self._xml is None:
            rows = [
                tree_xml.Row(self.uids[row.number], self.uids.get(row.parent, -1), row.kind, row.name, path, row.family)
                for row, path in self._walk()
            ]
            self._xml = tree_xml.text(self.name, rows)
        return self._xml

    def statuses(self) -> bytes:
        return b"".join(protocol.status(uid, self.shown[number]) for number, uid in self.uids.items())

    def record(self, micros: int | None) -> None:
        """Starts or ends the recording of transitions."""
        self.recording = None if micros is None else deque(maxlen=MOST_TRANSITIONS)
        self.began = micros or 0

    def transitions(self) -> bytes:
        """The transitions that no client has fetched."""
        if self.recording is None:
            return b""
        told = b"".join(self.recording)
        self.recording.clear()
        return told

    def scopes(self) -> dict[str, str]:
        """Maps the names that Groot2 gives to subtrees to the paths of their entries."""
        found = {path.lstrip("/"): path for row, path in self._walk() if row.kind == "tree"}
        return {**found, self.name: ""}

"""Defines a journal's tables, their rows, the long texts that are kept once each, and the checksum over the rows."""

from __future__ import annotations

import json
import time
import zlib
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from bt_runtime.language.faults.diagnostic import text_of
from bt_runtime.types import Json

FORMAT = 2
MARK = 0x62747231  # "btr1": the file's application id
SUFFIX = ".btr"
LONGEST = 2**23  # characters of one text or of one entry's body; what is longer is described, not kept
HEAD = 2**25  # bytes of what a run was made of; a run of more cannot be kept
NO_TICK = -1
SAID = 400  # characters of what a node says of itself
STATUS = {"I": "INVALID", "R": "RUNNING", "S": "SUCCESS", "F": "FAILURE"}

# Word for word what the file says of itself: a journal whose tables are others is not read.
TABLES = {
    "head": "CREATE TABLE head (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "events": "CREATE TABLE events (seq INTEGER PRIMARY KEY, tick INTEGER NOT NULL, at REAL NOT NULL,"
    " kind TEXT NOT NULL, body TEXT NOT NULL, sum INTEGER NOT NULL)",
    "ticks": "CREATE TABLE ticks (tick INTEGER PRIMARY KEY, at REAL NOT NULL, changes TEXT NOT NULL,"
    " before INTEGER NOT NULL, sum INTEGER NOT NULL)",
    "nodes": "CREATE TABLE nodes (number INTEGER PRIMARY KEY, path TEXT NOT NULL, kind TEXT NOT NULL,"
    " name TEXT NOT NULL, tick INTEGER NOT NULL, place INTEGER NOT NULL, sum INTEGER NOT NULL)",
    "texts": "CREATE TABLE texts (id INTEGER PRIMARY KEY, parent INTEGER NOT NULL, keep INTEGER NOT NULL,"
    " rest TEXT NOT NULL, sum INTEGER NOT NULL)",
}


def wall_time() -> float:
    """Returns seconds since 1970; 0 when the clock is before 1970, because it was never set."""
    now = time.time()
    return now if now > 0 else 0.0


class Event(NamedTuple):
    seq: int
    tick: int
    at: float
    kind: str
    body: str


class NodeRow(NamedTuple):
    number: int
    path: str
    kind: str
    name: str
    tick: int  # at which it came into the tree
    place: int  # among its siblings, then


class TickRow(NamedTuple):
    tick: int
    at: float
    changes: str  # `4R 3S 7i 4="all\u0020is\u0020well"`: node and status, those that were cleared later; feedback last
    before: int = NO_TICK  # the tick of the row before, so that one that is missing shows


def changes_text(statuses: Iterable[tuple[int, str]], feedback: Iterable[tuple[int, str]]) -> str:
    told = [f"{number}{letter}" for number, letter in statuses]
    for number, text in feedback:
        text = text_of(text)  # a node of py_trees may say anything
        said = text if len(text) <= SAID else f"{text[: SAID - 1]}…"
        told.append(f"{number}={json.dumps(said)}".replace(" ", "\\u0020"))
    return " ".join(told)


def changes_of(text: str) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """Parses statuses and feedback, the reverse of `changes_text`."""
    statuses, feedback = [], []
    for change in text.split():
        number, said, quoted = change.partition("=")
        if said:
            feedback.append((int(number), str(json.loads(quoted))))
        else:
            statuses.append((int(change[:-1]), change[-1]))
    return statuses, feedback


class End(NamedTuple):
    """The expected end of each table, rewritten with every batch, so that missing rows are detected."""

    open: int = 0  # 0: closed; else the random number of the process that writes it
    events: int = 0
    sum: int = 0  # checksum after the last event
    nodes: int = 0
    ticks: int = 0
    tick: int = NO_TICK  # the latest of them

    def text(self) -> str:
        inside = f"{self.open}, {self.events}, {self.sum}, {self.nodes}, {self.ticks}, {self.tick}"
        return f"[{inside}, {_crc(f'({inside})')}]"

    @classmethod
    def of(cls, found: Json) -> End:
        """Raises ValueError when it is not what was written."""
        if not isinstance(found, list) or len(found) != 7 or not all(type(v) is int for v in found):
            raise ValueError("what it says of its end is damaged")
        *kept, sum = found
        if _crc(str(tuple(kept))) != sum:
            raise ValueError("what it says of its end is damaged")
        return cls(*kept)


def head_sum(head: Mapping[str, Json]) -> int:
    """Returns the checksum of the constant part of a journal's head."""
    kept = {k: v for k, v in head.items() if k not in ("sum", "end")}
    sum = 0
    for part in json.JSONEncoder(sort_keys=True).iterencode(kept):  # never the whole of it a second time
        sum = zlib.crc32(part.encode(), sum)
    return sum


def checksum(row: tuple[object, ...], before: int = 0) -> int:
    """Returns a row's checksum. That of an event continues the one before: a missing or changed event breaks all later
    ones."""
    return _crc("|".join([str(value) for value in row]), before)


def _crc(text: str, before: int = 0) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"), before)


RECENT = 8  # texts that a new one is compared with
WORTH = 64  # characters that must be shared for a reference to pay
DEPTH = 200  # texts that build on one another; the next one is written whole
NEAR = 2**22  # characters of texts that were put together lately, kept at hand


class TextPiece(NamedTuple):
    """A text stored as the first `keep` characters of the text `parent`, then `rest`."""

    id: int
    parent: int  # 0: none
    keep: int
    rest: str


class Texts:
    """Gives every text a number, and says what has to be written for it."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}
        self.recent: list[tuple[int, str]] = []
        self.depths: dict[int, int] = {}  # number of a recent text → pieces that it is put together from
        self.last = 0

    def add(self, text: str) -> tuple[int, TextPiece | None]:
        """Returns the text's number, and a Piece when the text is new."""
        if text in self.known:
            return self.known[text], None
        parent, keep = 0, 0
        for number, other in self.recent:
            shared = common(other, text)
            if shared > max(keep, WORTH) and self.depths[number] < DEPTH:
                parent, keep = number, shared
        self.remember(self.last + 1, text, self.depths[parent] + 1 if parent else 1)
        return self.last, TextPiece(self.last, parent, keep, text[keep:])

    def remember(self, number: int, text: str, depth: int = 1) -> None:
        self.last = max(self.last, number)
        self.known[text] = number
        self.recent = [*self.recent[-RECENT + 1 :], (number, text)]
        self.depths = {n: self.depths.get(n, depth) for n, _ in self.recent}
        if len(self.known) > 4096:  # the oldest are forgotten: they would be written once more
            for old in list(self.known)[:1024]:
                del self.known[old]


def common(a: str, b: str) -> int:
    """Returns the length of the common beginning of two texts."""
    if b.startswith(a):
        return len(a)
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[:middle] == b[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


class Whole(Mapping[int, str]):
    """Maps numbers to texts, each built on demand, because long texts may share pieces."""

    def __init__(self, pieces: Iterable[TextPiece] = ()) -> None:
        self.pieces: dict[int, TextPiece] = {}
        self.lengths: dict[int, int] = {}
        self.depths: dict[int, int] = {0: 0}
        self._near: OrderedDict[int, str] = OrderedDict()
        self._kept = 0
        for piece in pieces:
            self.add(piece)

    def add(self, piece: TextPiece, longest: float = float("inf"), deepest: float = float("inf")) -> bool:
        """Adds a piece; returns False when it is invalid or refers to a missing one."""
        id, parent, keep, rest = piece
        if not 0 <= parent < id or parent not in self.depths or not 0 <= keep <= self.lengths.get(parent, 0):
            return False
        length, depth = keep + len(rest), self.depths[parent] + 1
        if length > longest or depth > deepest:
            return False
        self.pieces[id], self.lengths[id], self.depths[id] = piece, length, depth
        return True

    def __getitem__(self, number: int) -> str:
        if number in self._near:
            self._near.move_to_end(number)
            return self._near[number]
        piece, parts = self.pieces[number], []
        at, keep = number, self.lengths[number]
        while keep:
            if at in self._near:
                parts.append(self._near[at][:keep])
                break
            piece = self.pieces[at]
            parts.append(piece.rest[: max(0, keep - piece.keep)])
            at, keep = piece.parent, min(keep, piece.keep)
        text = "".join(reversed(parts))
        self._near[number] = text
        self._kept += len(text)
        while self._kept > NEAR and len(self._near) > 1:
            self._kept -= len(self._near.popitem(last=False)[1])
        return text

    def __iter__(self) -> Iterator[int]:
        return iter(self.pieces)

    def __len__(self) -> int:
        return len(self.pieces)

"""Long texts, each kept once: a prompt is what an earlier one was, up to a point, and what follows."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

RECENT = 8  # texts that a new one is compared with
WORTH = 64  # characters that must be shared for a reference to pay
DEPTH = 200  # texts that build on one another; the next one is written whole
NEAR = 2**22  # characters of texts that were put together lately, kept at hand


class Piece(NamedTuple):
    """The first `keep` characters of the text `parent`, then `rest`."""

    id: int
    parent: int  # 0: none
    keep: int
    rest: str


class Texts:
    """Gives every text a number, and says what has to be written for it."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}
        self.recent: list[tuple[int, str]] = []
        self.depths: dict[int, int] = {}  # of the recent ones
        self.last = 0

    def add(self, text: str) -> tuple[int, Piece | None]:
        """The text's number; a Piece when it is new."""
        if text in self.known:
            return self.known[text], None
        parent, keep = 0, 0
        for number, other in self.recent:
            shared = common(other, text)
            if shared > max(keep, WORTH) and self.depths[number] < DEPTH:
                parent, keep = number, shared
        self.remember(self.last + 1, text, self.depths[parent] + 1 if parent else 1)
        return self.last, Piece(self.last, parent, keep, text[keep:])

    def remember(self, number: int, text: str, depth: int = 1) -> None:
        self.last = max(self.last, number)
        self.known[text] = number
        self.recent = [*self.recent[-RECENT + 1 :], (number, text)]
        self.depths = {n: self.depths.get(n, depth) for n, _ in self.recent}
        if len(self.known) > 4096:  # the oldest are forgotten: they would be written once more
            for old in list(self.known)[:1024]:
                del self.known[old]


def common(a: str, b: str) -> int:
    """How many characters two texts begin with alike."""
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
    """Number → text, put together when it is asked for: many long texts may share what is kept once."""

    def __init__(self, pieces: Iterable[Piece] = ()) -> None:
        self.pieces: dict[int, Piece] = {}
        self.lengths: dict[int, int] = {}
        self.depths: dict[int, int] = {0: 0}
        self._near: OrderedDict[int, str] = OrderedDict()
        self._kept = 0
        for piece in pieces:
            self.add(piece)

    def add(self, piece: Piece, longest: float = float("inf"), deepest: float = float("inf")) -> bool:
        """False: it cannot be what was written, or builds on what is not there."""
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

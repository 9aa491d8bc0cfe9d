"""Long texts, each kept once: a prompt is what an earlier one was, up to a point, and what follows."""

from __future__ import annotations

from typing import NamedTuple

RECENT = 8  # texts that a new one is compared with
WORTH = 64  # characters that must be shared for a reference to pay


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
        self.last = 0

    def add(self, text: str) -> tuple[int, Piece | None]:
        """The text's number; a Piece when it is new."""
        if text in self.known:
            return self.known[text], None
        parent, keep = 0, 0
        for number, other in self.recent:
            shared = common(other, text)
            if shared > max(keep, WORTH):
                parent, keep = number, shared
        self.remember(self.last + 1, text)
        return self.last, Piece(self.last, parent, keep, text[keep:])

    def remember(self, number: int, text: str) -> None:
        self.last = max(self.last, number)
        self.known[text] = number
        self.recent = [*self.recent[-RECENT + 1 :], (number, text)]
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


def assemble(pieces: dict[int, Piece]) -> dict[int, str]:
    """Number → text; a piece whose parent is missing gives none."""
    found: dict[int, str] = {}
    for number in sorted(pieces):  # a parent always has the smaller number
        piece = pieces[number]
        if piece.parent == 0:
            found[number] = piece.rest
        elif piece.parent in found:
            found[number] = found[piece.parent][: piece.keep] + piece.rest
    return found

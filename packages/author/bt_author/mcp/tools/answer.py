"""The answer of a tool: short text for the model, the same as data for programs, and sometimes a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.format import printed
from bt_runtime.types import Json

PAGE = 6_000  # characters of one page of text, some 1,500 tokens
ROWS = 40  # rows of one page of a list


class Answer(NamedTuple):
    text: str
    data: dict[str, Json]
    picture: bytes | None = None  # SVG
    failed: bool = False


class AnswerPage(NamedTuple):
    """One page of a longer text or list."""

    text: str
    page: int
    pages: int

    def data(self) -> dict[str, Json]:
        return {"page": self.page, "pages": self.pages}


def paged(text: str, page: int = 1) -> AnswerPage:
    """Returns one page of a text, cut between lines; its last line says how to read on."""
    pieces = _cut(printed(text).splitlines())
    if not 1 <= page <= len(pieces):
        raise BtError(f"there is no page {page}", f"pages: 1 to {len(pieces)}")
    more = f"\n(page {page} of {len(pieces)}: ask for page {page + 1})" if page < len(pieces) else ""
    return AnswerPage(pieces[page - 1] + more, page, len(pieces))


def _cut(lines: Sequence[str]) -> list[str]:
    pieces: list[str] = []
    room = 0
    for line in lines:
        for start in range(0, max(len(line), 1), PAGE):
            part = line[start : start + PAGE]
            if not pieces or len(part) > room:
                pieces.append(part)
                room = PAGE - len(part)
            else:
                pieces[-1] += f"\n{part}"
                room -= len(part) + 1
    return pieces or [""]


def rows(lines: Sequence[str], page: int = 1, most: int = ROWS) -> AnswerPage:
    """Returns one page of a list."""
    pages = max(1, -(-len(lines) // most))
    if not 1 <= page <= pages:
        raise BtError(f"there is no page {page}", f"pages: 1 to {pages}")
    shown = [printed(line) for line in lines[(page - 1) * most : page * most]]
    if page < pages:
        shown.append(f"({len(lines) - page * most} more: ask for page {page + 1})")
    return AnswerPage("\n".join(shown), page, pages)

"""Renders one node of a running tree as a line."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from bt_runtime.cli.color import BLUE, BOLD, DIM, GREEN, PLAIN, RED
from bt_runtime.cli.running.outline import OutlineRow
from bt_runtime.language.faults.format import visible

if TYPE_CHECKING:
    from bt_runtime.run.view.picture import PagePicture, Spot


class Signs(NamedTuple):
    success: str
    failure: str
    running: str
    idle: str
    more: str


FINE = Signs("✓", "✗", "▶", "·", "…")
PLAIN_SIGNS = Signs("+", "x", ">", "-", "...")  # for a terminal that does not write UTF-8


class RowRenderer:
    """Draws rows."""

    def __init__(self, signs: Signs, color: bool) -> None:
        self.signs = signs
        self.color = color

    def line(self, picture: PagePicture, row: OutlineRow[Spot], width: int) -> str:
        indent = "  " * min(row.depth, width // 4)
        if row.node is None:
            return self.paint(clipped(f"{indent}{self.signs.more} {row.hidden} more", width), DIM)
        sign, tone = self.sign(row.status)
        node = picture.inner(row.node)
        more = f" {self.signs.more}{row.hidden}" if row.hidden else ""
        said = visible(_said(picture, node))
        head = clipped(f"{indent}{sign} {_title(node)}{more}", width)
        rest = clipped(f"  {said}", width - columns(head)) if said else ""
        start = head[len(indent) :]
        return f"{indent}{self.paint(start, tone)}{self.paint(rest, DIM)}"

    def sign(self, status: str) -> tuple[str, str]:
        signs = self.signs
        return {
            "S": (signs.success, GREEN), "F": (signs.failure, RED), "R": (signs.running, BOLD + BLUE)
        }.get(status, (signs.idle, DIM))  # fmt: skip

    def paint(self, text: str, tone: str) -> str:
        return f"{tone}{text}{PLAIN}" if self.color and text else text


def _title(node: Spot) -> str:
    kind, name = str(node.row[3]), str(node.row[5])
    return visible(f"{name} ({kind})" if name else kind)


def _said(picture: PagePicture, node: Spot) -> str:
    """Returns the node's message, else its goal, else its description."""
    goal = picture.goals.get(node.id)
    said = node.feedback or (str(goal["goal"]) if goal is not None else str(node.row[6]))
    return " ".join(said.split())


def columns(text: str) -> int:
    return len(text) if text.isascii() else sum(_wide(c) for c in text)


def _wide(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def clipped(text: str, width: int) -> str:
    """Returns as much of the text as fits into `width` columns."""
    if columns(text) <= width:
        return text
    used = 0
    for at, character in enumerate(text):
        used += _wide(character)
        if used > width:
            return text[:at]
    return text

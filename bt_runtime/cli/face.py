"""How one node of a running tree looks on a line."""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.cli.color import BLUE, BOLD, DIM, GREEN, PLAIN, RED
from bt_runtime.cli.outline import Row, inner
from bt_runtime.faults.format import visible
from bt_runtime.tree.node import Node
from bt_runtime.view.render.sketch import words


class Signs(NamedTuple):
    success: str
    failure: str
    running: str
    idle: str
    more: str


FINE = Signs("✓", "✗", "▶", "·", "…")
PLAIN_SIGNS = Signs("+", "x", ">", "-", "...")  # for a terminal that does not write UTF-8


class Face:
    """Draws rows; keeps what it has read of each node, because that never changes."""

    def __init__(self, signs: Signs, color: bool) -> None:
        self.signs = signs
        self.color = color
        self.titles: dict[int, tuple[Behaviour, str, str]] = {}

    def line(self, row: Row[Behaviour], width: int) -> str:
        indent = "  " * min(row.depth, width // 4)
        if row.node is None:
            return self.paint(clipped(f"{indent}{self.signs.more} {row.hidden} more", width), DIM)
        sign, tone = self.sign(row.status)
        title, detail = self.title(row.node)
        more = f" {self.signs.more}{row.hidden}" if row.hidden else ""
        said = self.said(inner(row.node), detail)
        head = clipped(f"{indent}{sign} {title}{more}", width)
        rest = clipped(f"  {said}", width - columns(head)) if said else ""
        start = head[len(indent) :]
        return f"{indent}{self.paint(start, tone)}{self.paint(rest, DIM)}"

    def sign(self, status: Status) -> tuple[str, str]:
        signs = self.signs
        return {
            Status.SUCCESS: (signs.success, GREEN),
            Status.FAILURE: (signs.failure, RED),
            Status.RUNNING: (signs.running, BOLD + BLUE),
        }.get(status, (signs.idle, DIM))

    def title(self, node: Behaviour) -> tuple[str, str]:
        known = self.titles.get(id(node))
        if known is None or known[0] is not node:
            own = inner(node)
            if isinstance(own, Node):
                kind, name = own.spec.kind.name, own.spec.name or ""
                title = f"{name} ({kind})" if name and name != kind else kind
                known = (node, visible(title), visible(words(own.spec)))
            else:
                known = (node, visible(f"{own.name} ({type(own).__name__})"), "")
            if len(self.titles) > 10_000:
                self.titles.clear()  # grafts come and go; a long run must not keep them all
            self.titles[id(node)] = known
        return known[1], known[2]

    def said(self, node: Behaviour, detail: str) -> str:
        """What the node reports now; else what it was told to do."""
        return visible(node.feedback_message) or detail

    def paint(self, text: str, tone: str) -> str:
        return f"{tone}{text}{PLAIN}" if self.color and text else text


def columns(text: str) -> int:
    return len(text) if text.isascii() else sum(_wide(c) for c in text)


def _wide(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def clipped(text: str, width: int) -> str:
    """As much of it as fits into so many columns."""
    if columns(text) <= width:
        return text
    used = 0
    for at, character in enumerate(text):
        used += _wide(character)
        if used > width:
            return text[:at]
    return text

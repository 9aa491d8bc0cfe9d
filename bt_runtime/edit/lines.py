"""A text by lines, and which of them a node takes: its own comments go with it."""

from __future__ import annotations

from typing import NamedTuple

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.language.source import Node, Scalar, YamlList
from bt_runtime.language.source.text import LINE_BREAK


class Untouchable(BtError):
    """The text is written in a way that this gesture cannot change without changing more than it says."""


class Lines:
    """The lines of a text, without their line breaks; what was written on Windows stays so."""

    def __init__(self, text: str) -> None:
        self.rows = LINE_BREAK.split(text)
        self.windows = "\r\n" in text

    def text(self) -> str:
        return ("\r\n" if self.windows else "\n").join(self.rows)

    def indent(self, number: int) -> int:
        row = self.rows[number]
        return len(row) - len(row.lstrip(" "))

    def blank(self, number: int) -> bool:
        return not self.rows[number].strip()

    def comment(self, number: int) -> bool:
        return self.rows[number].lstrip().startswith("#")

    def last_of(self, node: Node) -> int:
        """The last line with content of this node."""
        last, todo = 0, [node]
        while todo:
            part = todo.pop()
            last = max(last, self._end(part))
            if not self.in_brackets(part) and not isinstance(part, Scalar):
                todo.extend(part.items if isinstance(part, YamlList) else [n for pair in part.pairs for n in pair])
        return last

    def _end(self, node: Node) -> int:
        if not isinstance(node, Scalar) and not self.in_brackets(node):
            return node.start.line
        end = node.end.line - (node.end.column == 0 and node.end.line > node.start.line)
        if isinstance(node, Scalar) and self.is_block(node):
            end = min(node.end.line - 1, len(self.rows) - 1)
            while end > node.start.line and (self.blank(end) or self._left_of(end, node)):
                end -= 1
        return end

    def _left_of(self, number: int, node: Scalar) -> bool:
        """A comment that stands left of a block's text is not of the block."""
        first = next((n for n in range(node.start.line + 1, number) if not self.blank(n)), number)
        return self.comment(number) and self.indent(number) < self.indent(first)

    def is_block(self, node: Scalar) -> bool:
        """`|` or `>`: a text of several lines."""
        row = self.rows[node.start.line] if node.start.line < len(self.rows) else ""
        return not node.plain and row[node.start.column : node.start.column + 1] in ("|", ">")

    def in_brackets(self, node: Node) -> bool:
        if isinstance(node, Scalar):
            return False
        row = self.rows[node.start.line] if node.start.line < len(self.rows) else ""
        return row[node.start.column : node.start.column + 1] in ("[", "{")


class Region(NamedTuple):
    """Lines from `first` on, up to `last`; the node's own text begins in line `begins` at `column`."""

    first: int
    begins: int
    column: int
    last: int
    dash: int = -1  # the column of its `-`, in a list


def region(lines: Lines, node: Node, dashed: bool) -> Region:
    """The lines of a node that stands in lines of its own: those above it that speak of it, and those within."""
    line, column = node.start.line, node.start.column
    before = lines.rows[line][:column]
    dash = before.rfind("-") if dashed else -1
    if before.strip(" ") not in ("", "-") or (dashed and dash < 0):
        raise Untouchable("this node does not begin on a line of its own", "write it on lines of its own first")
    edge = dash if dashed else column
    first = line
    while first > 0 and lines.comment(first - 1) and lines.indent(first - 1) == edge:
        first -= 1
    return Region(first, line, column, _closing(lines, lines.last_of(node), edge), dash)


def _closing(lines: Lines, last: int, edge: int) -> int:
    """Comments below a node that are indented deeper than it belong to it."""
    end = at = last
    while at + 1 < len(lines.rows) and (lines.blank(at + 1) or lines.comment(at + 1)):
        at += 1
        if lines.comment(at) and lines.indent(at) > edge:
            end = at
    return end


def taken(lines: Lines, where: Region) -> list[str]:
    """The node as a text of its own: at the left edge, with its comments."""
    out = [lines.rows[n].strip() for n in range(where.first, where.begins)]
    out.append(lines.rows[where.begins][where.column :])
    for number in range(where.begins + 1, where.last + 1):
        row = lines.rows[number]
        shift = min(where.column, lines.indent(number))
        out.append(row[shift:] if row.strip() else "")
    return out


def shifted(rows: list[str], column: int) -> list[str]:
    return [" " * column + row if row.strip() else "" for row in rows]


def dashed(rows: list[str], column: int) -> list[str]:
    """A node's text as an item of a list whose dashes stand in this column."""
    lead = next(n for n, row in enumerate(rows) if row.strip() and not row.lstrip().startswith("#"))
    above = shifted([row.strip() for row in rows[:lead]], column)
    first = " " * column + "- " + rows[lead]
    return [*above, first, *shifted(rows[lead + 1 :], column + 2)]

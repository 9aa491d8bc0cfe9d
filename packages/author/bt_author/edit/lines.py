"""A text by lines, and the lines that belong to each node, its comments included."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.source import Node, Scalar, YamlList
from bt_runtime.language.source.text import LINE_BREAK


def parts(node: Node) -> Sequence[Node]:
    """What a list or a mapping is made of: its items, or its keys and values."""
    if isinstance(node, Scalar):
        return ()
    return node.items if isinstance(node, YamlList) else [each for pair in node.pairs for each in pair]


class Untouchable(BtError):
    """Raised when a gesture cannot change the text without changing more than it should."""


class Lines:
    """The lines of a text without line breaks; Windows line breaks are restored on writing."""

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

    def above(self, number: int, column: int) -> int:
        """The first of the comment lines above a line that begin in this column; the line itself when there is none."""
        while number > 0 and self.comment(number - 1) and self.indent(number - 1) == column:
            number -= 1
        return number

    def replaced(self, first: int, last: int, rows: Sequence[str]) -> str:
        """The text with these rows in the place of the lines from `first` to `last`. `last` before `first`: they are
        put in before it."""
        made = Lines(self.text())
        if first >= len(made.rows):
            made.rows.append("")
        made.rows[first : last + 1] = rows
        return made.text()

    def last_of(self, node: Node) -> int:
        """The last line with content of this node."""
        last, todo = 0, [node]
        while todo:
            part = todo.pop()
            last = max(last, self._end(part))
            if not self.in_brackets(part):
                todo.extend(parts(part))
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
        """True for a comment to the left of a block text, which does not belong to the block."""
        first = next((n for n in range(node.start.line + 1, number) if not self.blank(n)), number)
        return self.comment(number) and self.indent(number) < self.indent(first)

    def is_block(self, node: Scalar) -> bool:
        """True for a text of several lines, written with `|` or `>`."""
        row = self.rows[node.start.line] if node.start.line < len(self.rows) else ""
        return not node.plain and row[node.start.column : node.start.column + 1] in ("|", ">")

    def in_brackets(self, node: Node) -> bool:
        if isinstance(node, Scalar):
            return False
        row = self.rows[node.start.line] if node.start.line < len(self.rows) else ""
        return row[node.start.column : node.start.column + 1] in ("[", "{")


class Region(NamedTuple):
    """A range of lines from `first` to `last`; the node's own text begins in line `begins` at `column`."""

    first: int
    begins: int
    column: int
    last: int
    dash: int = -1  # the column of its `-`, in a list


def region(lines: Lines, node: Node, dashed: bool) -> Region:
    """Returns the lines of a node that has lines of its own: the comments above it, and its text."""
    line, column = node.start.line, node.start.column
    before = lines.rows[line][:column]
    dash = before.rfind("-") if dashed else -1
    if before.strip(" ") not in ("", "-") or (dashed and dash < 0):
        raise Untouchable("this node does not begin on a line of its own", "write it on lines of its own first")
    edge = dash if dashed else column
    return Region(lines.above(line, edge), line, column, _closing(lines, lines.last_of(node), edge), dash)


def _closing(lines: Lines, last: int, edge: int) -> int:
    """Includes comments below a node that are indented deeper than it."""
    end = at = last
    while at + 1 < len(lines.rows) and (lines.blank(at + 1) or lines.comment(at + 1)):
        at += 1
        if lines.comment(at) and lines.indent(at) > edge:
            end = at
    return end


def taken(lines: Lines, where: Region) -> list[str]:
    """Returns the node's text without indentation, with its comments."""
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
    """Formats a node's text as an item of a list whose dashes are in this column."""
    lead = next(n for n, row in enumerate(rows) if row.strip() and not row.lstrip().startswith("#"))
    above = shifted([row.strip() for row in rows[:lead]], column)
    first = " " * column + "- " + rows[lead]
    return [*above, first, *shifted(rows[lead + 1 :], column + 2)]

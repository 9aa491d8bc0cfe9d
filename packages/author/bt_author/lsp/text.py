"""A text with its places three ways: offsets, our spans (libyaml's lines), an editor's positions (UTF-16)."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import NamedTuple

from bt_runtime.language.source.text import LINE_BREAK
from bt_runtime.types import Span

_EDITOR_BREAK = re.compile("\r\n|[\n\r]")  # what the protocol calls the end of a line; libyaml knows three more
BOM = "\ufeff"


class Position(NamedTuple):
    """A position as the protocol counts it: from 0, in UTF-16 code units."""

    line: int
    character: int


class Range(NamedTuple):
    start: Position
    end: Position


class Text:
    def __init__(self, source: str) -> None:
        self.source = source
        # the loader passes a byte order mark over, an editor may count it
        self.bom = len(BOM) if source.startswith(BOM) else 0

    @property
    def yaml(self) -> str:
        """The text as the loader reads it."""
        return self.source[self.bom :]

    @cached_property
    def lines(self) -> list[int]:
        """Returns the offsets at which the editor's lines begin."""
        return [0, *(found.end() for found in _EDITOR_BREAK.finditer(self.source))]

    @cached_property
    def _yaml_lines(self) -> list[int]:
        return [self.bom, *(found.end() for found in LINE_BREAK.finditer(self.source, self.bom))]

    def line(self, number: int) -> str:
        """Returns a line without its line break."""
        if not 0 <= number < len(self.lines):
            return ""
        end = self.lines[number + 1] if number + 1 < len(self.lines) else len(self.source)
        return self.source[self.lines[number] : end].rstrip("\r\n")

    def offset(self, position: Position) -> int:
        """Returns the offset of an editor's position. A position beyond a line's end is the line's end; one beyond the
        text is the text's end."""
        if position.line >= len(self.lines):
            return len(self.source)
        line = self.line(max(position.line, 0))
        start = self.lines[max(position.line, 0)]
        if line.isascii():
            return start + min(position.character, len(line))
        units = 0
        for at, sign in enumerate(line):
            if units >= position.character:
                return start + at
            units += 2 if ord(sign) > 0xFFFF else 1
        return start + len(line)

    def position(self, offset: int) -> Position:
        offset = min(max(offset, 0), len(self.source))
        line = bisect_right(self.lines, offset) - 1
        before = self.source[self.lines[line] : offset]
        return Position(line, len(before) + (0 if before.isascii() else sum(ord(sign) > 0xFFFF for sign in before)))

    def at(self, line: int, column: int) -> int:
        """Returns the offset of a line and column, both counted from 1."""
        if line > len(self._yaml_lines):
            return len(self.source)
        return min(self._yaml_lines[line - 1] + column - 1, len(self.source))

    def range(self, span: Span | None) -> Range:
        if span is None:
            return Range(Position(0, 0), Position(0, 0))
        return Range(
            self.position(self.at(span.line, span.column)), self.position(self.at(span.end_line, span.end_column))
        )

    def place(self, offset: int) -> tuple[int, int]:
        """Returns the line and column of an offset, counted from 1."""
        line = bisect_right(self._yaml_lines, max(offset, self.bom)) - 1
        return line + 1, max(offset, self.bom) - self._yaml_lines[line] + 1

    def holds(self, span: Span | None, offset: int) -> bool:
        """True when the position lies in the span, its end included."""
        return span is not None and self.at(span.line, span.column) <= offset <= self.at(span.end_line, span.end_column)

    def changed(self, start: Position, end: Position, new: str) -> Text:
        begin = self.offset(start)
        return Text(self.source[:begin] + new + self.source[max(begin, self.offset(end)) :])

"""Finds the characters of a value that is written with escapes or over several lines."""

from __future__ import annotations

from bt_runtime.language.source.text import LINE_BREAK
from bt_runtime.types import Span

_CODES = {"x": 2, "u": 4, "U": 8}  # digits of an escape
_BLANK = "tnvfr_NLP"  # escapes that stand for a blank


def placed(source: str, begin: int, end: int, text: str) -> list[int]:
    """Returns the offset in `source` of each non-blank character of `text`; empty when the offsets are ambiguous.

    Folding changes blanks and line breaks only: what is no blank stands there in the same order.
    """
    at = _opened(source, begin, end)
    style = source[at : at + 1]
    if style == '"':
        found = _escaped(source, at + 1, end - 1)
    elif style == "'":
        found = _quoted(source, at + 1, end - 1)
    else:
        if style in ("|", ">"):
            line = LINE_BREAK.search(source, at, end)
            at = line.end() if line else end
        found = [i for i in range(at, end) if not source[i].isspace()]
    shown = sum(not sign.isspace() for sign in text)
    # a comment may stand behind a block; before its text, there is none
    return found[:shown] if len(found) >= shown else []


def _opened(source: str, at: int, end: int) -> int:
    """Returns the start of the value after its tag and anchor."""
    while at < end and source[at] in "&!":
        while at < end and not source[at].isspace():
            at += 1
        while at < end and source[at].isspace():
            at += 1
    return at


def _quoted(source: str, at: int, end: int) -> list[int]:
    found = []
    while at < end:
        if not source[at].isspace():
            found.append(at)
        at += 2 if source[at] == "'" else 1
    return found


def _escaped(source: str, at: int, end: int) -> list[int]:
    found = []
    while at < end:
        if source[at] != "\\":
            if not source[at].isspace():
                found.append(at)
            at += 1
            continue
        sign = source[at + 1 : at + 2]
        digits = _CODES.get(sign, 0)
        code = source[at + 2 : at + 2 + digits]
        blank = chr(int(code, 16)).isspace() if digits else sign.isspace() or sign in _BLANK
        if not blank:
            found.append(at)
        at += 2 + digits
    return found


def span(source: str, first: int, last: int, line: int, begin: int, column: int) -> Span:
    """Returns the span between two offsets; `begin` is an offset with known `line` and `column`, both from 0."""
    start = _place(source, first, line, begin, column)
    end = _place(source, last, line, begin, column)
    return Span(start[0] + 1, start[1] + 1, end[0] + 1, end[1] + 2)


def _place(source: str, at: int, line: int, begin: int, column: int) -> tuple[int, int]:
    start = begin - column
    for found in LINE_BREAK.finditer(source, begin, at):
        line, start = line + 1, found.end()
    return line, at - start

"""Finds the comments of a text: they lie outside all values."""

from __future__ import annotations

import re
from bisect import bisect_right

from bt_author.edit.lines import parts
from bt_runtime.language.source import Node, Scalar
from bt_runtime.language.source.text import LINE_BREAK

_SIGN = re.compile(r"(?:^|(?<=[ \t\n\r,\[\]{}]))#[^\n\r]*")


def comments(text: str, top: Node) -> list[str]:
    """Yields every comment in order, without the blanks around it."""
    return [found for _, found in placed(text, top)]


def placed(text: str, top: Node) -> list[tuple[int, str]]:
    """Yields every comment in order, with its offset."""
    spans = sorted(values(top))
    starts = [start for start, _ in spans]
    out, at = [], 0
    while found := _SIGN.search(text, at):
        place = bisect_right(starts, found.start()) - 1
        end = spans[place][1] if place >= 0 else -1
        if found.start() < end and found.start() != starts[place]:
            at = max(found.start() + 1, end)
            header = text.find("\n", starts[place])
            if text[starts[place] : starts[place] + 1] in ("|", ">") and found.start() < header:
                out.append((found.start(), found[0].strip()))  # behind the sign of a block
            continue
        out.append((found.start(), found[0].strip()))
        at = found.end()
    return out


def values(top: Node) -> set[tuple[int, int]]:
    """Yields the range of each value, from its first to its last character, without what follows a block text."""
    out, todo, seen = set(), [top], set()
    while todo:
        part = todo.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, Scalar):
            out.add((part.start.index, _end(part)))
        todo.extend(parts(part))
    return out


def _end(part: Scalar) -> int:
    source, end = part.source, part.end.index
    if part.plain or source[part.start.index : part.start.index + 1] not in ("|", ">"):
        return end
    rows = LINE_BREAK.split(source[part.start.index : end])
    indent = min(
        (len(r) - len(r.lstrip(" ")) for r in rows[1:] if r.strip() and not r.lstrip().startswith("#")), default=0
    )
    at = part.start.index + len(rows[0]) + 1
    for row in rows[1:]:
        if row.strip() and len(row) - len(row.lstrip(" ")) < indent:
            return at
        at += len(row) + 1
    return end


def comment_of(row: str, since: int = 0) -> str:
    """Returns the comment at the end of a row whose values end at column `since`; "" when there is none."""
    found = re.search(r"(?:^|\s)(#.*)$", row[since:])
    return found[1].strip() if found else ""

"""Merges three versions of a text by lines; when both sides changed the same lines, a person decides."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import NamedTuple


class Merged(NamedTuple):
    text: str
    conflict: bool  # True: both changed the same lines; `text` is mine


def merge(base: str, mine: str, theirs: str) -> Merged:
    """Returns `base` with the changes of both sides."""
    if mine in (base, theirs):
        return Merged(theirs, False)
    if theirs == base:
        return Merged(mine, False)
    lines = base.splitlines(keepends=True)
    changes = [(*change, "mine") for change in _changes(lines, mine)]
    changes += [(*change, "theirs") for change in _changes(lines, theirs)]
    changes.sort(key=lambda c: (c[0], c[1]))
    out: list[str] = []
    at = 0
    before: tuple[int, int, list[str], str] | None = None
    for start, end, new, side in changes:
        if before is not None and before[3] != side and _meet(before[0], before[1], start, end):
            if (start, end, new) == before[:3]:
                continue  # both made the same change
            return Merged(mine, True)
        out += lines[at:start]
        out += new
        at = max(at, end)
        before = (start, end, new, side)
    return Merged("".join([*out, *lines[at:]]), False)


def _changes(base: list[str], text: str) -> list[tuple[int, int, list[str]]]:
    other = text.splitlines(keepends=True)
    codes = SequenceMatcher(None, base, other, autojunk=False).get_opcodes()
    return [(i1, i2, other[j1:j2]) for tag, i1, i2, j1, j2 in codes if tag != "equal"]


def _meet(start: int, end: int, other: int, last: int) -> bool:
    """True when two changes touch the same or neighbouring lines."""
    return other <= end and start <= last

"""A tree compiled anew beside the edits of a person: a three-way merge by cases, and by lines within each.

Evidence comments (`# 14 times, 2 the other way`) are no edits: the newest stand. All other comments are kept."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

_CASE = re.compile(r"^( +)([A-Za-z_]\w*):")
_CASES = re.compile(r"^( +)cases:\s*(#.*)?$")
_EVIDENCE = re.compile(r"(?<=\S)\s+# (?:\d+ times|what is not known|[\w ]+ \d+ of \d+)[^\n]*$")


class Conflict(NamedTuple):
    """A place that a person and the new runs have changed differently."""

    where: str  # the case that it is in
    mine: str
    new: str


@dataclass(slots=True)
class Merged:
    text: str
    conflicts: list[Conflict] = field(default_factory=list)


def merged(base: str, mine: str, new: str, take: str = "") -> Merged:
    """Merges three versions. `base`: as compiled before; `mine`: as it is now; `new`: compiled from more runs.

    A conflict keeps what is there, and is told. `take`: `mine` or `new` decides them all.
    """
    parts = [dict(_parts(text)) for text in (base, mine, new)]
    order = _ordered([*parts[1]], [*parts[2]])
    found = Merged("")
    lines: list[str] = []
    for key in order:
        was, own, told = (part.get(key) for part in parts)
        lines += _part(key, was, own, told, found, take)
    found.text = "\n".join(lines) + "\n"
    return found


def _part(
    key: str, was: list[str] | None, own: list[str] | None, told: list[str] | None, found: Merged, take: str
) -> list[str]:
    if own is None or told is None:
        kept = own if own is not None else told
        if was is None:
            return kept or []  # only one of the two has the field
        if _same(kept or [], was):
            return []  # the other side has removed it
        found.conflicts += [Conflict(key, "\n".join(own or []), "\n".join(told or []))] if not take else []
        return (own if take != "new" else told) or []
    return _lines(key, was or [], own, told, found, take)


def _parts(text: str) -> Iterator[tuple[str, list[str]]]:
    """Splits the text into the head, the cases by name, and the rest."""
    key, lines, column = "head", list[str](), 0  # column at which names of cases begin; 0: not among them
    for line in text.splitlines():
        at = len(line) - len(line.lstrip())
        case = _CASE.match(line) if column and at == column else None
        left = column and line.strip() and at < column and not line.lstrip().startswith("#")
        if case is not None or left:
            yield key, lines
            key, lines = (f"case {case[2]}" if case is not None else "tail"), []
            column = column if case is not None else 0
        begins = _CASES.match(line) if key == "head" else None
        column = len(begins[1]) + 2 if begins is not None else column
        lines.append(line)
    yield key, lines


def _ordered(mine: list[str], new: list[str]) -> list[str]:
    """Returns the cases in the person's order; a new case follows its neighbour."""
    order = list(mine)
    for at, key in enumerate(new):
        if key not in order:
            before = next((each for each in reversed(new[:at]) if each in order), "head")
            order.insert(order.index(before) + 1 if before in order else 0, key)
    return order


def _bare(line: str) -> str:
    return _EVIDENCE.sub("", line).rstrip()


def _same(one: Sequence[str], two: Sequence[str]) -> bool:
    return [*map(_bare, one)] == [*map(_bare, two)]


def _lines(key: str, was: list[str], own: list[str], told: list[str], found: Merged, take: str) -> list[str]:
    made: list[str] = []
    for base, mine, new in _regions(was, own, told):
        if _same(mine, new) or _same(base, mine):
            made += new
        elif _same(base, new):
            made += mine
        elif take:
            made += mine if take == "mine" else new
        else:
            found.conflicts.append(Conflict(key, "\n".join(mine), "\n".join(new)))
            made += mine
    return made


def _regions(was: list[str], own: list[str], told: list[str]) -> Iterator[tuple[list[str], list[str], list[str]]]:
    """Splits the three texts into regions that changed on one side, on both, or on none."""
    base = [*map(_bare, was)]
    matches = [_matching(base, [*map(_bare, side)]) for side in (own, told)]
    at = (0, 0, 0)
    for line in range(len(base) + 1):
        ends = [match.get(line) for match in matches] if line < len(base) else [len(own), len(told)]
        if None in ends:
            continue
        here = (line, *(end for end in ends if end is not None))
        if here[1] < at[1] or here[2] < at[2]:
            continue
        if here != at:
            yield was[at[0] : here[0]], own[at[1] : here[1]], told[at[2] : here[2]]
        if line < len(base):
            yield was[line : line + 1], own[here[1] : here[1] + 1], told[here[2] : here[2] + 1]
            at = (here[0] + 1, here[1] + 1, here[2] + 1)


def _matching(base: list[str], side: list[str]) -> dict[int, int]:
    found: dict[int, int] = {}
    for a, b, size in difflib.SequenceMatcher(None, base, side, autojunk=False).get_matching_blocks():
        found.update((a + i, b + i) for i in range(size))
    return found

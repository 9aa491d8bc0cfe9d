"""Brings what a model changed of a tree into the text of a person: their lines, comments and quotes stay where the tree
is the same."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

import yaml

from bt_author.mcp.leaf.schema import flow

_LINE = re.compile(r"(?P<pad>(?: |- )*)(?P<key>\"[^\"]*\"|[^\s:#\"]+):(?: +(?P<value>.*))?")


class Row(NamedTuple):
    """A line of a tree. `key`: what it says, whatever its indentation and quotes; `text`: with comments before it."""

    key: str
    pad: int
    text: str


def woven(base: str, mine: str, theirs: str) -> str:
    """The lines of `mine` where `theirs` says the same as `base`, which has one layout with it; else those of
    `theirs`."""
    before, own, new = rows(base), rows(mine), rows(theirs)
    same: dict[int, int] = {}  # lines of the base that stay → those of the new text
    extra: dict[int, list[Row]] = {}  # new lines before a line of the base
    for tag, i1, i2, j1, j2 in _changes(before, new):
        if tag == "equal":
            same |= dict(zip(range(i1, i2), range(j1, j2), strict=True))
        else:
            extra[i1] = new[j1:j2]
    out: list[str] = []
    for tag, i1, i2, j1, j2 in _changes(before, own):
        spans = [(i, i + 1, j, j + 1) for i, j in zip(range(i1, i2), range(j1, j2), strict=True)]
        for b1, b2, a1, a2 in spans if tag == "equal" else [(i1, i2, j1, j2)]:
            shifts = {new[same[i]].pad - before[i].pad if i in same else None for i in range(b1, b2)}
            inside = any(i in extra for i in range(b1 + 1, b2))
            if len(shifts) > 1 or None in shifts or inside:
                for i in range(b1, b2):
                    out += [_plain(row) for row in extra.pop(i, [])]
                    out += [_plain(new[same[i]])] if i in same else []
            else:
                out += [_plain(row) for row in extra.pop(b1, [])] if b2 > b1 else []
                out += [_moved(row.text, next(iter(shifts), 0) or 0) for row in own[a1:a2]]
    out += [_plain(row) for _, added in sorted(extra.items()) for row in added]
    return "\n".join(out) + "\n"


def rows(text: str) -> list[Row]:
    """The lines that say something, each with the comments and blank lines before it."""
    found: list[Row] = []
    above: list[str] = []
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            above.append(line)
            continue
        read = _LINE.fullmatch(line)
        pad = len(read["pad"]) if read else len(line) - len(line.lstrip())
        key = f"{'-' * (read['pad'].count('-'))}{read['key']}: {_value(read['value'] or '')}" if read else line.strip()
        found.append(Row(key, pad, "\n".join([*above, line])))
        above = []
    if above and found:
        found[-1] = found[-1]._replace(text="\n".join([found[-1].text, *above]))
    return found


def _value(text: str) -> str:
    """Returns YAML as one line of JSON with sorted keys: equal values give equal texts."""
    try:
        return json.dumps(yaml.load(text, yaml.CSafeLoader), sort_keys=True)
    except (yaml.YAMLError, TypeError, ValueError):
        return text.strip()


def _changes(before: Sequence[Row], after: Sequence[Row]) -> list[tuple[str, int, int, int, int]]:
    first, second = [row.key for row in before], [row.key for row in after]
    return [(*code,) for code in SequenceMatcher(None, first, second, autojunk=False).get_opcodes()]


def _plain(row: Row) -> str:
    """A line as a person would write it: without quotes that nothing needs."""
    read = _LINE.fullmatch(row.text)
    if read is None or not read["value"]:
        return row.text
    try:
        return f"{read['pad']}{read['key']}: {flow(json.loads(read['value']))}"
    except ValueError:
        return row.text


def _moved(text: str, by: int) -> str:
    if not by:
        return text
    lines = text.splitlines()
    if by > 0:
        return "\n".join(f"{' ' * by}{line}" if line.strip() else line for line in lines)
    return "\n".join(line[min(-by, len(line) - len(line.lstrip())) :] for line in lines)

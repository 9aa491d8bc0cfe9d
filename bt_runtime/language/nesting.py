"""Edits that change a node's fields in its text: put its value below a key, write fields before it, take one out."""

from __future__ import annotations

from collections.abc import Sequence

from bt_runtime.language.faults.diagnostic import Edit
from bt_runtime.language.source import Node, Scalar, YamlList, YamlMap
from bt_runtime.types import Span

STEP = 2  # spaces of a level


def flow(node: YamlMap) -> bool:
    """Returns True for a mapping in braces: `{a: b}`."""
    return not node.pairs or node.start.index < node.pairs[0][0].start.index


def beneath(key: Scalar, value: YamlMap | YamlList, fields: Sequence[str], name: str) -> tuple[Edit, ...]:
    """Puts the value of `key` below its new field `name`, and writes `fields` before that."""
    start, end = value.span, value.span
    before = start._replace(end_line=start.line, end_column=start.column)
    if key.source[value.start.index : value.start.index + 1] in ("{", "["):
        behind = Span(end.end_line, end.end_column, end.end_line, end.end_column)
        return (Edit(before, f"{{{', '.join((*fields, ''))}{name}: "), Edit(behind, "}"))
    indent = max(start.column - 1, key.start.column + STEP)
    pad = " " * (indent - (start.column - 1))  # for a list whose dashes stand below its key's first letter
    inner = "" if pad else " " * STEP
    opened = pad + f"\n{' ' * indent}".join((*fields, f"{name}:")) + "\n" + " " * indent + inner
    deeper = (Edit(Span(n, 1, n, 1), " " * STEP) for n in range(start.line + 1, last_line(value) + 1))
    return (Edit(before, opened), *deeper)


def first(value: YamlMap, fields: Sequence[str]) -> Edit:
    """Writes fields before those of a node."""
    line, column = value.start.line + 1, value.start.column + 1
    if not flow(value):
        return Edit(Span(line, column, line, column), "".join(f"{field}\n{' ' * (column - 1)}" for field in fields))
    return Edit(Span(line, column + 1, line, column + 1), ", ".join(fields) + (", " if value.pairs else ""))


def without(value: YamlMap, name: Scalar) -> tuple[Edit, ...]:
    """Takes a field out of a node that keeps others."""
    at = next(n for n, (each, _) in enumerate(value.pairs) if each is name)
    if len(value.pairs) < 2:
        return ()
    if at + 1 < len(value.pairs):  # up to the next field
        begin, end = name.span, value.pairs[at + 1][0].span
        return (Edit(Span(begin.line, begin.column, end.line, end.column), ""),)
    before, inside = value.pairs[at - 1][1].span, value.pairs[at][1].span
    return (Edit(Span(before.end_line, before.end_column, inside.end_line, inside.end_column), ""),)


def last_line(node: Node) -> int:
    """Returns the last line of a value, counted from 1; a block text ends at the beginning of the next line."""
    return node.span.end_line - (node.span.end_column == 1)

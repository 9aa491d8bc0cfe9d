"""Formats nodes as YAML in the layout of `btr fmt`, with their comments."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_ .]*[A-Za-z0-9_.]|[A-Za-z_]")
_WORDS = frozenset(["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf", "none"])
WIDE = 110


@dataclass(slots=True)
class N:
    """A node: its kind, its value (a mapping of fields, a list of children, a child or a scalar), and a comment."""

    kind: str
    value: Any
    note: str = ""

    def count(self) -> int:
        """Returns the number of nodes here and below."""
        return sum(1 for _ in self.every())

    def every(self) -> Iterator[N]:
        """Yields this node and all below."""
        yield self
        for each in _inside(self.value):
            yield from each.every()


def _inside(value: Any) -> Iterator[N]:
    if isinstance(value, N):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _inside(each)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for each in value:
            yield from _inside(each)


def text(node: N, indent: int) -> str:
    return "\n".join(_node(node, " " * indent, " " * indent)) + "\n"


def scalar(value: Any) -> str:
    if isinstance(value, str):
        plain = _PLAIN.fullmatch(value) and value.lower() not in _WORDS
        return value if plain else json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {scalar(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(scalar, value)) + "]"
    return json.dumps(value)


def _flat(value: Any) -> bool:
    return next(_inside(value), None) is None


def _node(node: N, first: str, rest: str) -> Iterator[str]:
    note = f"  # {node.note}" if node.note else ""
    scalars = not isinstance(node.value, N | Mapping | list | tuple)
    if _flat(node.value) and (len(line := f"{first}{node.kind}: {scalar(node.value)}") <= WIDE or scalars):
        yield line + note
        return
    yield f"{first}{node.kind}:{note}"
    yield from _value(node.value, rest + "  ")


def _value(value: Any, pad: str) -> Iterator[str]:
    if isinstance(value, N):
        yield from _node(value, pad, pad)
    elif isinstance(value, Mapping):
        for key, each in value.items():
            alone = not isinstance(each, N | Mapping | list | tuple)
            if _flat(each) and (len(line := f"{pad}{key}: {scalar(each)}") <= WIDE or alone):
                yield line
            elif isinstance(each, list | tuple) and _flat(each):
                yield f"{pad}{key}:"
                yield from (f"{pad}  - {scalar(one)}" for one in each)
            else:
                yield f"{pad}{key}:"
                yield from _value(each, pad + "  ")
    else:
        for each in value:
            yield from _node(each, f"{pad}- ", f"{pad}  ")

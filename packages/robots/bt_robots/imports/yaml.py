"""Writes YAML for people: block style, comments above their nodes, quotes only where needed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from bt_runtime.language.kinds.kind import COMMON_NAMES

_PLAIN = re.compile(r"[A-Za-z_/<(](?:[^#:\n\t\\\"{}\[\],`]|:(?=\S))*")
_NOT_TEXT = {"true", "false", "null"}


class Step:
    """A node to write: its kind, its fields, and the comments above it."""

    __slots__ = ("bare", "comments", "fields", "kind")

    def __init__(self, kind: str, fields: dict[str, Any] | None = None, bare: str = "") -> None:
        self.kind, self.bare = kind, bare  # `bare`: the field that may stand alone
        self.fields: dict[str, Any] = dict(fields or {})
        self.comments: list[str] = []


def scalar(value: Any) -> str:
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if (
        value.lower() not in _NOT_TEXT
        and _PLAIN.fullmatch(value)
        and value == value.strip()
        and value.isprintable()
        and len(value) < 1000
    ):
        return value
    if value and "'" not in value and value.isprintable() and ('"' in value or "\\" in value):
        return f"'{value}'"
    quoted = json.dumps(value, ensure_ascii=False)
    return "".join(
        c if c.isprintable() else f"\\u{ord(c):04x}" if ord(c) < 0x10000 else f"\\U{ord(c):08x}" for c in quoted
    )


def document(head: dict[str, Any], comments: list[str] | None = None) -> str:
    lines = [*(f"# {line}".rstrip() for line in comments or ()), *_mapping(head, 0)]
    return "\n".join(lines) + "\n"


def _mapping(given: dict[str, Any], deep: int) -> Iterator[str]:
    for key, value in given.items():
        yield from _pair(scalar(key), value, deep)


def _pair(key: str, value: Any, deep: int) -> Iterator[str]:
    pad = "  " * deep
    if isinstance(value, Step):
        yield f"{pad}{key}:"
        yield from (f"{pad}  # {line}".rstrip() for line in value.comments)
        yield from _step(value, deep + 1)
    elif isinstance(value, dict) and value:
        if _flat(value):
            yield f"{pad}{key}: {_flow(value)}"
        else:
            yield f"{pad}{key}:"
            yield from _mapping(value, deep + 1)
    elif isinstance(value, list) and any(isinstance(each, Step) for each in value):
        yield f"{pad}{key}:"
        for each in value:
            yield from _item(each, deep + 1)
    else:
        yield f"{pad}{key}: {_flow(value)}" if value != {} else f"{pad}{key}: {{}}"


def _flat(value: dict[str, Any]) -> bool:
    if any(
        isinstance(v, Step | dict) or (isinstance(v, list) and any(isinstance(i, Step) for i in v))
        for v in value.values()
    ):
        return False
    return len(value) <= 3 and len(_flow(value)) <= 60


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{scalar(k)}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return scalar(value)


def _item(step: Step, deep: int) -> Iterator[str]:
    pad = "  " * deep
    yield from (f"{pad}# {line}".rstrip() for line in step.comments)
    first, *rest = _step(step, deep + 1)
    yield f"{pad}- {first[len(pad) + 2 :]}"
    yield from rest


def _step(step: Step, deep: int) -> Iterator[str]:
    """Lines of `kind: …`, indented by `deep`."""
    fields = step.fields
    alone = fields[step.bare] if step.bare and list(fields) == [step.bare] else None
    if step.kind == "set" and isinstance(alone, dict) and COMMON_NAMES & alone.keys():
        alone = None  # entries called as fields of any node are stand below `values:`
    if alone is not None and isinstance(alone, list) and any(isinstance(each, Step) for each in alone):
        yield f"{'  ' * deep}{step.kind}:"
        for each in alone:
            yield from _item(each, deep + 1)
    elif isinstance(alone, Step):
        yield f"{'  ' * deep}{step.kind}:"
        yield from (f"{'  ' * (deep + 1)}# {line}".rstrip() for line in alone.comments)
        yield from _step(alone, deep + 1)
    elif alone is not None:
        yield from _pair(step.kind, alone, deep)
    elif not fields:
        yield f"{'  ' * deep}{step.kind}:"
    elif _flat(fields) and not step.bare:
        yield f"{'  ' * deep}{step.kind}: {_flow(fields)}"
    else:
        yield f"{'  ' * deep}{step.kind}:"
        yield from _mapping(fields, deep + 1)

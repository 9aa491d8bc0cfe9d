"""Describes a node in a few words: its main field, or the fields that differ from their defaults."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from py_trees.behaviour import Behaviour

from bt_runtime.language.expression.expression import Expression
from bt_runtime.language.kinds.kind import DATA_TYPES, NODE_TYPES, Kind
from bt_runtime.language.kinds.registry import installed
from bt_runtime.tree.node import Node

MOST = 120  # characters
FIRST = ("goal", "file", "message", "text", "reason", "test", "condition", "seconds", "times", "prompt")
QUIET = frozenset({"name", "about", "on_success", "on_failure", "on_halt", "with"})


def family_of(node: Behaviour) -> str:
    return node.spec.kind.family if isinstance(node, Node) else "foreign"


def kind_of(node: Behaviour) -> str:
    return str(node.spec.kind.name) if isinstance(node, Node) else type(node).__name__


def signs(kinds: Iterable[Kind] | None = None) -> dict[str, str]:
    """Returns what pages draw beside the names of kinds. None: the installed ones."""
    return {kind.name: kind.sign for kind in (installed() if kinds is None else kinds) if kind.sign}


def gist(node: Behaviour) -> str:
    """Describes a node; never raises, because a plugin may define the node."""
    if not isinstance(node, Node):
        return ""
    kind, values = node.spec.kind, node.spec.values
    if kind.name == "set":
        return cut(" ".join(str(v) for v in map(said, values.values()) if v))
    goal = (values.get("with") or {}).get("goal") if kind.name == "tree" else None
    if goal:
        return cut(_data(goal))
    if kind.bare in values and (bare := kind.field(kind.bare or "")) is not None:
        return cut(_data(values[bare.name]) if bare.type in DATA_TYPES else said(values[bare.name]))
    for name in FIRST:
        if values.get(name) not in (None, ""):
            return cut(_data(values[name]))
    told = [
        f"{name}: {said(value)}"
        for name, value in values.items()
        if name not in QUIET and (f := kind.field(name)) is not None
        and f.type not in NODE_TYPES and value != f.default and said(value)
    ]  # fmt: skip
    return cut(", ".join(told))


def cut(text: str, most: int = MOST) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _data(value: Any) -> str:
    """Formats a value; a computed one is marked."""
    return f"{{{value.text}}}" if isinstance(value, Expression) else said(value)


def worded(value: Any, most: int = 80) -> str:
    """Returns a value of an entry as a sentence has it: JSON, cut when it is long."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=repr)
    except (TypeError, ValueError):
        text = repr(value)
    return cut(text, most)


def said(value: Any) -> str:
    """Formats a literal or an expression as the author wrote it."""
    value = getattr(value, "shape", value)  # a list or mapping with templates in it
    text = getattr(value, "text", None)
    if isinstance(text, str):
        return text
    if isinstance(value, dict):
        return ", ".join(f"{k} = {'null' if v is None else said(v)}" for k, v in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(said(v) for v in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)

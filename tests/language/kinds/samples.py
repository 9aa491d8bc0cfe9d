"""The example of a kind as a whole tree, as text and as data."""

from __future__ import annotations

from typing import Any

from bt_runtime.language import source
from bt_runtime.language.kinds.kind import Kind

_PORTS = {"battery": "number", "room": "string", "count": "integer", "error": "object", "place": "string"}


def tree_text(example: str) -> str:
    ports = ", ".join(f"{name}: {type}" for name, type in _PORTS.items())
    inside = "".join(f"  {line}\n" for line in example.splitlines())
    return f"version: 1\ntree: t\nblackboard: {{{ports}}}\nroot:\n{inside}"


def tree_data(kind: Kind) -> Any:
    return source.parse(tree_text(kind.example)).sound().data()

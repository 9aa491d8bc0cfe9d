"""One layout for any tree: nodes as blocks, values as JSON on one line. The grammar of whole trees accepts that."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from bt_runtime.language import source
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.kinds.kind import COMMON, Field, Kind, Registry
from bt_runtime.types import Json

HEAD = ("version", "tree", "about", "skills", "inputs", "outputs", "blackboard")


def canonical(text: str, registry: Registry) -> str:
    """The same tree in the one layout, without comments. Raises BtError for a text that is no tree."""
    document = source.parse(text, "tree")
    data = document.root.data() if document.root is not None and not document.diagnostics else None
    if not isinstance(data, dict) or "root" not in data:
        raise BtError("this is no tree", "it is a mapping with `version`, `tree` and `root`")
    lines = [f"{key}: {_flow(data[key], key)}" for key in HEAD if key in data]
    first, *rest = _node(data["root"], registry, 2)
    return "\n".join([*lines, "root:", f"  {first}", *rest, ""])


def _flow(value: Json, key: str = "") -> str:
    return str(value) if key in ("version", "tree") else json.dumps(value, ensure_ascii=False)


def _node(data: Any, registry: Registry, column: int) -> Iterator[str]:
    """The lines of a node; the first one stands behind its indentation already."""
    if isinstance(data, str):
        data = {data: {}}
    if not isinstance(data, dict) or len(data) != 1:
        raise BtError(f"this is no node: {data!r:.60}", "a node is a mapping with one key, its kind")
    name, value = next(iter(data.items()))
    kind = registry.get(str(name))
    if kind is None:
        raise BtError(f"there is no kind `{name:.40}`", "`btr explain kinds` lists them")
    fields = {field.name: field for field in (*kind.fields, *COMMON)}
    inside = _within(kind, value, fields)
    if not any(_is_node(fields.get(key), each, registry) for key, each in inside.items()):
        yield f"{name}: {_flow({} if value is None else value)}"
        return
    yield f"{name}:"
    if isinstance(value, list):
        yield from _items(value, registry, column + 2)
        return
    for key, each in inside.items():
        yield from _field(key, fields.get(key), each, registry, column + 2)


def _within(kind: Kind, value: Any, fields: Mapping[str, Field]) -> dict[str, Any]:
    """A node's value as a mapping of its fields; a bare value is that of its one field."""
    if isinstance(value, dict) and (not value or all(key in fields for key in value)):
        return value
    return {kind.bare: value} if kind.bare else {}


def _is_node(field: Field | None, value: Any, registry: Registry) -> bool:
    if field is None:
        return False
    if field.type in ("node", "nodes", "cases"):
        return True
    return field.asks and isinstance(value, dict) and len(value) == 1 and registry.get(next(iter(value))) is not None


def _field(key: str, field: Field | None, value: Any, registry: Registry, column: int) -> Iterator[str]:
    pad = " " * column
    if field is None or not _is_node(field, value, registry):
        yield f"{pad}{key}: {_flow(value)}"
    elif field.type == "nodes":
        yield f"{pad}{key}:"
        yield from _items(value, registry, column + 2)
    elif field.type == "cases":
        yield f"{pad}{key}:"
        for case, each in value.items():
            yield f"{pad}  {json.dumps(str(case), ensure_ascii=False)}:"
            yield from _placed(each, registry, column + 4)
    else:
        yield f"{pad}{key}:"
        yield from _placed(value, registry, column + 2)


def _placed(value: Any, registry: Registry, column: int) -> Iterator[str]:
    first, *rest = _node(value, registry, column)
    yield f"{' ' * column}{first}"
    yield from rest


def _items(values: Any, registry: Registry, column: int) -> Iterator[str]:
    for each in values if isinstance(values, list) else [values]:
        first, *rest = _node(each, registry, column + 2)
        yield f"{' ' * column}- {first}"
        yield from rest

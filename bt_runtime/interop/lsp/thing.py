"""What somebody points to: an entry, a kind, a field, a port, a tree, a manifest, Python, or a key of a schema."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal, NamedTuple

from bt_runtime.interop.lsp.complete import registry_at
from bt_runtime.interop.lsp.cursor import ITEM, locate
from bt_runtime.interop.lsp.entries import places
from bt_runtime.interop.lsp.slot import SCHEMAS, below, flat, resolve
from bt_runtime.interop.lsp.unit import Unit
from bt_runtime.interop.lsp.workspace import Workspace
from bt_runtime.language.kinds.kind import COMMON, Field, Kind
from bt_runtime.types import Span

_WORD = re.compile(r"[\w./:-]*")
Sort = Literal["entry", "kind", "field", "port", "tree", "manifest", "python", "schema"]


class Thing(NamedTuple):
    sort: Sort
    name: str
    span: Span  # where it stands in the file
    kind: Kind | None = None
    field: Field | None = None
    path: Path | None = None  # of a tree, a manifest, or the tree whose port it is
    about: str = ""


def thing_at(workspace: Workspace, unit: Unit, offset: int) -> Thing | None:
    return _entry(unit, offset) or _word(workspace, unit, offset)


def _entry(unit: Unit, offset: int) -> Thing | None:
    if unit.spec is None:
        return None
    for place in places(unit.spec):
        if unit.text.holds(place.span, offset):
            return Thing("entry", place.name, place.span)
    return None


def _word(workspace: Workspace, unit: Unit, offset: int) -> Thing | None:
    source = unit.text.source
    start = offset
    while start > 0 and _WORD.fullmatch(source[start - 1]) and source[start - 1] != ":":
        start -= 1
    word = _WORD.match(source, start)[0].rstrip(":")  # type: ignore[index]
    if not word:
        return None
    line, column = unit.text.place(start)
    span = Span(line, column, line, column + len(word))
    cursor = locate(unit.text, start + len(word))
    registry = registry_at(workspace, unit) if unit.content == "tree" else workspace.registry
    slot = resolve(cursor.path, registry, unit.content)
    if unit.content == "tree" and cursor.path[:1] == ("skills",):
        path = workspace.manifest_named(word)
        return Thing("manifest", word, span, path=path)
    if cursor.role == "value" or (cursor.path[-1:] == (ITEM,) and slot.what in ("value", "schema")):
        field = slot.kind.field(slot.kind.bare) if slot.what == "bare" and slot.kind and slot.kind.bare else slot.field
        if slot.kind is not None and slot.kind.includes and field is not None and field.name == "file":
            found = _included(unit, span)
            return Thing("tree", word, span, path=found) if found is not None else None
        if cursor.key in ("impl", "class") and ":" in word:
            return Thing("python", word, span)
        return None
    if slot.what == "schema":
        inner = below(slot.schema, word, SCHEMAS[unit.content])
        about = next((str(e["description"]) for e in flat(inner, SCHEMAS[unit.content]) if "description" in e), "")
        if unit.content == "skills" and cursor.path == ("kinds",) and unit.manifest is not None:
            kind = next((k for k in unit.manifest.kinds if k.name == word), None)
            return Thing("kind", word, span, kind, path=unit.path)
        return Thing("schema", word, span, about=about) if about else None
    if slot.what == "ports":
        return Thing("port", word, span, slot.kind, path=_around(unit, line))
    if slot.what == "bare" and slot.kind is not None:
        field = slot.kind.field(word) or next((f for f in COMMON if f.name == word), None)
        if field is not None:
            return Thing("field", word, span, slot.kind, field)
    kind = registry.get(word)
    return Thing("kind", word, span, kind) if kind is not None and slot.what in ("node", "bare", "value") else None


def _included(unit: Unit, span: Span) -> Path | None:
    for include in unit.includes:
        given = include.node.given.get("file")
        if (
            given is not None
            and given.span.line == span.line
            and given.span.column <= span.column <= given.span.end_column
        ):
            return include.target
    return None


def _around(unit: Unit, line: int) -> Path | None:
    """The tree that the nearest `tree` node above names."""
    above = [i for i in unit.includes if i.node.span.line <= line]
    return max(above, key=lambda i: i.node.span).target if above else None

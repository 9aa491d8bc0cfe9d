"""The symbol under a cursor: an entry, a kind, a field, a port, a tree, a manifest, Python, or a schema's key."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal, NamedTuple

from bt_author.lsp.complete import registry_at
from bt_author.lsp.completion_slot import SCHEMAS, below, flat, resolve
from bt_author.lsp.cursor import ITEM, locate
from bt_author.lsp.document import Document
from bt_author.lsp.workspace import Workspace
from bt_runtime.language.kinds.kind import COMMON, Field, Kind
from bt_runtime.types import Span

_WORD = re.compile(r"[\w./:-]*")
Sort = Literal["entry", "kind", "field", "port", "tree", "manifest", "python", "schema"]


class Symbol(NamedTuple):
    sort: Sort
    name: str
    span: Span  # the symbol's place in the file
    kind: Kind | None = None
    field: Field | None = None
    path: Path | None = None  # file of the tree, the manifest, or the tree with this port
    about: str = ""


def symbol_at(workspace: Workspace, document: Document, offset: int) -> Symbol | None:
    return _entry(document, offset) or _word(workspace, document, offset)


def _entry(document: Document, offset: int) -> Symbol | None:
    entries = document.entries() if document.spec is not None else None
    for place in entries.on(document.text.place(offset)[0]) if entries is not None else ():
        if document.text.holds(place.span, offset):
            return Symbol("entry", place.name, place.span)
    return None


def _word(workspace: Workspace, document: Document, offset: int) -> Symbol | None:
    source = document.text.source
    start = offset
    while start > 0 and _WORD.fullmatch(source[start - 1]) and source[start - 1] != ":":
        start -= 1
    word = _WORD.match(source, start)[0].rstrip(":")  # type: ignore[index]
    if not word:
        return None
    line, column = document.text.place(start)
    span = Span(line, column, line, column + len(word))
    cursor = locate(document.text, start + len(word))
    registry = registry_at(workspace, document)
    slot = resolve(cursor.path, registry, document.content)
    if document.content == "tree" and cursor.path[:1] == ("skills",):
        path = workspace.site(document.path).manifest_named(word)
        return Symbol("manifest", word, span, path=path)
    if document.content == "tree" and (cursor.path, cursor.role) == (("tree",), "value"):
        return Symbol("tree", word, span, path=document.path)
    if cursor.role == "value" or (cursor.path[-1:] == (ITEM,) and slot.what in ("value", "schema")):
        field = slot.kind.field(slot.kind.bare) if slot.what == "bare" and slot.kind and slot.kind.bare else slot.field
        if slot.kind is not None and slot.kind.includes and field is not None and field.name == "file":
            found = _included(document, span)
            return Symbol("tree", word, span, path=found) if found is not None else None
        if cursor.key in ("impl", "class") and ":" in word:
            return Symbol("python", word, span)
        return None
    if slot.what == "schema":
        inner = below(slot.schema, word, SCHEMAS[document.content])
        about = next((str(e["description"]) for e in flat(inner, SCHEMAS[document.content]) if "description" in e), "")
        if document.content == "skills" and cursor.path == ("kinds",) and document.manifest is not None:
            kind = next((k for k in document.manifest.kinds if k.name == word), None)
            return Symbol("kind", word, span, kind, path=document.path)
        return Symbol("schema", word, span, about=about) if about else None
    if slot.what == "ports":
        return Symbol("port", word, span, slot.kind, path=_around(document, line))
    if slot.what == "bare" and slot.kind is not None:
        field = slot.kind.field(word) or next((f for f in COMMON if f.name == word), None)
        if field is not None:
            return Symbol("field", word, span, slot.kind, field)
    kind = registry.get(word)
    return Symbol("kind", word, span, kind) if kind is not None and slot.what in ("node", "bare", "value") else None


def _included(document: Document, span: Span) -> Path | None:
    for include in document.includes:
        given = include.node.given.get("file")
        if (
            given is not None
            and given.span.line == span.line
            and given.span.column <= span.column <= given.span.end_column
        ):
            return include.target
    return None


def _around(document: Document, line: int) -> Path | None:
    """Returns the tree that the nearest `tree` node above the line names."""
    above = [i for i in document.includes if i.node.span.line <= line]
    return max(above, key=lambda i: i.node.span).target if above else None

"""The content allowed at a position of a document: a node, fields of a kind, a value, or a schema's content."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from bt_author.lsp.cursor import ITEM, Step
from bt_runtime.language import impls
from bt_runtime.language.emit.manifests import manifest_schema
from bt_runtime.language.guide_header import plan_schema
from bt_runtime.language.head_schema import header_schema
from bt_runtime.language.kinds.kind import COMMON, Field, Kind, Registry
from bt_runtime.language.kinds.shape import Schema
from bt_runtime.language.project_file import settings_schema

# node: a kind is wanted; fields: those of `kind`; bare: the value of `kind`, or its fields; nodes: a list of nodes;
# cases: a value for each node; entries: names of entries (`assignments`); ports: those of an included tree;
# value: of `field`; schema: whatever `schema` says
What = Literal["node", "bare", "nodes", "cases", "entries", "ports", "value", "schema", "unknown"]
_COMMON = {field.name: field for field in COMMON}
_WITHIN: Mapping[str, What] = {
    "node": "node", "nodes": "nodes", "cases": "cases", "assignments": "entries", "inputs": "ports",
}  # fmt: skip
_HEADER, _SETTINGS, _PLAN = header_schema(), settings_schema(), plan_schema()
_MANIFEST = manifest_schema(impls.keys_of(impls.every()))
SCHEMAS: Mapping[str, Schema] = {"tree": _HEADER, "skills": _MANIFEST, "project": _SETTINGS, "plan": _PLAN}


class CompletionSlot(NamedTuple):
    what: What
    kind: Kind | None = None
    field: Field | None = None
    schema: Mapping[str, Any] = {}

    def step(self, step: Step, registry: Registry, top: Schema) -> CompletionSlot:
        """The content allowed one level deeper."""
        if self.what == "schema":
            return _schema_step(self, step, top)
        if self.what == "node" and isinstance(step, str):
            kind = registry.get(step)
            return CompletionSlot("bare", kind) if kind is not None else CompletionSlot("unknown")
        if self.what == "bare" and self.kind is not None:
            return _kind_step(self.kind, step, registry)
        if self.what in ("nodes", "cases"):
            return CompletionSlot("node") if (step == ITEM) == (self.what == "nodes") else CompletionSlot("unknown")
        if self.what == "value" and self.field is not None and self.field.asks and isinstance(step, str):
            return CompletionSlot("node").step(step, registry, top)
        if self.what in ("entries", "ports", "value"):
            return self if step == ITEM else CompletionSlot("value", self.kind, Field(str(step), "any", ""))
        return CompletionSlot("unknown")


def resolve(path: Iterable[Step], registry: Registry, content: str) -> CompletionSlot:
    top = SCHEMAS.get(content, {})
    slot = CompletionSlot("schema", schema=top)
    for step in path:
        slot = (
            CompletionSlot("node")
            if content == "tree" and slot.schema is top and step == "root"
            else slot.step(step, registry, top)
        )
    return slot


def _kind_step(kind: Kind, step: Step, registry: Registry) -> CompletionSlot:
    bare = kind.field(kind.bare) if kind.bare else None
    if step == ITEM:
        return _inside(kind, bare).step(step, registry, {}) if bare is not None else CompletionSlot("unknown")
    field = kind.field(str(step)) or _COMMON.get(str(step))
    if field is not None:
        return _inside(kind, field)
    if bare is not None and bare.type in ("node", "assignments"):
        return _inside(kind, bare).step(step, registry, {})
    return CompletionSlot("unknown")


def _inside(kind: Kind, field: Field) -> CompletionSlot:
    return CompletionSlot(_WITHIN.get(field.type, "value"), kind, field)


def _schema_step(slot: CompletionSlot, step: Step, top: Schema) -> CompletionSlot:
    found = below(slot.schema, step, top)
    return CompletionSlot("schema", schema=found) if found is not None else CompletionSlot("unknown")


def flat(schema: Any, top: Mapping[str, Any]) -> list[Schema]:
    """Returns a schema with its references, `then`, `else` and `allOf` parts resolved into one list, regardless of
    conditions. `top` is the document that references point into."""
    if not isinstance(schema, dict):
        return []
    found = [schema]
    if "$ref" in schema:
        target: Any = top
        for part in str(schema["$ref"]).removeprefix("#/").split("/"):
            target = target.get(part, {})
        found += flat(target, top)
    for key in ("then", "else"):
        found += flat(schema.get(key), top)
    for each in schema.get("allOf", ()):
        found += flat(each, top)
    return found


def below(schema: Mapping[str, Any], step: Step, top: Mapping[str, Any]) -> Schema | None:
    for each in flat(schema, top):
        if step == ITEM:
            if isinstance(each.get("items"), dict):
                return each["items"]  # type: ignore[no-any-return]
        elif step in each.get("properties", {}):
            return each["properties"][step]  # type: ignore[no-any-return]
    for each in flat(schema, top):
        more = each.get("additionalProperties")
        if step != ITEM and isinstance(more, dict):
            return more
    return None


def properties(schema: Mapping[str, Any], top: Mapping[str, Any]) -> dict[str, Schema]:
    return {name: inner for each in flat(schema, top) for name, inner in each.get("properties", {}).items()}


def choices(schema: Mapping[str, Any], top: Mapping[str, Any]) -> list[Any]:
    """The words that a schema allows."""
    found: dict[Any, None] = {}
    for each in flat(schema, top):
        found |= dict.fromkeys(each.get("enum", ()))
        if each.get("type") == "boolean":
            found |= {True: None, False: None}
    return list(found)

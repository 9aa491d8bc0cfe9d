"""The registry as an editor's JSON Schema (draft-07): completion, descriptions, and one diagnostic for one fault.

A node is a mapping with one key, so its kinds are plain `properties`; where a kind has several forms (a bare list, a
bare child, its fields) an `if` on what was written chooses one, and only that one complains.
"""

from __future__ import annotations

from collections.abc import Iterable

from bt_runtime.language.head_schema import OUTSIDE, head_properties, ports
from bt_runtime.language.kinds.kind import COMMON, Field, Kind
from bt_runtime.language.kinds.shape import (
    DRAFT,
    NODE,
    Schema,
    closed,
    field_schema,
    node_name,
    outputs,
    value_schema,
)
from bt_runtime.language.outputs import MOST_DECIMALS, MOST_ITEMS, MOST_LENGTH, TYPES
from bt_runtime.language.shared import SCHEMA
from bt_runtime.types import Json

_BOUNDS: Schema = {
    "minimum": {"type": "number", "description": "The least number."},
    "maximum": {"type": "number", "description": "The greatest number."},
    "max_length": {"type": "integer", "minimum": 1, "maximum": MOST_LENGTH, "description": "Characters of a text."},
    "decimals": {"type": "integer", "minimum": 1, "maximum": MOST_DECIMALS, "description": "Of a number."},
    "max_items": {"type": "integer", "minimum": 1, "maximum": MOST_ITEMS, "description": "Parts of a list."},
}  # fmt: skip


def tree_schema(kinds: Iterable[Kind], manifests: Iterable[str] = ()) -> Schema:
    """Returns the schema of tree files that use these kinds."""
    known = merged(kinds)
    return {
        "$schema": DRAFT,
        "title": "bt_runtime tree",
        "description": "A behaviour tree of bt_runtime, language version 1.",
        **closed(head_properties(sorted(set(manifests))), ("version", "tree", "root")),
        "definitions": {
            "node": _node(known),
            "nodes": {"type": "array", "items": NODE, "minItems": 1},
            "ports": ports(),
            "entries": ports(outside=OUTSIDE, **SCHEMA),
            "outputs": outputs(TYPES, _BOUNDS),
            **{f"any_{f.name}": {**field_schema(f), **(node_name() if f.name == "name" else {})} for f in COMMON},
            **{f"kind_{kind.name}": kind_schema(kind, known) for kind in known},
        },
    }


def merged(kinds: Iterable[Kind]) -> list[Kind]:
    """Merges kinds by name. For a skill described by several manifests, whatever one manifest allows is allowed."""
    known: dict[str, Kind] = {}
    for kind in kinds:
        first = known.setdefault(kind.name, kind)
        if first is not kind and first.fields != kind.fields:
            known[kind.name] = _either(first, kind)
    return list(known.values())


def _either(one: Kind, other: Kind) -> Kind:
    fields: dict[str, Field] = {}
    for field in (*one.fields, *other.fields):
        twin_one, twin_other = one.field(field.name), other.field(field.name)
        if twin_one == twin_other:
            fields[field.name] = field
        else:
            fields[field.name] = Field(field.name, "any", field.about)
    bare = one.bare if one.bare == other.bare else None
    return one._replace(fields=tuple(fields.values()), bare=bare)


def kind_schema(kind: Kind, kinds: Iterable[Kind] = ()) -> Schema:
    """Returns the schema of the value below the key `kind:`."""
    described: Schema = {"description": kind.about, "markdownDescription": hover(kind)}
    bare = kind.field(kind.bare) if kind.bare else None
    if bare is None:
        needed = any(f.required for f in kind.fields)
        said = f"`{kind.name}` takes a mapping of its fields" if kind.fields else f"`{kind.name}` takes no value"
        form: Schema = {"type": "object" if needed else ["object", "null"], "errorMessage": said}
        form = {**form, "allOf": [_fields(kind)]}  # apart: that message is about the type alone
    elif bare.type == "node":
        form = _bare_node(kind, bare, kinds)
    elif bare.type == "nodes":
        form = _bare(kind, ["array"], "array", value_schema(bare), "a list of nodes")
    elif bare.type == "assignments":
        given = {"required": [bare.name]}
        form = {"type": "object", "if": given, "then": _fields(kind), "else": _entries(kind, bare)}
    else:
        form = _bare_value(kind, bare)
    return {**described, **form}


def _bare(kind: Kind, types: list[str], when: str, form: Schema, said: str) -> Schema:
    empty = [] if any(f.required for f in kind.fields) else ["null"]
    return {
        "type": [*types, "object", *empty],
        "errorMessage": f"`{kind.name}` takes {said}, or a mapping of its fields",
        "if": {"type": when},
        "then": form,
        "else": _fields(kind),
    }


def _entries(kind: Kind, bare: Field) -> Schema:
    """A bare mapping of entries; none of its keys may be a field that every node has."""
    form = value_schema(bare)
    said = f"A field of any node: write the entries of `{kind.name}` below `{bare.name}:`, and this beside it"
    taken: Schema = {"not": {"enum": [f.name for f in COMMON]}, "errorMessage": said}
    return {**form, "propertyNames": {"allOf": [form.get("propertyNames", {}), taken]}}


def _bare_value(kind: Kind, bare: Field) -> Schema:
    """A bare scalar, or the fields."""
    value = value_schema(bare)
    types: Json = value.pop("type", None)
    form: Schema = {"if": {"type": "object"}, "then": _fields(kind), "else": value}
    if types is None:
        return form
    given = [types] if isinstance(types, str) else types
    empty = ["null"] if not bare.required and not kind.one_of else []
    return {"type": [*given, "object", *empty], "errorMessage": value.get("errorMessage", ""), **form}


def _bare_node(kind: Kind, bare: Field, kinds: Iterable[Kind]) -> Schema:
    """A bare child, or a mapping of fields. A key that is no field is the child's kind; an empty mapping can be
    either."""
    fields = _fields(kind)
    own = fields["properties"]
    child = {k.name: {"$ref": f"#/definitions/kind_{k.name}"} for k in kinds if k.name not in own}
    named = {"type": "object", "minProperties": 1, "propertyNames": {"pattern": f"^({'|'.join(own)})$"}}
    either = {"minProperties": 1, **closed({**child, **own}, ())}
    return {
        "type": "object",
        "errorMessage": f"`{kind.name}` takes a node, or a mapping of its fields",
        "if": {"type": "object", "minProperties": 2},
        "then": fields,
        "else": {"if": named, "then": fields, "else": either},
    }


def _fields(kind: Kind) -> Schema:
    own = {f.name: field_schema(f) for f in kind.fields}
    common = {f.name: {"$ref": f"#/definitions/any_{f.name}"} for f in COMMON if f.name not in own}
    return _complete({**own, **common}, [f.name for f in kind.fields if f.required], kind.one_of)


def _complete(properties: Schema, required: list[str], one_of: tuple[str, ...]) -> Schema:
    """Requires the missing keys only when no key is unknown, so that a misspelt field is one fault, not two."""
    needed: Schema = {**({"required": required} if required else {}), **_one_of(one_of)}
    if not needed:
        return closed(properties, ())
    names = {"pattern": f"^({'|'.join(properties)})$"}
    return {**closed(properties, ()), "if": {"propertyNames": names}, "then": needed}


def _one_of(names: tuple[str, ...]) -> Schema:
    """Requires at least one of the names; a fault reports the last one as missing."""
    schema: Schema = {"required": [names[-1]]} if names else {}
    for name in reversed(names[:-1]):
        schema = {"if": {"required": [name]}, "else": schema}
    return schema


def _node(kinds: Iterable[Kind]) -> Schema:
    return {
        "type": "object",
        "errorMessage": "A node is a mapping with one key, its kind",
        "if": {"maxProperties": 1},
        "then": {"minProperties": 1, **_kinds(kinds)},
        "else": {"maxProperties": 1},  # a second key is the one fault: what is below it is not looked at
    }


def _kinds(kinds: Iterable[Kind]) -> Schema:
    return closed({k.name: {"$ref": f"#/definitions/kind_{k.name}"} for k in kinds}, ())


# Descriptions -----------------------------------------------------------------------------------------


def hover(kind: Kind) -> str:
    """Returns an editor's hover text for a kind: description, fields, rules, example."""
    fields = [f"- `{f.name}`{'' if f.required else ' (optional)'}: {f.about}" for f in kind.fields]
    rules = [f"- {rule}" for rule in kind.rules]
    parts = [kind.about, "\n".join(fields), "\n".join(rules), f"```yaml\n{kind.example}```" if kind.example else ""]
    return "\n\n".join(p for p in parts if p)

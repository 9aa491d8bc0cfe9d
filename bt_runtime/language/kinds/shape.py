"""A field as JSON Schema (draft-07) without oneOf and anyOf, so that an editor shows one diagnostic per fault."""

from __future__ import annotations

from collections.abc import Iterable

from bt_runtime.language.kinds.kind import Field
from bt_runtime.types import Json

Schema = dict[str, Json]

DRAFT = "http://json-schema.org/draft-07/schema#"
NAME = "^[A-Za-z_][A-Za-z0-9_]*$"
HOLE = r"^\{(?!\{)[\s\S]*\}$"  # a text that is one template and nothing else
NODE: Schema = {"$ref": "#/definitions/node"}
NODES: Schema = {"$ref": "#/definitions/nodes"}
SCALAR = ["string", "number", "boolean"]
_JSON_TYPES = {"list": "array"}
_SAID = {
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "list": "a list",
    "object": "a mapping",
}


def closed(properties: Schema, required: Iterable[str]) -> Schema:
    """The schema of a mapping with exactly these keys."""
    needed = list(required)
    return {"properties": properties, "additionalProperties": False, **({"required": needed} if needed else {})}


def field_schema(field: Field) -> Schema:
    """Returns the schema of a field's value."""
    described: Schema = {"description": described_as(field)}
    if field.default is not None:
        described["default"] = field.default
    elif field.required and (field.minimum or 0) > 0:
        described["default"] = max(1, field.minimum or 0)  # value that a snippet inserts instead of 0
    return {**described, **value_schema(field)}


def described_as(field: Field) -> str:
    return field.about if field.required else f"{field.about} (optional)".strip()


def value_schema(field: Field) -> Schema:
    if field.type == "node":
        return {"allOf": [NODE]}  # beside a bare $ref its description would not count
    if field.type == "nodes":
        return {"allOf": [NODES]} if field.required else {"type": "array", "items": NODE}
    if field.type == "cases":
        return {"type": "object", "minProperties": 1, "additionalProperties": NODE}
    if field.type == "word":
        return {"enum": list(field.choices)}
    if field.type == "key":
        return _name("The name of an entry: ASCII letters, digits and _")
    if field.type in ("assignments", "inputs"):
        return {"type": "object", "propertyNames": _name("An entry is named by ASCII letters, digits and _")}
    if field.type == "outputs":
        return {"allOf": [{"$ref": "#/definitions/outputs"}]}
    if field.asks:
        wrong = "This takes an expression, or a node"
        return {"type": [*SCALAR, "object"], "errorMessage": wrong, "if": {"type": "object"}, "then": NODE}
    if field.type in ("expression", "text"):
        return {
            "type": SCALAR,
            "errorMessage": f"This takes {'an expression' if field.type == 'expression' else 'text'}",
        }
    return _data(field)


def node_name() -> Schema:
    """The schema of a node's `name`, which becomes a part of its path."""
    return {
        "type": SCALAR,
        "maxLength": 80,
        "pattern": r"^(?!\d+$)(?! )[^/*?\[\]{}]+(?<! )$",
        "errorMessage": "A name has at most 80 characters, not only digits, and none of / * ? [ ] { }",
    }


def _data(field: Field) -> Schema:
    """The schema of a literal, or of a template that produces one."""
    if field.writes:
        return {"type": "string", "pattern": HOLE, "errorMessage": 'The entry that is written, as "{entry}"'}
    literal = _literal(field)
    if field.choices:
        listed = list(field.choices)  # as examples as well: editors do not look for words to offer behind an `else`
        return {"examples": listed, "if": {"type": "string", "pattern": HOLE}, "else": {"enum": listed}}
    return literal


def _literal(field: Field) -> Schema:
    if field.type == "any":
        return {}
    if field.type == "string":
        return {"type": "string", "errorMessage": "This takes text; a number is put in quotes"}
    schema: Schema = {
        "type": [_JSON_TYPES.get(field.type, field.type), "string"],
        "pattern": HOLE,
        "errorMessage": f'This takes {_SAID[field.type]}, or a template such as "{{entry}}"',
    }
    bounds: Schema = {
        key: value for key, value in (("minimum", field.minimum), ("maximum", field.maximum)) if value is not None
    }
    words = [each for each in field.extra if isinstance(each, str)]
    if words:
        schema["pattern"] = f"^({'|'.join(words)})$|{HOLE}"
    elif bounds and field.extra:
        # -1 by its bounds: an editor shows whatever is listed as all that is allowed
        return {**schema, "if": {"minimum": min(field.extra), "maximum": max(field.extra)}, "else": bounds}
    return {**schema, **bounds}


def _name(message: str) -> Schema:
    return {"type": "string", "pattern": NAME, "errorMessage": message}


def outputs(types: Iterable[str], bounds: Schema) -> Schema:
    """Names with what a model may answer: `room: string`, or a mapping with a type or with choices."""
    listed = list(types)
    said = f"An output has one of these types: {', '.join(listed)}; or `choices`"
    inside = {"$ref": "#/definitions/outputs"}
    fields: Schema = {
        "type": {"enum": listed, "description": "What it is.", "errorMessage": said},
        "about": {"type": [*SCALAR, "null"], "description": "What it is for: the model is told."},
        "choices": {"type": ["array", "string"], "description": "The only values that it may have."},
        **bounds,
        "items": {"description": "What a list has in it: a type, or a mapping like this one."},
        "fields": {"description": "What an object has in it.", "allOf": [inside]},
    }
    needs = {"if": {"required": ["choices"]}, "else": {"required": ["type"]}}
    scalar = {"enum": listed[:4], "errorMessage": said}
    return {
        "type": "object",
        "minProperties": 1,
        "errorMessage": "This takes a mapping of entries to what they may be",
        "propertyNames": _name("An entry is named by ASCII letters, digits and _"),
        "additionalProperties": {"if": {"type": "object"}, "then": {**closed(fields, ()), **needs}, "else": scalar},
    }


def typed(
    what: str, types: Iterable[str], reserved: Iterable[str] = (), why: str = "It is reserved: any node may carry it",
    **more: Schema,
) -> Schema:  # fmt: skip
    """Returns the schema of typed names, such as `room: string`. `what` names the element in messages: "a port".
    `reserved`: what is no name; `why`: the reason."""
    listed, noun = list(types), what.removeprefix("a ")
    names: Schema = {"pattern": NAME, "errorMessage": f"A {noun} is named by ASCII letters, digits and _"}
    taken: Schema = {"not": {"enum": sorted(reserved)}, "errorMessage": why}
    fields: Schema = {
        "type": {**_type_of(what, listed), "description": "What values it takes (any, unless said)."},
        "about": {"type": [*SCALAR, "null"], "description": "What it is for."},
        "default": {"description": "Its value when none is given; without one it must be given."},
        "choices": {"type": "array", "description": "The only values that it may have."},
        **more,
    }
    mapping = {"$comment": what, **closed(fields, ()), "dependencies": _fitting([t for t in listed if t != "any"])}
    return {
        "propertyNames": {"allOf": [names, taken]} if reserved else names,
        "additionalProperties": {"if": {"type": "object"}, "then": mapping, "else": _type_of(what, listed)},
    }


def bounds() -> Schema:
    """Returns the schema of a numeric port's or parameter's bounds."""
    return {
        "minimum": {"type": "number", "description": "The least that it may be."},
        "maximum": {"type": "number", "description": "The most that it may be."},
    }


def _type_of(what: str, types: list[str]) -> Schema:
    return {"enum": types, "errorMessage": f"{what[:1].upper()}{what[1:]} has one of these types: {', '.join(types)}"}


def _fitting(types: list[str]) -> Schema:
    """Checks that a default and choices fit the named type, where they are given."""
    of = {type: {"type": _JSON_TYPES.get(type, type)} for type in types}
    return {
        "default": {"allOf": [_if_of(type, {"default": wanted}) for type, wanted in of.items()]},
        "choices": {"allOf": [_if_of(type, {"choices": {"items": wanted}}) for type, wanted in of.items()]},
    }


def _if_of(type: str, wanted: Schema) -> Schema:
    named = {"properties": {"type": {"const": type}}, "required": ["type"]}
    return {"if": named, "then": {"properties": wanted}}

"""Accepts sound values quickly, without loading a validator.

The schema decides: a value not accepted here goes to the full check and is not yet a fault."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from bt_runtime.language.kinds.shape import Schema
from bt_runtime.types import Json

_SAID = frozenset({"$schema", "$comment", "title", "description", "markdownDescription", "errorMessage", "examples",
                   "default", "definitions", "then", "else"})  # fmt: skip


Path: TypeAlias = tuple[str | int, ...]  # steps from the top of a document to a fault


def integer(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)  # 4.0 is written as 4


def number(value: Json) -> bool:
    return integer(value) or (isinstance(value, float) and math.isfinite(value))


_CERTAIN = frozenset({"type", "required", "const", "enum"})  # words whose opposite is certain too
_CLASSES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def fits(schema: Schema, value: Json, top: Schema | None = None) -> bool:
    """True: the value fits. False: it does not, or the schema uses something that this check does not know."""
    top = schema if top is None else top
    for word, said in schema.items():
        rule = _RULES.get(word)
        if (word not in _SAID) if rule is None else not rule(said, value, schema, top):
            return False
    return True


# Plain loops instead of generators: each tree, plan and message passes here.
def _type(said: Json, value: Json, schema: Schema, top: Schema) -> bool:
    for word in (said,) if isinstance(said, str) else said:
        kind = _CLASSES.get(word)
        if isinstance(value, kind) if kind is not None else integer(value) if word == "integer" else number(value):
            return True
    return False


def _enum(said: Json, value: Json, schema: Schema, top: Schema) -> bool:
    for each in said:  # noqa: SIM110
        if value.__class__ is each.__class__ and value == each:
            return True
    return False


def _properties(said: Json, value: Json, schema: Schema, top: Schema) -> bool:
    for key, of in value.items() if isinstance(value, dict) else ():
        if key in said and not fits(said[key], of, top):
            return False
    return True


def _additional(said: Json, value: Json, schema: Schema, top: Schema) -> bool:
    known = schema.get("properties", ())
    more = [of for key, of in value.items() if key not in known] if isinstance(value, dict) else []
    return not more if said is False else all(fits(said, of, top) for of in more)


def _if(said: Json, value: Json, schema: Schema, top: Schema) -> bool:
    """Evaluates `if`, but only for conditions whose opposite is also certain: a type, a required key, a constant."""
    if not _plain(said):
        return False
    return fits(schema.get("then" if fits(said, value, top) else "else", {}), value, top)


def _plain(said: Schema) -> bool:
    other = said.keys() - _CERTAIN
    return not other or (other == {"properties"} and all(map(_plain, said["properties"].values())))


def _bound(keep: Callable[[Json, Json], bool]) -> Callable[[Json, Json, Schema, Schema], bool]:
    return lambda said, value, schema, top: not isinstance(value, int | float) or keep(value, said)


def _length(
    least: bool, kind: type[dict[str, Json]] | type[list[Json]] | type[str]
) -> Callable[[Json, Json, Schema, Schema], bool]:
    def long(said: Json, value: Json, schema: Schema, top: Schema) -> bool:
        return not isinstance(value, kind) or (len(value) >= said if least else len(value) <= said)

    return long


_RULES: Mapping[str, Callable[[Json, Json, Schema, Schema], bool]] = {
    "type": _type,
    "enum": _enum,
    "const": lambda said, value, schema, top: _enum((said,), value, schema, top),
    "properties": _properties,
    "additionalProperties": _additional,
    "required": lambda said, value, schema, top: not isinstance(value, dict) or value.keys() >= {*said},
    "propertyNames": lambda said, value, schema, top: (
        not isinstance(value, dict) or all(fits(said, key, top) for key in value)
    ),
    "items": lambda said, value, schema, top: (
        not isinstance(value, list) or all(fits(said, each, top) for each in value)
    ),
    "pattern": lambda said, value, schema, top: not isinstance(value, str) or re.search(said, value) is not None,
    "minimum": _bound(lambda value, least: value >= least),
    "maximum": _bound(lambda value, most: value <= most),
    "exclusiveMinimum": _bound(lambda value, least: value > least),
    "minItems": _length(True, list),
    "maxItems": _length(False, list),
    "minLength": _length(True, str),
    "maxLength": _length(False, str),
    "minProperties": _length(True, dict),
    "maxProperties": _length(False, dict),
    "dependencies": lambda said, value, schema, top: (
        not isinstance(value, dict) or all(fits(of, value, top) for key, of in said.items() if key in value)
    ),
    "allOf": lambda said, value, schema, top: all(fits(each, value, top) for each in said),
    "not": lambda said, value, schema, top: _plain(said) and not fits(said, value, top),
    "if": _if,
    "$ref": lambda said, value, schema, top: fits(top["definitions"][said.removeprefix("#/definitions/")], value, top),
}

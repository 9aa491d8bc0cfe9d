"""The reduced language in which a model expands a node: subgoals as text, `act` for skills, and kinds with `emit`.

The language is available as plain data, for building a grammar, and as a JSON Schema."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from bt_runtime.language.kinds.kind import Field, Kind
from bt_runtime.language.kinds.shape import DRAFT, Schema

ACT = "act"  # the kind whose value is a skill's sentence
Shape = Literal["children", "child", "leaf", "sentence"]
ValueType = Literal["integer", "number", "boolean", "string"]
_TYPES: dict[str, ValueType] = {
    "integer": "integer", "number": "number", "boolean": "boolean",
    "string": "string", "text": "string", "expression": "string", "key": "string",
}  # fmt: skip


class PlanLimits(NamedTuple):
    """The limits of one answer; the grammar enforces them."""

    depth: int = 3  # nodes with children, one inside another
    width: int = 5  # children of one node
    string: int = 80  # characters of one text


DEFAULT_LIMITS = PlanLimits()


class FormField(NamedTuple):
    name: str
    type: ValueType | tuple[str, ...]  # a tuple: one of these words


class Form(NamedTuple):
    """A kind as a model writes it: with its children, its child, its fields, or (`act`) as a sentence."""

    name: str
    shape: Shape
    fields: tuple[FormField, ...] = ()

    @property
    def inner(self) -> bool:
        return self.shape in ("children", "child")


class NotEmittable(ValueError):
    """Raised for a kind marked `emit` that a model cannot write."""


def forms(kinds: Iterable[Kind]) -> tuple[Form, ...]:
    """The kinds that a model may write, `act` last. A bare text, a subgoal, may stand wherever a node may."""
    return (*[form_of(kind) for kind in kinds if kind.emit and kind.name != ACT], Form(ACT, "sentence"))


def form_of(kind: Kind) -> Form:
    """Builds the form of a kind. Fields with a default are omitted: a small model with fewer choices makes fewer
    mistakes."""
    nodes = kind.node_fields
    below = [f for f in nodes if f.required]
    shape: Shape = "leaf" if not below else "children" if below[0].name == "children" else "child"
    if below and (len(below) > 1 or below[0].name not in ("child", "children")):
        raise NotEmittable(f"the nodes of `{kind.name}` stand neither under `child` nor under `children`")
    given = [f for f in kind.fields if f not in nodes and (f.required or f.name == kind.bare)]
    return Form(kind.name, shape, tuple([_field(kind, f) for f in given]))


def _field(kind: Kind, field: Field) -> FormField:
    if field.type == "word":
        return FormField(field.name, tuple(str(c) for c in field.choices))
    if field.type not in _TYPES:
        raise NotEmittable(f"`{field.name}` of `{kind.name}` takes {field.type}")
    return FormField(field.name, _TYPES[field.type])


# The same as a JSON Schema ------------------------------------------------------------------------


def expansion_schema(kinds: Iterable[Kind], limits: PlanLimits = DEFAULT_LIMITS) -> Schema:
    """The JSON Schema of a whole answer: a control node, nested at most `depth` deep."""
    known = forms(kinds)
    return {
        "$schema": DRAFT,
        "title": "bt_runtime expansion",
        "description": "What a model may write to expand a node. A bare text is a subgoal, `act` a skill's sentence.",
        "oneOf": [_written(f, limits.depth, limits) for f in known if f.inner],
        "definitions": {
            "text": {"type": "string", "minLength": 1, "maxLength": limits.string},
            **{f"node_{left}": _level(known, left, limits) for left in range(limits.depth)},
        },
    }


def _level(known: tuple[Form, ...], left: int, limits: PlanLimits) -> Schema:
    """Returns the schema of a child position that allows `left` more levels of nodes with children."""
    written = [_written(f, left, limits) for f in known if left or not f.inner]
    return {"oneOf": [_TEXT, *written]}


_TEXT: Schema = {"$ref": "#/definitions/text"}


def _written(form: Form, left: int, limits: PlanLimits) -> Schema:
    return _exactly({form.name: _value(form, left, limits)})


def _value(form: Form, left: int, limits: PlanLimits) -> Schema:
    if form.shape == "sentence":
        return _TEXT
    fields = {f.name: _of(f) for f in form.fields}
    if form.shape == "leaf":
        bare = list(fields.values())
        return {"oneOf": [*bare, _exactly(fields)]} if len(fields) == 1 else _exactly(fields)
    inside: Schema = {"$ref": f"#/definitions/node_{left - 1}"}
    if form.shape == "child":
        return _exactly({**fields, "child": inside})
    listed = {"type": "array", "items": inside, "minItems": 1, "maxItems": limits.width}
    return _exactly({**fields, "children": listed}) if fields else listed


def _of(field: FormField) -> Schema:
    if isinstance(field.type, tuple):
        return {"enum": list(field.type)}
    return _TEXT if field.type == "string" else {"type": field.type}


def _exactly(properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}

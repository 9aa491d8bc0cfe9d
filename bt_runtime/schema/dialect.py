"""What a model may write: the language, smaller. A bare text is a subgoal, `act` is a skill's sentence, and of the
kinds only those with `emit`. Given as plain data, for who builds a grammar, and as a JSON Schema that decoders compile.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from bt_runtime.schema.kind import Field, Kind
from bt_runtime.schema.shape import DRAFT, Schema
from bt_runtime.types import Json

ACT = "act"  # the kind whose text is a skill's sentence
PartType = Literal["nodes", "node", "text", "integer", "number", "boolean", "word"]
_PARTS: dict[str, PartType] = {
    "nodes": "nodes", "node": "node", "integer": "integer", "number": "number", "boolean": "boolean", "word": "word",
    "string": "text", "text": "text", "expression": "text", "key": "text",
}  # fmt: skip


class Budget(NamedTuple):
    """How much one answer may hold; it is part of the grammar, so more cannot be written."""

    depth: int = 4  # nodes with children, one inside another
    width: int = 8  # children of one node
    length: int = 160  # characters of one text


DEFAULT_BUDGET = Budget()


class Part(NamedTuple):
    """One value of a node. `nodes` and `node` are where the dialect goes on inside."""

    name: str
    type: PartType
    required: bool = False
    choices: tuple[Json, ...] = ()
    minimum: float | None = None
    maximum: float | None = None


class Form(NamedTuple):
    """One kind: written with its bare value (`sequence: [...]`), or else with its fields."""

    kind: str
    bare: Part | None
    fields: tuple[Part, ...]

    @property
    def inner(self) -> bool:
        """Has it children?"""
        return any(p.type in ("nodes", "node") for p in self.fields)


def forms(kinds: Iterable[Kind]) -> tuple[Form, ...]:
    """The kinds that a model may write, `act` last. A bare text, a subgoal, may stand wherever a node may."""
    found = []
    for kind in kinds:
        if kind.emit and kind.name != ACT:
            parts = tuple(_part(f) for f in kind.fields if f.type in _PARTS)
            found.append(Form(kind.name, next((p for p in parts if p.name == kind.bare), None), parts))
    said = Part("sentence", "text", required=True)
    return (*found, Form(ACT, said, (said,)))


def _part(field: Field) -> Part:
    return Part(field.name, _PARTS[field.type], field.required, field.choices, field.minimum, field.maximum)


def describe(kinds: Iterable[Kind], budget: Budget = DEFAULT_BUDGET) -> dict[str, Json]:
    """The same as plain data: lists, dicts, texts and numbers only."""
    listed = [
        {"kind": f.kind, "bare": f.bare._asdict() if f.bare else None, "fields": [p._asdict() for p in f.fields]}
        for f in forms(kinds)
    ]
    return {"forms": listed, "subgoal": "text", **budget._asdict()}


def expansion_schema(kinds: Iterable[Kind], budget: Budget = DEFAULT_BUDGET) -> Schema:
    """A whole answer: a node with children, at most `depth` of them one inside another."""
    known = forms(kinds)
    levels: Schema = {f"node_{n}": _level(known, n, budget) for n in range(1, budget.depth)}
    top = [_written(f, budget.depth, budget) for f in known if f.inner]
    return {
        "$schema": DRAFT,
        "title": "bt_runtime expansion",
        "description": "What a model may write to expand a node. A bare text is a subgoal, `act` a skill's sentence.",
        "oneOf": top,
        "definitions": {"text": _text(budget), "node_0": _level(known, 0, budget), **levels},
    }


def _level(known: tuple[Form, ...], below: int, budget: Budget) -> Schema:
    """What may stand where `below` more nodes with children may be nested."""
    written = [_written(f, below, budget) for f in known if below or not f.inner]
    return {"oneOf": [{"$ref": "#/definitions/text"}, *written]}


def _written(form: Form, below: int, budget: Budget) -> Schema:
    return {
        "type": "object",
        "properties": {form.kind: _value(form, below, budget)},
        "required": [form.kind],
        "additionalProperties": False,
    }


def _value(form: Form, below: int, budget: Budget) -> Schema:
    fields: Schema = {
        "type": "object",
        "properties": {p.name: _of(p, below, budget) for p in form.fields},
        "required": [p.name for p in form.fields if p.required],
        "additionalProperties": False,
    }
    if form.bare is None:
        return fields
    bare = _of(form.bare, below, budget)
    return bare if len(form.fields) == 1 else {"oneOf": [bare, fields]}


def _of(part: Part, below: int, budget: Budget) -> Schema:
    inside = {"$ref": f"#/definitions/node_{max(below - 1, 0)}"}
    if part.type == "nodes":
        return {"type": "array", "items": inside, "minItems": 1, "maxItems": budget.width}
    if part.type == "node":
        return inside
    if part.type == "word":
        return {"enum": list(part.choices)}
    if part.type == "text":
        return {"$ref": "#/definitions/text"}
    bounds = {k: v for k, v in (("minimum", part.minimum), ("maximum", part.maximum)) if v is not None}
    return {"type": part.type, **bounds}


def _text(budget: Budget) -> Schema:
    return {"type": "string", "minLength": 1, "maxLength": budget.length}

"""Collects which nodes of a tree read and write which entry, from the specs, for the semantic checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from bt_runtime.language.expression import Expression, Template
from bt_runtime.language.kinds.kind import COMMON, DATA_TYPES, Field
from bt_runtime.language.source import Node, Scalar, YamlList
from bt_runtime.language.source import YamlMap as YamlMapping
from bt_runtime.language.spec import NodeSpec
from bt_runtime.language.values import Nested, inside, is_entry
from bt_runtime.types import Json, Span


class Use(NamedTuple):
    name: str
    at: Span | Node  # … with its place in a text
    spec: NodeSpec
    field: Field
    whole: bool = False  # the value is this entry and nothing else
    part: tuple[int, int] | None = None

    @property
    def span(self) -> Span:
        if isinstance(self.at, Span):
            return self.at
        return self.at.span if self.part is None else inside(self.at, *self.part)


class PlacedExpression(NamedTuple):
    """An expression, the text that contains it, and its offset there."""

    expression: Expression
    node: Node
    shift: int
    spec: NodeSpec
    field: Field
    alone: bool  # the reference is the field's whole value


class Usage(NamedTuple):
    reads: list[Use]
    writes: list[Use]
    opaque: bool  # something here may read or write entries that cannot be seen
    asked: set[str]  # names inside `exists`: neither read nor missed
    perhaps: set[str]  # named in what could not be read
    expressions: list[PlacedExpression]  # expressions that read names


def entry_named(value: Json) -> str | None:
    """Returns the entry that a text of the form `{entry}` names."""
    return value.text.strip() if is_entry(value) else None


_WITH_NAMES = frozenset({Expression, Template, Nested, dict, list})


def usage(nodes: Sequence[NodeSpec]) -> Usage:
    """Collects the entries that the nodes of a tree read and write."""
    found = Usage([], [], any(s.kind.foreign or s.values.get("autoremap") for s in nodes), set(), set(), [])
    fields: dict[int, dict[str, Field]] = {}  # the fields of each kind
    for spec in nodes:
        known = fields.get(id(spec.kind))
        if known is None:
            known = fields[id(spec.kind)] = {f.name: f for f in (*COMMON, *spec.kind.fields)}
        for name, node in spec.given.items():
            if name not in spec.values:
                found.perhaps.update(_words(node))
                continue
            field = known[name]
            if spec.kind.includes and name == "with":
                _shared(spec, field, node, found)
            else:
                _of_field(spec, field, spec.values[name], node, found)
        for field in spec.kind.fields:  # an entry that a default names is written as well
            if field.writes and field.name not in spec.given and isinstance(spec.values.get(field.name), str):
                found.writes.append(Use(spec.values[field.name], spec.span, spec, field))
    return found


def _of_field(spec: NodeSpec, field: Field, value: Json, node: Node, found: Usage) -> None:
    if field.type == "assignments":
        assert isinstance(node, YamlMapping)
        for key, inner in node:
            found.writes.append(Use(key.text, key, spec, field))
            _read(spec, field, value[key.text], inner, found)
    elif field.type == "inputs":
        assert isinstance(node, YamlMapping)
        for key, inner in node:
            _read(spec, field, value.get(key.text), inner, found)
    elif field.type == "outputs":
        assert isinstance(node, YamlMapping)
        for key, inner in node:
            found.writes.append(Use(key.text, key, spec, field))
            choices = inner.get("choices") if isinstance(inner, YamlMapping) else None
            if choices is not None:
                _read(spec, field, value[key.text].choices, choices, found)
    elif field.writes:
        name = entry_named(value) if field.type in DATA_TYPES else value
        if isinstance(name, str):
            found.writes.append(Use(name, node, spec, field))
            if field.reads:
                found.asked.add(name)
    elif field.type == "key":
        found.reads.append(Use(value, node, spec, field))
    else:
        _read(spec, field, value, node, found)


def _read(spec: NodeSpec, field: Field, value: Json, node: Node, found: Usage) -> None:
    if value.__class__ not in _WITH_NAMES:
        return  # most values are plain: nothing stands in them
    if value.__class__ is Expression:
        found.asked.update(value.asked)
    elif isinstance(value, Template | Nested):
        found.asked.update(asked(value))
    found.reads.extend(_reads(spec, field, value, node, found.expressions))


def asked(value: Json) -> Iterator[str]:
    """Yields the entries that `exists` tests, anywhere in a value."""
    if isinstance(value, Expression):
        yield from value.asked
    elif isinstance(value, Template):
        for hole in value.holes:
            yield from hole.expression.asked
    elif isinstance(value, Nested | list | dict):
        shape = value.shape if isinstance(value, Nested) else value
        for each in shape.values() if isinstance(shape, dict) else shape:
            yield from asked(each)


def _words(node: Node) -> set[str]:
    from bt_runtime.language import typos

    return typos.words(node)


def _shared(spec: NodeSpec, field: Field, node: Node, found: Usage) -> None:
    """Notes the entries in a subtree's `with:`. An entry passed to an output is written, all others are read."""
    assert isinstance(node, YamlMapping)
    target = spec.subtree or spec.again
    if target is None:  # without that tree its outputs are not known
        found.perhaps.update(_words(node))
        return
    outputs = target.outputs
    for key, inner in node:
        value = spec.values["with"].get(key.text)
        name = entry_named(value)
        if key.text in outputs and name is not None:
            found.writes.append(Use(name, inner, spec, field))
        else:
            _read(spec, field, value, inner, found)


def _reads(
    spec: NodeSpec, field: Field, value: Json, node: Node, placed: list[PlacedExpression], alone: bool = True
) -> Iterator[Use]:
    if isinstance(value, Nested):
        parts = (
            node.items
            if isinstance(node, YamlList)
            else [v for _, v in node.pairs]
            if isinstance(node, YamlMapping)
            else []
        )
        shapes = value.shape.values() if isinstance(value.shape, Mapping) else value.shape
        for shape, part in zip(shapes, parts, strict=True):
            yield from _reads(spec, field, shape, part, placed, False)
    elif isinstance(value, dict | list) and isinstance(node, YamlMapping | YamlList):
        parts = node.items if isinstance(node, YamlList) else [v for _, v in node.pairs]
        for shape, part in zip(value.values() if isinstance(value, dict) else value, parts, strict=True):
            yield from _reads(spec, field, shape, part, placed, False)
    elif isinstance(value, Expression | Template):
        whole = entry_named(value) is not None
        shift = 1 if isinstance(value, Expression) and isinstance(node, Scalar) and field.type != "expression" else 0
        if isinstance(value, Expression) and value.names:
            placed.append(PlacedExpression(value, node, shift, spec, field, alone))
        elif isinstance(value, Template):
            placed.extend(PlacedExpression(h.expression, node, h.at, spec, field, False) for h in value.holes)
        for name, (start, end) in value.names.items():
            yield Use(name, node, spec, field, whole, (start + shift, end + shift))

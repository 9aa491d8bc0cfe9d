"""Reads field values: a YAML value becomes a literal, an expression or a template, checked against its field."""

from __future__ import annotations

import re
from contextlib import suppress

from bt_runtime.language.diagnostics import Diagnostics
from bt_runtime.language.expression import Expression, ExpressionError, Template, compile
from bt_runtime.language.expression.scope import WORDS
from bt_runtime.language.faults.diagnostic import did_you_mean
from bt_runtime.language.kinds.kind import DATA_TYPES, Field
from bt_runtime.language.ports import an, fits, range_of, type_name
from bt_runtime.language.source import Node, Scalar, YamlList, YamlMap, unquoted_hole
from bt_runtime.types import Json, Span

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NESTED = frozenset("{}'\"")  # with one of these between its braces, a text may be more than one hole
BAD = object()  # the value was at fault; the fault has been found


class Nested:
    """A list or mapping that contains templates."""

    __slots__ = ("names", "shape", "text")

    def __init__(self, shape: Json, names: frozenset[str], text: str) -> None:
        self.shape = shape
        self.names = names
        self.text = text

    def evaluate(self, scope: Json) -> Json:
        return _filled(self.shape, scope)


Computed = Expression | Template | Nested
AN_OUTPUT = 'an output: give the entry that it writes, as "{entry}"'


def is_entry(value: Json) -> bool:
    """True for a string that is one whole `{entry}`."""
    if value.__class__ is not Expression or value.part.how != "name":
        return False
    return NAME.fullmatch(value.text.strip()) is not None  # a bare name


def _filled(shape: Json, scope: Json) -> Json:
    if isinstance(shape, list):
        return [_filled(item, scope) for item in shape]
    if isinstance(shape, dict):
        return {key: _filled(value, scope) for key, value in shape.items()}
    return shape.evaluate(scope) if isinstance(shape, Expression | Template) else shape


class Values:
    """Reads the values of one file's nodes; what is wrong goes to `diagnostics`."""

    def __init__(self, file: str, diagnostics: Diagnostics) -> None:
        self.file = file
        self.diagnostics = diagnostics

    def read(self, field: Field, node: Node) -> Json:
        """Returns the field's value, or BAD after a fault."""
        if field.type in DATA_TYPES:
            return self.data(field, node)
        if field.type in ("assignments", "inputs"):
            return self.assignments(field, node)
        if not isinstance(node, Scalar) or node.value is None:
            span, found = node.span, an(type_name(node.data()))
            ask = field.type == "expression" and isinstance(node, YamlMap)
            help = "a node is asked again until it holds by `retry: {times: -1, child: ...}`" if ask else ""
            self.diagnostics.error(
                "BT016", f"`{field.name}` takes {_said(field)}, not {found}", self.file, span, "", help
            )
            return BAD
        if field.type == "expression":
            return self.expression(node)
        if field.type == "key":
            if not isinstance(node.value, str) or not NAME.fullmatch(node.text):
                return self.wrong(node, f"`{field.name}` takes the name of an entry: ASCII letters, digits and _")
            if node.text in WORDS:
                return self.wrong(node, misnamed(node.text), f"call it `{node.text}_`")
            return node.text
        if field.type == "word":
            if node.value not in field.choices:
                return self.wrong(
                    node,
                    f"`{field.name}` is one of {_listed(field.choices)}, not `{node.text}`",
                    did_you_mean(node.text, [str(c) for c in field.choices]),
                )
            return node.value
        return node.text  # "text"

    def expression(self, node: Scalar) -> Json:
        try:
            return compile(node.text)
        except ExpressionError as error:
            return self.at_column(node, error)

    def template(self, node: Scalar) -> Json:
        """Reads a template. A text without holes is a literal; one that is a single hole is an expression."""
        text = node.text
        if text[0] == "{" and text[-1] == "}" and _NESTED.isdisjoint(text[1:-1]) and not text[1:-1].isspace():
            with suppress(ExpressionError):  # told below, with its place
                return compile(text[1:-1])
        try:
            template = Template(text)
        except ExpressionError as error:
            return self.at_column(node, error)
        if "${" in node.text or node.text.startswith("{{"):
            from bt_runtime.language import typos

            typos.other_holes(node, self.file, self.diagnostics)
        return template.evaluate({}) if template.constant else template.whole or template

    def data(self, field: Field, node: Node) -> Json:
        value = self.computed(node)
        if field.writes and value is not BAD:
            return value if is_entry(value) else self.wrong(node, f"`{field.name}` is {AN_OUTPUT}")
        if value is BAD or isinstance(value, Computed):
            if isinstance(value, Template) and not fits("", field.type):
                return self.wrong(node, f"`{field.name}` takes {an(field.type)}, and this is text with a hole in it")
            return value
        if not fits(value, field.type) and value not in field.extra:
            quoted = "put it in quotes" if field.type == "string" and not isinstance(value, list | dict | None) else ""
            hole = unquoted_hole(node)
            quoted = f'quote it: `"{{{hole}}}"`' if hole else quoted
            if isinstance(value, str):
                from bt_runtime.language import typos

                quoted = typos.instead(field.name, field.type, node, value)
            return self.wrong(node, f"`{field.name}` takes {an(field.type)}, not {an(type_name(value))}", quoted)
        if field.choices and value not in field.choices:
            return self.wrong(
                node,
                f"`{field.name}` is one of {_listed(field.choices)}, not `{value}`",
                did_you_mean(str(value), [str(c) for c in field.choices]),
            )
        if isinstance(value, int | float) and value not in field.extra:
            low, high = field.minimum, field.maximum
            if (low is not None and value < low) or (high is not None and value > high) or value != value:
                return self.wrong(node, f"`{field.name}` takes {range_of(field)}, not {value}")
        return value

    def computed(self, node: Node) -> Json:
        """Returns a literal, a Template or Nested; BAD when a template inside has a fault."""
        if isinstance(node, Scalar):
            return (
                self.template(node)
                if isinstance(node.value, str) and ("{" in node.text or "}" in node.text)
                else node.value
            )
        names: set[str] = set()
        shape = self.shape(node, names)
        if shape is BAD:
            return BAD
        return Nested(shape, frozenset(names), "") if names else _filled(shape, None)

    def shape(self, node: Node, names: set[str]) -> Json:
        if isinstance(node, Scalar):
            value = self.computed(node)
            if isinstance(value, Expression | Template):
                names |= set(value.names) or {""}
            return value
        parts = [self.shape(part, names) for part in (node if isinstance(node, YamlList) else (v for _, v in node))]
        if any(p is BAD for p in parts):
            return BAD
        return parts if isinstance(node, YamlList) else dict(zip(node.keys(), parts, strict=True))

    def assignments(self, field: Field, node: Node) -> Json:
        if not isinstance(node, YamlMap):
            from bt_runtime.language import typos

            return self.wrong(node, f"`{field.name}` takes a mapping of entries to values", typos.assigned(node))
        found: dict[str, Json] = {}
        for key, value in node:
            why = misnamed(key.text)
            if not why or (field.type == "inputs" and key.text in WORDS):  # of another tree, which is told
                found[key.text] = self.computed(value)
            else:
                found[key.text] = self.wrong(key, why, f"call it `{key.text}_`" if key.text in WORDS else "")
        return BAD if any(v is BAD for v in found.values()) else found

    def wrong(self, node: Node, message: str, label: str = "") -> Json:
        self.diagnostics.error("BT016", message, self.file, node.span, label)
        return BAD

    def at_column(self, node: Scalar, error: ExpressionError) -> Json:
        """Places an expression's fault inside the scalar that holds it."""
        span = inside(node, error.start, error.end)
        label, help = (error.hint, "") if len(error.hint) <= 40 else ("", error.hint)
        self.diagnostics.error(error.code, error.message, self.file, span, label, help)
        return BAD


def misnamed(name: str) -> str:
    """Returns why no entry can have this name; "" when one can."""
    why = "ASCII letters, digits and _" if not NAME.fullmatch(name) else "no expression could read it"
    return f"`{name}` cannot be the name of an entry: {why}" if name in WORDS or not NAME.fullmatch(name) else ""


def inside(node: Node, start: int, end: int) -> Span:
    """Returns a part of a scalar's text as a place in the file; the whole node when it is no scalar."""
    return node.part(start, end) if isinstance(node, Scalar) else node.span


def _said(field: Field) -> str:
    return {"expression": "an expression", "word": "one word", "key": "the name of an entry"}.get(field.type, "text")


def _listed(choices: tuple[Json, ...]) -> str:
    return ", ".join(f"`{c}`" for c in choices)

"""The entries of a tree: every reference, the writers, the type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from bt_runtime.language.checks.references import Use, usage
from bt_runtime.language.expression.call import EXISTS, KNOWN
from bt_runtime.language.expression.hole import cut
from bt_runtime.language.expression.scope import CONSTANTS, OPERATORS
from bt_runtime.language.expression.token import tokens
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.kinds.kind import COMMON, Field
from bt_runtime.language.source import Node, Scalar, YamlList, YamlMap
from bt_runtime.language.spec import NodeSpec, TreeSpec
from bt_runtime.language.values import inside
from bt_runtime.types import Span

_COMMON = {field.name: field for field in COMMON}


class EntryPlace(NamedTuple):
    """A place that names an entry; `role` is the usage in a person's words."""

    name: str
    span: Span
    role: str  # read, write, input, output, blackboard
    node: NodeSpec | None = None


class EntryPlaces:
    """The entries of one tree: each place in its file that names one, collected once."""

    def __init__(self, tree: TreeSpec) -> None:
        self.tree = tree
        writes = usage([*tree.root.walk()]).writes
        self.types = {port.name: str(port.type) for port in tree.ports.values()}  # `any` where nobody says
        for use in writes:
            self.types.setdefault(use.name, use.field.type if use.field.type in _TYPES else "any")
        self.places = _places(tree, writes)
        self._lines: dict[int, list[EntryPlace]] = {}
        self._names: dict[str, list[EntryPlace]] = {}
        for place in self.places:
            self.types.setdefault(place.name, "any")
            self._names.setdefault(place.name, []).append(place)
            for line in {place.span.line, place.span.end_line}:  # a name stands in one line, or is cut once
                self._lines.setdefault(line, []).append(place)

    def named(self, name: str) -> list[EntryPlace]:
        return self._names.get(name, [])

    def on(self, line: int) -> list[EntryPlace]:
        return self._lines.get(line, [])


def _places(tree: TreeSpec, writes: Iterable[Use]) -> list[EntryPlace]:
    found: dict[tuple[str, Span], EntryPlace] = {}
    for role, ports in (("input", tree.inputs), ("output", tree.outputs), ("blackboard", tree.entries)):
        for port in ports.values():
            if port.span is not None:
                found[port.name, port.span] = EntryPlace(port.name, port.span, role)
    for use in writes:
        if use.span != use.spec.span:  # else a default names it, and nothing in the text
            span = _name_in(use.name, use.span, use.spec.given.get(use.field.name))
            found.setdefault((use.name, span), EntryPlace(use.name, span, "write", use.spec))
    for spec in tree.root.walk():
        for name, node in spec.given.items():
            field = spec.kind.field(name) or _COMMON.get(name)
            if field is not None and name in spec.values:
                for entry, span in _reads(field, node):
                    found.setdefault((entry, span), EntryPlace(entry, span, "read", spec))
    return list(found.values())


def _name_in(name: str, span: Span, node: Node | None) -> Span:
    """The span of a name itself, within a placeholder or within quotes."""
    if isinstance(node, YamlMap):
        node = next((value for key, value in node if value.span == span), None) or next(
            (key for key, _ in node if key.span == span), None
        )
    if isinstance(node, Scalar) and name in node.text:
        at = node.text.index(name)
        return inside(node, at, at + len(name))
    return span


def _reads(field: Field, node: Node) -> Iterator[tuple[str, Span]]:
    if isinstance(node, YamlList):
        for item in node:
            yield from _reads(field, item)
    elif isinstance(node, YamlMap):
        for _, value in node:
            yield from _reads(field, value)
    elif field.type == "key":
        yield node.text, inside(node, 0, len(node.text))
    elif field.type == "expression":
        yield from _named(node, node.text, 0)
    elif field.type not in ("text", "word") and "{" in node.text:
        try:
            holes = [piece for piece in cut(node.text) if not isinstance(piece, str)]
        except BtError:
            return
        for hole in holes:
            yield from _named(node, hole.expression.text, hole.at)


def _named(node: Scalar, text: str, shift: int) -> Iterator[tuple[str, Span]]:
    try:
        every = tokens(text)
    except BtError:
        return
    for at, token in enumerate(every):
        if token.kind != "name" or token.text in CONSTANTS or token.text in OPERATORS:
            continue
        called = every[at + 1].text == "(" if at + 1 < len(every) else False
        if not called or token.text not in {*KNOWN, EXISTS}:
            yield token.text, inside(node, token.start + shift, token.end + shift)


_TYPES = frozenset({"string", "integer", "number", "boolean", "list", "object"})

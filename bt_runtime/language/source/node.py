"""The three kinds of node in a YAML document, each with its position."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, TypeAlias

from bt_runtime.types import Json, Span


class Mark(Protocol):
    """A position as libyaml reports it, counted from 0."""

    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...
    @property
    def index(self) -> int: ...


class Scalar:
    """A scalar. `value` follows YAML 1.2, `text` is without its quotes. `plain`: it was written without quotes."""

    __slots__ = ("end", "plain", "source", "start", "text", "value")

    def __init__(self, value: Json, text: str, plain: bool, start: Mark, end: Mark, source: str = "") -> None:
        self.value = value
        self.text = text
        self.plain = plain
        self.start = start
        self.end = end
        self.source = source  # the text that it was read from

    @property
    def span(self) -> Span:
        return _span(self)

    def part(self, start: int, end: int) -> Span:
        """Returns the place of these characters, despite quotes, escapes and line breaks."""
        quote = 0 if self.plain else 1
        if self.start.line != self.end.line or self.end.column - self.start.column != len(self.text) + 2 * quote:
            return self._folded(start, end)
        line, before = self.start.line + 1, self.start.column + 1 + quote
        return Span(line, before + start, line, before + end)

    def _folded(self, start: int, end: int) -> Span:
        from bt_runtime.language.source import place

        known = place.placed(self.source, self.start.index, self.end.index, self.text)
        first = sum(not sign.isspace() for sign in self.text[:start])  # of those that are no blanks
        if first >= len(known):
            first = len(known) - 1
        if first < 0:
            return self.span
        last = max(first, sum(not sign.isspace() for sign in self.text[:end]) - 1)
        mark = self.start
        return place.span(self.source, known[first], known[last], mark.line, mark.index, mark.column)

    def data(self) -> Json:
        return self.value

    def __repr__(self) -> str:
        return f"Scalar({self.value!r} at {self.start.line + 1}:{self.start.column + 1})"


class YamlList:
    """A list, `- a` or `[a]`. An alias is represented by the node that it names."""

    __slots__ = ("end", "items", "start")

    def __init__(self, start: Mark) -> None:
        self.items: list[Node] = []
        self.start = start
        self.end = start

    def __iter__(self) -> Iterator[Node]:
        return iter(self.items)

    @property
    def span(self) -> Span:
        return _span(self)

    def data(self) -> Json:
        return _data(self)

    def __repr__(self) -> str:
        return f"YamlList({len(self.items)} at {self.start.line + 1}:{self.start.column + 1})"


class YamlMap:
    """A mapping. Every key is a text and occurs once; repeated keys are reported as faults."""

    __slots__ = ("end", "pairs", "start")

    def __init__(self, start: Mark) -> None:
        self.pairs: list[tuple[Scalar, Node]] = []
        self.start = start
        self.end = start

    def __iter__(self) -> Iterator[tuple[Scalar, Node]]:
        return iter(self.pairs)

    def keys(self) -> list[str]:
        return [key.value for key, _ in self.pairs]

    def get(self, key: str) -> Node | None:
        for known, value in self.pairs:
            if known.value == key:
                return value
        return None

    @property
    def span(self) -> Span:
        return _span(self)

    def data(self) -> Json:
        return _data(self)

    def __repr__(self) -> str:
        return f"YamlMap({', '.join(self.keys())} at {self.start.line + 1}:{self.start.column + 1})"


Node: TypeAlias = YamlMap | YamlList | Scalar


def _span(node: Node) -> Span:
    return Span(node.start.line + 1, node.start.column + 1, node.end.line + 1, node.end.column + 1)


def _data(root: Node) -> Json:
    """Converts nodes to plain Python values without recursion, because the author decides the depth."""
    top: list[Json] = []
    todo: list[tuple[Node, list[Json] | dict[str, Json], str]] = [(root, top, "")]
    while todo:
        node, into, key = todo.pop()
        made: Json
        if isinstance(node, Scalar):
            made = node.value
        elif isinstance(node, YamlList):
            made = []
            todo.extend((item, made, "") for item in reversed(node.items))
        else:
            made = {k.value: None for k, _ in node.pairs}  # keeps the order of the text
            todo.extend((value, made, k.value) for k, value in node.pairs)
        if isinstance(into, list):
            into.append(made)
        else:
            into[key] = made
    return top[0]


def nothing(node: Node) -> bool:
    """True for a `key:` without a value."""
    return isinstance(node, Scalar) and node.value is None and node.plain and not node.text


def unquoted_hole(node: Node) -> str:
    """Returns the text between the braces of a value that lacks quotes, such as `{room}`; else ""."""
    if not isinstance(node, YamlMap) or len(node.pairs) != 1:
        return ""
    key, value = node.pairs[0]
    return key.text if key.plain and nothing(value) and len(key.text) <= 60 else ""

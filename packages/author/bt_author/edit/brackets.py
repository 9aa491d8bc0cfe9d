"""Rewrites a value in brackets to lines of its own, one level at a time; the inner values keep their spelling."""

from __future__ import annotations

from typing import NamedTuple

from bt_author.edit.lines import Lines, Untouchable, parts
from bt_author.edit.outline import Item
from bt_runtime.language.fixes import STEP
from bt_runtime.language.source import Node, Scalar, YamlList, YamlMap


def opened(text: str, lines: Lines, node: YamlMap | YamlList, column: int) -> list[str]:
    """Returns the rows of a list or mapping in brackets, with each item on its own line, at this column."""
    whole = text[node.start.index : node.end.index]
    if _commented(text, node):
        raise Untouchable("there is a comment inside these brackets", "write what is in them on lines of its own first")
    if not whole.startswith(("[", "{")):
        raise Untouchable("an anchor or a tag stands before these brackets", "write them on lines of their own first")
    if isinstance(node, YamlList):
        return [" " * column + "- " + _item(text, item) for item in node.items]
    return [" " * column + f"{_source(text, key)}: {_source(text, value)}".rstrip() for key, value in node.pairs]


def _item(text: str, item: Node) -> str:
    """Formats an item of a list in brackets: `{log: hello}` becomes `- log: hello`."""
    source = _source(text, item)
    if isinstance(item, YamlMap) and len(item.pairs) == 1 and source.startswith("{"):
        key, value = item.pairs[0]
        return f"{_source(text, key)}: {_source(text, value)}".rstrip()
    return source


def _source(text: str, node: Node) -> str:
    """Returns a value in brackets as it is written, on one line."""
    written = text[node.start.index : node.end.index]
    if isinstance(node, Scalar) and not node.plain and "\n" in written:
        raise Untouchable("a text of several lines stands inside these brackets", "write it in one line first")
    return " ".join(row.strip() for row in written.splitlines())


def _commented(text: str, node: YamlMap | YamlList) -> bool:
    """True when there is a comment between the values."""
    spans: list[tuple[int, int]] = []
    todo: list[Node] = [node]
    while todo:
        part = todo.pop()
        if isinstance(part, Scalar):
            spans.append((part.start.index, part.end.index))
        todo.extend(parts(part))
    at = node.start.index
    for start, end in sorted(spans):
        if "#" in text[at:start]:
            return True
        at = max(at, end)
    return "#" in text[at : node.end.index]


def outermost(lines: Lines, item: Item) -> YamlMap | YamlList | None:
    """Returns the outermost brackets around this node, its own included; None when it is on its own lines."""
    found: YamlMap | YamlList | None = None
    at: Item | None = item
    while at is not None:
        for part in (at.node, at.seat.holder):
            if lines.in_brackets(part):
                found = part
        at = at.parent
    return found


class Home(NamedTuple):
    """The place of a value: the key before it, or None for an item of a list."""

    key: Scalar | None
    column: int  # column of the key, or of the item's content


def home(top: Node, target: Node) -> Home:
    """Returns the place of this value in the document."""
    todo: list[Node] = [top]
    while todo:
        part = todo.pop()
        if isinstance(part, YamlMap):
            for key, value in part.pairs:
                if value is target:
                    return Home(key, key.start.column)
                todo.append(value)
        elif isinstance(part, YamlList):
            for item in part.items:
                if item is target:
                    return Home(None, item.start.column)
                todo.append(item)
    raise Untouchable("these brackets are the whole document", "write it on lines of its own first")


def without_brackets(text: str, top: Node, node: YamlMap | YamlList) -> str:
    """Returns the text with this value on lines of its own."""
    lines, place = Lines(text), home(top, node)
    after = text.find("\n", node.end.index)
    after = len(text) if after < 0 else after
    rest = text[node.end.index : after].strip()
    if rest and not rest.startswith("#"):
        raise Untouchable("something follows these brackets on their line", "write it on lines of its own first")
    if place.key is None:
        rows = opened(text, lines, node, place.column)
        head = text[: node.start.index] + rows[0].lstrip(" ") + (f" {rest}" if rest else "")
        return "\n".join([head, *rows[1:]]) + text[after:]
    rows = opened(text, lines, node, place.column + STEP)
    head = text[: place.key.end.index] + ":" + (f" {rest}" if rest else "")
    return "\n".join([head, *rows]) + text[after:]

"""The cursor's context in a document, from the lines above alone, because half-written text is seldom valid YAML."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from bt_author.lsp.text import Text

ITEM = 0  # the step into a list
Step = str | int
# A key as it stands, blanks behind it included: they are cut off where it is read.
_KEY = re.compile(r"""("(?:[^"\\]|\\.)*"\s*|'[^']*'\s*|[^\s\-\[\]{},&*!|>'"%@`#?][^#]*?|-[^\s#][^#]*?):(?=\s|\Z)""")
_FAR = 20_000  # lines above that are looked at; a keystroke in a larger file sees its nearest ones


class Cursor(NamedTuple):
    path: tuple[Step, ...]  # steps from the top to the mapping, list or value at the cursor
    role: Literal["key", "value"]  # an item of a list is a key that may turn out to be a value
    prefix: str  # part of the word before the cursor, quotes included
    start: int  # offset of the word's beginning
    end: int
    column: int  # at which keys of this mapping begin, from 0
    siblings: frozenset[str] = frozenset()
    flow: bool = False

    @property
    def key(self) -> str:
        return next((step for step in reversed(self.path) if isinstance(step, str)), "")


class _Level(NamedTuple):
    column: int
    key: str | None  # None: a list


def locate(text: Text, offset: int) -> Cursor:
    position = text.position(offset)
    first = max(0, position.line - _FAR)
    reader = _Reader()
    for number in range(first, position.line):
        reader.line(text.line(number))
    before = text.source[text.lines[position.line] : offset].removeprefix("\ufeff")
    after = text.line(position.line)[len(text.source[text.lines[position.line] : offset]) :]
    return reader.cursor(text, position.line, before, after, offset)


class _Reader:
    def __init__(self) -> None:
        self.levels: list[_Level] = []
        self.block = -1  # the column of a key with a text of several lines below it
        self.flow = ""  # text inside the open bracket so far

    def line(self, line: str) -> None:
        bare = line.strip()
        indent = len(line) - len(line.lstrip(" \t"))
        if self.block >= 0:
            if not bare or indent > self.block:
                return
            self.block = -1
        if self.flow:
            self.flow = _open(f"{self.flow}\n{line}")
            return
        if not bare or bare.startswith("#") or bare in ("---", "..."):
            return
        column, rest = self.dashes(line, indent)
        found = _KEY.match(rest)
        if found is None:
            self.flow = _open(rest) if rest[:1] in "[{" else ""
            return
        self.enter(column, _plain(found[1]))
        value = rest[found.end() :].strip()
        if value[:1] in ("|", ">"):
            self.block = column
        elif value[:1] in ("[", "{"):
            self.flow = _open(value)

    def dashes(self, line: str, indent: int) -> tuple[int, str]:
        """Enters the lists that begin on this line; returns the column of their content."""
        column, rest = indent, line[indent:]
        while rest.startswith("- ") or rest.rstrip() == "-":
            while self.levels and (self.levels[-1].column > column or self.closed(column)):
                self.levels.pop()
            if not self.levels or self.levels[-1].key is not None or self.levels[-1].column < column:
                self.levels.append(_Level(column, None))
            inner = rest[1:].lstrip(" ")
            column, rest = column + len(rest) - len(inner), inner
        return column, rest

    def closed(self, column: int) -> bool:
        """True when a key at a dash's column is closed. It stays open only when the list is its value: `a:` and then `-
        b` below it."""
        top = self.levels[-1]
        return top.column == column and top.key is not None and column > 0 and self.inner(column)

    def inner(self, column: int) -> bool:
        return any(level.key is None and level.column == column for level in self.levels)

    def enter(self, column: int, key: str) -> None:
        self.leave(column)
        self.levels.append(_Level(column, key))

    def path(self) -> tuple[Step, ...]:
        return tuple(ITEM if level.key is None else level.key for level in self.levels)

    def cursor(self, text: Text, number: int, before: str, after: str, offset: int) -> Cursor:
        if self.flow:
            return self.in_flow(f"{self.flow}\n{before}", after, offset, self.path())
        indent = len(before) - len(before.lstrip(" \t"))
        if self.block >= 0 and (indent > self.block or not before.strip()):
            return Cursor(self.path(), "value", before.lstrip(), offset - len(before.lstrip()), offset, indent)
        column, rest = self.dashes(before, indent)
        found = _KEY.match(rest)
        if found is not None:
            self.enter(column, _plain(found[1]))
            value = rest[found.end() :].lstrip()
            if value[:1] in ("[", "{") and _open(value):
                return self.in_flow(_open(value), after, offset, self.path())
            end = offset + len(_to_comment(after))
            return Cursor(self.path(), "value", value, offset - len(value), end, column)
        if rest[:1] in ("[", "{") and _open(rest):
            self.leave(column)
            return self.in_flow(_open(rest), after, offset, self.path())
        self.leave(column)
        word = re.match(r"[\w./-]*", after)
        end = offset + (word.end() if word else 0)
        return Cursor(
            self.path(), "key", rest, offset - len(rest), end, column, _siblings(text, number, column, column > indent)
        )

    def leave(self, column: int) -> None:
        """Leaves the mappings and lists that a key at this column does not belong to."""
        while self.levels and self.levels[-1].column >= column:
            self.levels.pop()

    def in_flow(self, said: str, after: str, offset: int, path: tuple[Step, ...]) -> Cursor:
        steps, segment, siblings, mapping = _brackets(said)
        key, colon, value = _cut(segment)
        end = offset + len(re.match(r"[^,\]}#\n]*", after)[0].rstrip())  # type: ignore[index]
        column = 0
        if colon:
            shown = value.lstrip()
            whole = (*path, *steps, _plain(key.strip()))
            return Cursor(whole, "value", shown, offset - len(shown), end, column, flow=True)
        shown = segment.lstrip()
        tail = () if mapping else (ITEM,)
        return Cursor((*path, *steps, *tail), "key", shown, offset - len(shown), end, column, siblings, True)


def _plain(key: str) -> str:
    key = key.rstrip()
    return key[1:-1] if key[:1] in "\"'" and len(key) > 1 else key


def _to_comment(text: str) -> str:
    end = next((i for i, sign in enumerate(text) if sign == "#" and i and text[i - 1].isspace()), len(text))
    return text[:end].rstrip()


def _signs(text: str) -> list[tuple[int, str]]:
    """Yields the brackets, commas and colons outside quotes; an unclosed quote ends with its line."""
    found: list[tuple[int, str]] = []
    quote, at = "", 0
    while at < len(text):
        sign = text[at]
        if quote:
            if sign == "\\" and quote == '"':
                at += 1
            elif sign == quote or sign == "\n":
                quote = ""
        elif sign in "\"'" and (at == 0 or text[at - 1] in " \t\n[{,:"):
            quote = sign
        elif sign == "#" and (at == 0 or text[at - 1] in " \t\n"):
            at = text.find("\n", at)
            if at < 0:
                break
        elif sign in "[]{}," or (sign == ":" and (at + 1 == len(text) or text[at + 1] in " \t\n,]}")):
            found.append((at, sign))
        at += 1
    return found


def _open(text: str) -> str:
    """Returns the text when one of its brackets is still open; "" when all are closed."""
    depth = 0
    for _, sign in _signs(text):
        depth += (sign in "[{") - (sign in "]}")
        if depth <= 0:
            return ""
    return text if depth > 0 else ""


def _brackets(said: str) -> tuple[tuple[Step, ...], str, frozenset[str], bool]:
    """Returns the path into the innermost open bracket, the text since its last comma, its keys, and whether it is a
    mapping."""
    stack: list[_Bracket] = []
    for at, sign in _signs(said):
        if sign in "[{":
            stack.append(_Bracket(sign, at + 1))
        elif not stack:
            continue
        elif sign in "]}":
            stack.pop()
        elif sign == ",":
            stack[-1].begin, stack[-1].key = at + 1, None
        elif stack[-1].key is None:
            stack[-1].key = _plain(said[stack[-1].begin : at].strip())
            stack[-1].keys.append(stack[-1].key)
    steps: list[Step] = []
    for outer in stack[:-1]:
        steps += [*([ITEM] if outer.sign == "[" else []), *([outer.key] if outer.key is not None else [])]
    if not stack:
        return (), "", frozenset(), True
    inner = stack[-1]
    if inner.sign == "[" and inner.key is not None:
        steps.append(ITEM)  # `[a: b`: a mapping of one key, without braces
    return tuple(steps), said[inner.begin :].lstrip("\n"), frozenset(inner.keys), inner.sign == "{"


class _Bracket:
    """An open bracket: the start of its last part, and that part's key."""

    def __init__(self, sign: str, begin: int) -> None:
        self.sign, self.begin = sign, begin
        self.key: str | None = None
        self.keys: list[str] = []


def _cut(segment: str) -> tuple[str, str, str]:
    at = next((at for at, sign in _signs(segment) if sign == ":"), -1)
    return (segment, "", "") if at < 0 else (segment[:at], ":", segment[at + 1 :])


def _siblings(text: Text, number: int, column: int, first: bool) -> frozenset[str]:
    """Returns the keys of the mapping that a key at this column belongs to. `first`: the key begins a list item."""
    found: set[str] = set()
    for direction in (1,) if first else (-1, 1):
        at = number + direction
        while 0 <= at < len(text.lines):
            line = text.line(at)
            bare = line.lstrip(" \t")
            indent = len(line) - len(bare)
            dashed = re.match(r"(?:- +)+", bare)
            if bare and not bare.startswith("#"):
                if indent + (dashed.end() if dashed else 0) == column and (not dashed or direction < 0):
                    key = _KEY.match(bare[dashed.end() :] if dashed else bare)
                    found |= {_plain(key[1])} if key else set()
                if indent < column or (dashed and indent <= column and direction > 0):
                    break
            at += direction
    return frozenset(found)

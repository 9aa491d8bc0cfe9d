"""Formats a YAML text: two spaces a level, `- ` indented below its key, one blank line at most.

Comments, order, quotes and everything in brackets stay as they are. What comes out says the same as what went in, or
nothing is changed: it is read again, and compared.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from bt_runtime.language import source
from bt_runtime.language.fixes import STEP
from bt_runtime.language.source import Node, Scalar, YamlList, YamlMap
from bt_runtime.language.source.text import LINE_BREAK

_COLON = re.compile(r":[ \t]+(?=\S)")
_BOM = "\ufeff"


class _Mark(NamedTuple):
    """The start of an item on a line: its column, and its new column."""

    column: int
    to: int
    dash: bool = False


def tidy(text: str) -> str | None:
    """Returns the text in the standard layout; None when it cannot be read."""
    bom, body = (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)
    document = source.parse(body, "text")
    if document.root is None or document.diagnostics:
        return None
    made = _Layout(document.root, LINE_BREAK.split(body)).text()
    if "\r\n" in body:
        made = made.replace("\n", "\r\n")
    return bom + made if _same(document.root, made) else text


def _same(before: Node, made: str) -> bool:
    after = source.parse(made, "text")
    return after.root is not None and not after.diagnostics and after.root.data() == before.data()


class _Layout:
    def __init__(self, root: Node, lines: list[str]) -> None:
        self.lines = lines
        self.marks: dict[int, list[_Mark]] = {}
        self.within: set[int] = set()  # lines that go on with a text or a bracket
        self.kept: set[int] = set()  # … of them, those whose every blank is the text's own
        self.colons: dict[int, int] = {}  # line → where the key of its last mapping ends
        self.walk(root)

    def walk(self, root: Node) -> None:
        todo: list[tuple[Node, int]] = [(root, 0)]
        while todo:
            node, column = todo.pop()
            if isinstance(node, Scalar) or self.bracketed(node):
                self.continued(node)
            elif isinstance(node, YamlMap):
                todo.extend(self.mapping(node, column))
            else:
                todo.extend(self.listing(node, column))

    def bracketed(self, node: YamlMap | YamlList) -> bool:
        line = self.lines[node.start.line]
        return line[node.start.column : node.start.column + 1] in ("[", "{")

    def continued(self, node: Node) -> None:
        line = self.lines[node.start.line] if node.start.line < len(self.lines) else ""
        block = isinstance(node, Scalar) and line[node.start.column : node.start.column + 1] in ("|", ">")
        last = node.end.line if node.end.column else node.end.line - 1
        for number in range(node.start.line + 1, last + 1):
            self.within.add(number)
            if block:
                self.kept.add(number)

    def mapping(self, node: YamlMap, column: int) -> list[tuple[Node, int]]:
        inner: list[tuple[Node, int]] = []
        for key, value in node:
            self.marks.setdefault(key.start.line, []).append(_Mark(key.start.column, column))
            if value.start.line == key.end.line:
                self.colons[key.start.line] = key.end.column
            inner.append((value, column + STEP))
        return inner

    def listing(self, node: YamlList, column: int) -> list[tuple[Node, int]]:
        inner: list[tuple[Node, int]] = []
        for item in node:
            line, before = item.start.line, self.lines[item.start.line][: item.start.column]
            dash = before.rfind("-") if before.strip(" -") == "" else -1
            if dash >= 0:
                self.marks.setdefault(line, []).append(_Mark(dash, column, dash=True))
            inner.append((item, column + STEP))
        return inner

    def text(self) -> str:
        out: list[str] = []
        shift, waiting, levels = 0, list[int](), dict[int, int]()
        for number, line in enumerate(self.lines):
            bare = line.strip()
            if number in self.within:
                indent = len(line) - len(line.lstrip(" "))
                moved = " " * max(indent + shift, 0) + line.lstrip(" ") if bare else ""
                out.append(moved if number in self.kept else moved.rstrip())
                continue
            if not bare:
                if out and out[-1]:
                    out.append("")
                continue
            if number not in self.marks:
                out.append(line.rstrip())
                if bare.startswith("#"):
                    waiting.append(len(out) - 1)
                continue
            made, shift = self.placed(number, line)
            levels = self.levels(levels, number)
            for at in waiting:
                stood = len(out[at]) - len(out[at].lstrip(" \t"))
                here = len(made) - len(made.lstrip(" "))
                out[at] = " " * levels.get(stood, here) + out[at].lstrip(" \t")
            waiting = []
            out.append(made)
        while out and not out[-1]:
            out.pop()
        return "\n".join(out) + "\n"

    def placed(self, number: int, line: str) -> tuple[str, int]:
        """Returns a re-indented line and the shift for its continuation lines."""
        marks = sorted(self.marks[number])
        first = next((mark for mark in marks if not line[: mark.column].strip()), marks[0])
        at, made = first.column, " " * first.to
        for mark in marks:
            if mark.dash and mark.column >= at:
                made = f"{made[: mark.to].ljust(mark.to)}- "
                at = mark.column + 1
        rest = line[at:].lstrip(" \t") if line[at - 1 : at] == "-" and made.endswith("- ") else line[at:]
        start = len(line) - len(rest)
        colon = self.colons.get(number, -1) - start
        if colon >= 0:
            head, tail = rest[:colon], rest[colon:]
            rest = head + _COLON.sub(": ", tail, count=1)
        made = (made + rest).rstrip()
        return made, (len(made) - len(made.lstrip(" "))) - (len(line) - len(line.lstrip(" ")))

    def levels(self, above: dict[int, int], number: int) -> dict[int, int]:
        """Maps old columns to new ones for comments, which move with their line, list or mapping."""
        marks = self.marks[number]
        least = min(mark.column for mark in marks)
        return {c: to for c, to in above.items() if c < least} | {mark.column: mark.to for mark in marks}

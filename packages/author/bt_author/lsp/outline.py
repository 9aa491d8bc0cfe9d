"""The outline of a document, and the code lenses above a tree: "run", "tests"."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from bt_author.lsp.document import Document
from bt_runtime.language.project import disk
from bt_runtime.language.source import Node, Scalar, YamlList, YamlMap
from bt_runtime.types import Span

DEEPEST = 60  # levels that an outline shows
MOST_SYMBOLS = 5_000  # keys of it
_MOST_TESTS = 300  # files that are looked into


class OutlineEntry(NamedTuple):
    name: str
    detail: str
    whole: Span
    named: Span
    below: list[OutlineEntry]


class Lens(NamedTuple):
    span: Span
    title: str
    command: str
    arguments: tuple[str, ...]


def outline(document: Document) -> list[OutlineEntry]:
    """Returns the first `MOST_SYMBOLS` keys; a last entry tells when there are more."""
    return Outline().symbols(document.root, 0) if document.root is not None else []


class Outline:
    def __init__(self) -> None:
        self.left = MOST_SYMBOLS

    def symbols(self, node: Node, depth: int) -> list[OutlineEntry]:
        if depth > DEEPEST or isinstance(node, Scalar):
            return []
        if isinstance(node, YamlList):
            return [symbol for item in node for symbol in self.symbols(item, depth + 1)] if self.left >= 0 else []
        return [symbol for key, value in node if (symbol := self.symbol(key, value, depth)) is not None]

    def symbol(self, key: Scalar, value: Node, depth: int) -> OutlineEntry | None:
        self.left -= 1
        if self.left < 0:
            told = self.left == -1
            return OutlineEntry("…", f"more than {MOST_SYMBOLS} keys", key.span, key.span, []) if told else None
        end = value.span if (value.end.line, value.end.column) >= (key.end.line, key.end.column) else key.span
        whole = Span(key.span.line, key.span.column, end.end_line, end.end_column)
        name = value.get("name") if isinstance(value, YamlMap) else value
        detail = name.text.partition("\n")[0][:80] if isinstance(name, Scalar) else ""
        return OutlineEntry(key.text or "…", detail, whole, key.span, self.symbols(value, depth + 1))


class Mentions:
    """Finds the test files that mention a tree; rereads a file only after a change."""

    def __init__(self) -> None:
        self.known: dict[Path, tuple[int, str]] = {}

    def of(self, name: str, root: Path) -> list[Path]:
        every = sorted((root / "tests").rglob("test_*.py"))[:_MOST_TESTS] if (root / "tests").is_dir() else []
        return [path for path in every if re.search(rf"\b{re.escape(name)}\b", self.text(path))]

    def text(self, path: Path) -> str:
        try:
            stamp = path.stat().st_mtime_ns
            if path not in self.known or self.known[path][0] != stamp:
                self.known[path] = (stamp, disk.read(path).decode("utf-8", "replace"))
        except OSError:
            return ""
        return self.known[path][1]


def lenses(document: Document, root: Path, tests: Mentions) -> list[Lens]:
    if document.content != "tree" or not isinstance(document.root, YamlMap):
        return []
    named = next((key for key, _ in document.root if key.text == "tree"), None)
    if named is None:
        return []
    found = tests.of(document.path.stem, root)
    run = Lens(named.span, "run", "btr.run", (str(document.path),))
    if not found:
        return [run]
    said = f"{len(found)} file{'s' if len(found) > 1 else ''} of tests"
    return [run, Lens(named.span, said, "btr.test", tuple(map(str, found)))]

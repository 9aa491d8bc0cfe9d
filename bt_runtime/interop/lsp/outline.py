"""The outline of a document, and what stands above a tree in its text: "run", "tests"."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from bt_runtime.interop.lsp.unit import Unit
from bt_runtime.language.source import Node, Scalar, YamlList, YamlMap
from bt_runtime.types import Span

DEEPEST = 60  # levels that an outline shows
_MOST_TESTS = 300  # files that are looked into


class Symbol(NamedTuple):
    name: str
    detail: str
    whole: Span
    named: Span
    below: list[Symbol]


class Lens(NamedTuple):
    span: Span
    title: str
    command: str
    arguments: tuple[str, ...]


def outline(unit: Unit) -> list[Symbol]:
    return _symbols(unit.root, 0) if unit.root is not None else []


def _symbols(node: Node, depth: int) -> list[Symbol]:
    if depth > DEEPEST or isinstance(node, Scalar):
        return []
    if isinstance(node, YamlList):
        return [symbol for item in node for symbol in _symbols(item, depth + 1)]
    return [_symbol(key, value, depth) for key, value in node]


def _symbol(key: Scalar, value: Node, depth: int) -> Symbol:
    end = value.span if (value.end.line, value.end.column) >= (key.end.line, key.end.column) else key.span
    whole = Span(key.span.line, key.span.column, end.end_line, end.end_column)
    name = value.get("name") if isinstance(value, YamlMap) else value
    detail = name.text.partition("\n")[0][:80] if isinstance(name, Scalar) else ""
    return Symbol(key.text or "…", detail, whole, key.span, _symbols(value, depth + 1))


class Mentions:
    """Which files of tests speak of a tree; a file is read again when it has changed."""

    def __init__(self) -> None:
        self.known: dict[Path, tuple[int, str]] = {}

    def of(self, name: str, root: Path) -> list[Path]:
        every = sorted((root / "tests").rglob("test_*.py"))[:_MOST_TESTS] if (root / "tests").is_dir() else []
        return [path for path in every if re.search(rf"\b{re.escape(name)}\b", self.text(path))]

    def text(self, path: Path) -> str:
        try:
            stamp = path.stat().st_mtime_ns
            if path not in self.known or self.known[path][0] != stamp:
                self.known[path] = (stamp, path.read_text("utf-8", "replace"))
        except OSError:
            return ""
        return self.known[path][1]


def lenses(unit: Unit, root: Path, tests: Mentions) -> list[Lens]:
    if unit.content != "tree" or not isinstance(unit.root, YamlMap):
        return []
    named = next((key for key, _ in unit.root if key.text == "tree"), None)
    if named is None:
        return []
    found = tests.of(unit.path.stem, root)
    run = Lens(named.span, "run", "btr.run", (str(unit.path),))
    if not found:
        return [run]
    said = f"{len(found)} file{'s' if len(found) > 1 else ''} of tests"
    return [run, Lens(named.span, said, "btr.test", tuple(map(str, found)))]

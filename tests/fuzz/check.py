"""What must hold for any text at all; shared by the seeded and the coverage-guided run."""

from __future__ import annotations

import re

from bt_runtime import Diagnostic
from bt_runtime.language.expression import ExpressionError
from bt_runtime.language.faults import explain
from bt_runtime.language.faults.format import FORMATS, render
from bt_runtime.language.loader import Loader
from bt_runtime.language.source import Node, Scalar, YamlList, YamlMap, parse
from bt_runtime.plugins import Template, compile

LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
CODES = frozenset(explain.codes())
SCOPE = {"battery": 0.5, "low": 0.2, "room": "kitchen", "cups": 1, "rooms": ["a", "b"], "error": {"path": "/"}}


def located(fault: Diagnostic, lines: list[str]) -> None:
    """The fault has a known code and a place inside the text."""
    assert fault.code in CODES, fault
    placed(fault, lines)


def placed(fault: Diagnostic, lines: list[str]) -> None:
    assert fault.message, fault
    assert fault.span is not None, fault
    line, column, end_line, end_column = fault.span
    assert (1, 1) <= (line, column) <= (end_line, end_column), fault
    assert line <= len(lines), fault
    assert column <= len(lines[line - 1]) + 1, fault


def document(source: str | bytes) -> Node | None:
    """Reading gives nodes and located faults, and nothing else ever."""
    found = parse(source, "f")
    lines = LINE_BREAK.split(found.text)
    for fault in found.diagnostics:
        located(fault, lines)
    assert found.root is not None or any(d.severity == "error" for d in found.diagnostics)
    for form in FORMATS:
        shown = render(found.diagnostics, {"f": found.text}, form)
        assert all(c.isprintable() or c == "\n" for c in shown)
    if found.root is not None:
        nodes(found.root)
        found.root.data()
    return found.root


def nodes(root: Node) -> None:
    """Keys are texts and stand once; every scalar that looks like an expression or a template is tried as one."""
    todo, seen = [root], set()
    while todo:
        node = todo.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        assert (node.span.line, node.span.column) <= (node.span.end_line, node.span.end_column)
        if isinstance(node, YamlMap):
            assert all(isinstance(key.value, str) for key, _ in node)
            assert len(set(node.keys())) == len(node.pairs)
            todo.extend(value for _, value in node)
        elif isinstance(node, YamlList):
            todo.extend(node)
        elif isinstance(node, Scalar) and isinstance(node.value, str):
            expression(node.value)


def expression(text: str) -> None:
    """Compiling and running gives a value or a located fault, and nothing else ever."""
    for make in (lambda: compile(text).evaluate(SCOPE), lambda: Template(text).evaluate(SCOPE)):
        try:
            make()
        except ExpressionError as fault:
            assert fault.code in CODES
            assert 0 <= fault.start < fault.end <= len(text) + 1


def everything(source: bytes) -> None:
    """The reader, the expressions and the loader."""
    document(source)
    found = Loader().text(source, "f")
    assert (found.tree is None) == any(d.severity == "error" for d in found.diagnostics)
    lines = LINE_BREAK.split(found.sources.get("f", ""))
    for fault in found.diagnostics:
        placed(fault, lines)

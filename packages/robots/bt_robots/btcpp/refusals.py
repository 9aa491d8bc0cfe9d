"""Collects all that XML cannot express; a display-only export gets placeholders for it."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.spec import NodeSpec
from bt_runtime.types import Span

_CONTROL = {0: "Action", 1: "Decorator"}  # by how many children a stand-in has; Control with more


class ExportRefused(BtError):
    """Raised for a tree that has no equivalent in XML."""


class Refusals:
    """The refusals of one export, in document order."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.sorts: dict[str, str] = {}  # sorts of stand-ins by their ID

    def add(self, file: str, span: Span, text: str) -> None:
        line = f"{file}:{span.line}:{span.column}: {text}"
        if line not in self.lines:
            self.lines.append(line)

    def error(self) -> ExportRefused:
        hint = "docs/btcpp.md tells what has words in XML; `--for-viewing` writes a file for looking at it"
        return ExportRefused("\n".join(self.lines), hint)

    def stand_in(self, parent: Element, spec: NodeSpec, source: str) -> Element:
        """Adds an element with the kind's name as a placeholder; the caller adds its children."""
        name = spec.kind.name
        if spec.kind.family != "skill" and self.sorts.get(name) != "Control":
            self.sorts[name] = _CONTROL.get(len(spec.children), "Control")
        return SubElement(parent, name, name=spec.name or source)

"""A text and what became of it."""

from __future__ import annotations

from pathlib import Path

from bt_runtime.faults.diagnostic import Diagnostic, Faults
from bt_runtime.language.source import compose, text
from bt_runtime.language.source.limits import DEFAULT, Limits
from bt_runtime.language.source.node import Node
from bt_runtime.language.source.pause import PausedCollection


class Document:
    """`root` is None when the text is no YAML at all; otherwise it is there, whatever was wrong with parts of it."""

    __slots__ = ("diagnostics", "name", "root", "text")

    def __init__(self, name: str, text: str, root: Node | None, diagnostics: list[Diagnostic]) -> None:
        self.name = name
        self.text = text
        self.root = root
        self.diagnostics = diagnostics

    @property
    def ok(self) -> bool:
        return self.root is not None and not any(d.severity == "error" for d in self.diagnostics)

    def sound(self) -> Node:
        """The root of a document without a fault; raises all of them at once otherwise."""
        if self.root is None or not self.ok:
            raise Faults(self.diagnostics, {self.name: self.text})
        return self.root


def read(path: Path | str, name: str = "", limits: Limits = DEFAULT) -> Document:
    """Read and compose one file. Never raises for what a path or a file may hold."""
    called = name or str(path)
    data = text.load(Path(path), called, limits)
    if isinstance(data, Diagnostic):
        return Document(called, "", None, [data])
    return parse(data, called, limits)


def parse(source: str | bytes, name: str = "text", limits: Limits = DEFAULT) -> Document:
    """Compose one text. Never raises for what the text may hold."""
    size = len(source) if isinstance(source, bytes) else _size(source, limits)
    if size > limits.size:
        return Document(name, "", None, [text.too_large(name, size, limits)])
    written, faults, readable = text.decode(source, name) if isinstance(source, bytes) else text.clean(source, name)
    if not readable:
        return Document(name, written, None, faults)
    with PausedCollection():
        root, more = compose.compose(written, name, limits)
    return Document(name, written, root, sorted([*faults, *more], key=_place))


def _size(source: str, limits: Limits) -> int:
    """Its bytes; counted only when they could be too many."""
    if len(source) * 4 <= limits.size or len(source) > limits.size:
        return len(source)
    return len(source.encode("utf-8", "surrogatepass"))


def _place(fault: Diagnostic) -> tuple[int, ...]:
    return fault.span or ()

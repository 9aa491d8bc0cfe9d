"""A parsed text, with its faults."""

from __future__ import annotations

from pathlib import Path

from bt_runtime.language.faults.diagnostic import Diagnostic, Faults
from bt_runtime.language.source import compose, text
from bt_runtime.language.source.limits import DEFAULT, Limits
from bt_runtime.language.source.node import Node
from bt_runtime.language.source.pause import PausedCollection


class Document:
    """A parsed document. `root` is None only when the text is not YAML; parts with faults are left out of it."""

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
        """Returns the root of a document without faults; raises all of its faults."""
        if self.root is None or not self.ok:
            raise Faults(self.diagnostics, {self.name: self.text})
        return self.root


def read(path: Path | str, name: str = "", limits: Limits = DEFAULT) -> Document:
    """Reads and composes a file. Never raises, whatever the path or the file is."""
    called = name or str(path)
    data = text.load(Path(path), called, limits)
    if isinstance(data, Diagnostic):
        return Document(called, "", None, [data])
    return parse(data, called, limits)


def parse(source: str | bytes, name: str = "text", limits: Limits = DEFAULT) -> Document:
    """Composes a text. Never raises, whatever the text is."""
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
    """Returns the number of bytes; counts them only if they could be too many."""
    if len(source) * 4 <= limits.size or len(source) > limits.size:
        return len(source)
    return len(source.encode("utf-8", "surrogatepass"))


def _place(fault: Diagnostic) -> tuple[int, ...]:
    return fault.span or ()

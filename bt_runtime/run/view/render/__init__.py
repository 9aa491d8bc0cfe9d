"""Draws trees as text, dot, svg, pdf or mermaid, from a sketch of a checked tree."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Literal

from bt_runtime.run.view.render.sketch import Sketch, sketch

Form = Literal["text", "dot", "svg", "pdf", "mermaid"]
FORMS: tuple[Form, ...] = ("text", "dot", "svg", "pdf", "mermaid")
SUFFIXES: dict[str, Form] = {
    ".txt": "text",
    ".dot": "dot",
    ".gv": "dot",
    ".svg": "svg",
    ".pdf": "pdf",
    ".mmd": "mermaid",
}

__all__ = ["FORMS", "SUFFIXES", "Form", "Sketch", "draw", "sketch"]


def draw(drawn: Sketch, form: Form) -> str:
    """Returns the drawing as a text with a final line break."""
    drawer: Callable[[Sketch], str] = import_module(f"bt_runtime.run.view.render.{form}").draw
    return drawer(drawn)

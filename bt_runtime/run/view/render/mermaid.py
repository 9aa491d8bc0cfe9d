"""Draws a tree in mermaid's language, which code forges render inside Markdown."""

from __future__ import annotations

from bt_runtime.language.faults.format import visible
from bt_runtime.run.view.render.sketch import Sketch

_BRACKETS = {"control": ("[", "]"), "decorator": ("{{", "}}"), "tree": ("[[", "]]")}


def draw(top: Sketch) -> str:
    nodes = [node for node, _ in top.walk()]
    numbers = {id(node): number for number, node in enumerate(nodes)}
    lines = ["flowchart TD"]
    for number, node in enumerate(nodes):
        opens, closes = _BRACKETS.get(node.family, ("(", ")"))
        label = "<br/>".join(_escaped(part) for part in (node.title, node.detail) if part)
        lines.append(f'  n{number}{opens}"{label}"{closes}')
    for number, node in enumerate(nodes):
        for child in node.children:
            note = f'|"{_escaped(child.place)}"|' if child.place else ""
            lines.append(f"  n{number} ---{note} n{numbers[id(child)]}")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    """Escapes all characters but letters and digits that mermaid, Markdown or HTML could interpret."""
    return "".join(c if c.isalnum() or c in " .,:-_=" else f"#{ord(c)};" for c in visible(text))

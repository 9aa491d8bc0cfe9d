"""Draws a tree in graphviz's language."""

from __future__ import annotations

from bt_runtime.language.faults.format import visible
from bt_runtime.run.view.render.sketch import Sketch

SHAPES = {"control": "box", "decorator": "hexagon", "tree": "folder"}


def draw(top: Sketch) -> str:
    lines = [
        f"digraph {_quoted(top.name)} {{",
        '  node [fontname="sans-serif", fontsize=11, shape=box, style="rounded"];',
        "  edge [arrowhead=none];",
        "  ordering=out;",
    ]
    nodes = [node for node, _ in top.walk()]
    numbers = {id(node): number for number, node in enumerate(nodes)}
    for number, node in enumerate(nodes):
        label = "\n".join(part for part in (node.title, node.detail) if part)
        lines.append(f"  n{number} [label={_quoted(label)}, shape={SHAPES.get(node.family, 'ellipse')}];")
    for number, node in enumerate(nodes):
        for child in node.children:
            note = f" [label={_quoted(child.place)}]" if child.place else ""
            lines.append(f"  n{number} -> n{numbers[id(child)]}{note};")
    return "\n".join([*lines, "}", ""])


def _quoted(text: str) -> str:
    parts = [visible(line).replace("\\", "\\\\").replace('"', '\\"') for line in text.split("\n")]
    return '"' + "\\n".join(parts) + '"'

"""A tree as indented lines."""

from __future__ import annotations

from bt_runtime.language.faults.format import visible
from bt_runtime.run.view.render.sketch import Sketch


def draw(top: Sketch) -> str:
    lines = [visible(top.name + (f": {top.detail}" if top.detail else ""))]
    todo = [(child, "", child is top.children[-1]) for child in reversed(top.children)]
    while todo:
        node, indent, last = todo.pop()
        lines.append(f"{indent}{'└─ ' if last else '├─ '}{visible(node.label)}")
        below = indent + ("   " if last else "│  ")
        todo.extend((child, below, child is node.children[-1]) for child in reversed(node.children))
    return "\n".join(lines) + "\n"

"""Draws trees and runs for a notebook: what `tree` and `run` show at the end of a cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from py_trees.behaviour import Behaviour

from bt_runtime.run.view.render import Sketch, draw, sketch
from bt_runtime.run.view.render.sketch import of_node
from bt_runtime.run.view.render.svg import edge, laid_out
from bt_runtime.tree.node import INVALID, Node

if TYPE_CHECKING:
    from bt_runtime.language.spec import TreeSpec

COLOURS = {"RUNNING": "#d29922", "SUCCESS": "#2da043", "FAILURE": "#cf222e"}  # colours of a box's edge


def tree(spec: TreeSpec) -> str:
    return draw(sketch(spec, None, False), "svg")


def run(run: Any) -> str:
    """Draws the nodes that there are now, grafts among them; the edge of a box tells its status."""
    top, statuses = Sketch("tree", "tree", run.parts.tree.spec.name, run.parts.tree.spec.about), {}
    todo: list[tuple[Behaviour, Sketch]] = [(run.parts.engine.root, top)]
    while todo:
        node, above = todo.pop()
        guarded = node
        while isinstance(guarded, Node) and guarded.spec.kind.transparent:
            guarded = guarded.children[0]
        drawn = of_node(node.spec) if isinstance(node, Node) else Sketch(type(node).__name__, "skill", node.name)
        above.children.append(drawn)
        statuses[id(drawn)] = node.status
        todo.extend((child, drawn) for child in reversed(guarded.children))
    edges = []
    for box in laid_out(top).boxes:
        status = statuses.get(id(box.node), INVALID)
        if status is not INVALID:
            edges.append(f'<rect {edge(box)} stroke="{COLOURS[status.name]}"/>')
    *lines, end = draw(top, "svg").splitlines()
    return "\n".join([*lines, *edges, end, ""])

"""What our parents tick: nodes of ours, and foreign behaviours of py_trees that were prepared for it."""

from __future__ import annotations

from py_trees.behaviour import Behaviour

from bt_runtime.tree.context import Context
from bt_runtime.tree.node import Node, Steppable


def adopt(child: Behaviour, context: Context) -> Steppable:
    """Gives a foreign behaviour the `step` by which our parents tick it; nodes of ours are left as they are."""
    if isinstance(child, Node):
        return child
    from bt_runtime.tree.foreign_step import prepared  # most trees have no foreign node

    return prepared(child, context)

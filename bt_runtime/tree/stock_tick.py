"""A tick that py_trees makes, with a node of ours somewhere below a root of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bt_runtime.tree.node import halt


@contextmanager
def stock_tick(engine: Any) -> Iterator[None]:
    """Wraps a tick made by py_trees: applies requested changes before and after it, and writes after it.

    New nodes are set up with the run's arguments; py_trees has set up the present ones."""
    context, shape = engine.context, engine.shape
    with engine.lock:
        if shape.kwargs is None:
            shape.kwargs = engine.setup_with
        shape.apply()
        engine.context.blackboard.begin_tick()
        context.ticking = True
        engine.inbox.begin()
        try:
            yield
        finally:
            context.ticking = False
            engine.context.blackboard.end_tick()
            engine.inbox.end()
            shape.apply()
        why, engine.wanted_halt = engine.wanted_halt, None
        if why is not None:
            halt(engine.root, context, why, everywhere=True)

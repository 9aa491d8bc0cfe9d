"""Checks that a class of nodes declares all that a tick leaves behind in it, for the tests of who writes one.

assert undeclared(run.parts.engine, run.tick) == []"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from bt_runtime.tree.engine import Engine
from bt_runtime.tree.frozen import Losses, declared, freeze, key_of
from bt_runtime.tree.node import Node
from bt_runtime.tree.state_shape import TreeShape

_EVERYWHERE = frozenset(
    {
        "status",
        "_said",
        "broke",
        "born",
        "children",
        "parent",
        "segment",
        "_id",
        "_logger",
        "seen_as",
        "iterator",
        "blackboards",
        "spec",
        "context",
        "scope",
        "step",
        "resumes",
    }
)  # fmt: skip - of every node: what the base keeps itself


def undeclared(engine: Engine, tick: Callable[[], object]) -> list[str]:
    """Returns what a tick changed and what its class does not declare: `/t/0: count of Counting`."""
    shape = TreeShape(engine.root)
    nodes = [node for node in shape.nodes if isinstance(node, Node)]
    before = [_picture(node, shape) for node in nodes]
    tick()
    found = []
    for node, was in zip(nodes, before, strict=True):
        now = _picture(node, shape)
        changed = [name for name in {**was, **now} if was.get(name) != now.get(name)]
        found += [f"{node.path}: {name} of {type(node).__name__}" for name in sorted(changed)]
    return found


def _picture(node: Node, shape: TreeShape) -> dict[str, Hashable]:
    """Returns the undeclared attributes of a node, as they are now."""
    cls = type(node)
    known = {*declared(cls, "STATE"), *declared(cls, "ROUND"), *declared(cls, "CACHES"), *_EVERYWHERE}
    return {name: _inside(value, shape) for name, value in vars(node).items() if name not in known}


def _inside(value: Any, shape: TreeShape, deep: bool = True) -> Hashable:
    """Returns a value for comparison; of an object that declares nothing, its attributes."""
    if deep and hasattr(value, "__dict__") and not isinstance(value, type | Node) and not callable(value):
        own = [(name, _inside(each, shape, deep=False)) for name, each in vars(value).items()]
        return id(value), tuple(own)
    return key_of(freeze(value, Losses()), shape.numbers)

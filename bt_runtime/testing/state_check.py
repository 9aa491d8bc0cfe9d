"""Checks that a class of nodes declares all that a tick leaves behind in it, for the tests of who writes one.

assert undeclared(run.parts.engine, run.tick) == []"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Mapping, Set
from typing import Any

from py_trees.behaviour import Behaviour

from bt_runtime.tree.blackboard import Scope
from bt_runtime.tree.engine import Engine
from bt_runtime.tree.node import Node
from bt_runtime.tree.state import TreeShape, declared

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
    nodes = [node for node, _ in TreeShape(engine.root).ours]
    before = [_picture(node) for node in nodes]
    tick()
    found = []
    for node, was in zip(nodes, before, strict=True):
        now = _picture(node)
        changed = [name for name in {**was, **now} if was.get(name) != now.get(name)]
        found += [f"{node.path}: {name} of {type(node).__name__}" for name in sorted(changed)]
    return found


def _picture(node: Node) -> dict[str, Hashable]:
    """Returns the undeclared attributes of a node, as they are now."""
    cls = type(node)
    known = {*declared(cls, "STATE"), *declared(cls, "ROUND"), *declared(cls, "CACHES"), *_EVERYWHERE}
    return {name: _inside(value) for name, value in vars(node).items() if name not in known}


def _inside(value: Any, deep: bool = True) -> Hashable:
    """Returns a value for comparison; of an object its declared attributes, or all that it has where `deep`."""
    cls = value.__class__
    if isinstance(value, Behaviour | Scope | type) or callable(value):
        return id(value)
    names = tuple(vars(value)) if deep and hasattr(value, "__dict__") else declared(cls, "STATE")
    if names:
        return id(value), tuple((name, _inside(getattr(value, name, None), deep=False)) for name in names)
    if isinstance(value, Mapping):
        return cls, frozenset((_inside(name, False), _inside(each, False)) for name, each in value.items())
    if isinstance(value, Set):
        return cls, frozenset(_inside(each, False) for each in value)
    if isinstance(value, list | tuple | deque):
        return cls, tuple(_inside(each, False) for each in value)
    return (cls, value) if cls.__hash__ is not None else id(value)

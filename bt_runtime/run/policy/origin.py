"""What a node's values are made of: which entries they read, who wrote them down, who decided that the node runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from py_trees.behaviour import Behaviour

from bt_runtime.agents.model_node import ModelNode
from bt_runtime.language.policies.label import ASSISTED
from bt_runtime.language.policies.within import names_in
from bt_runtime.language.spec import NodeSpec
from bt_runtime.tree.nodes.subtree import Subtree


def read_by(node: Any) -> Iterator[str]:
    """Yields the entries that a node's fields read."""
    for name, value in node.spec.values.items():
        field = node.spec.kind.field(name)
        if field is not None and field.type == "key" and isinstance(value, str):
            yield value  # the entry that is watched, used up, or counted in
        elif field is None or not field.writes or field.type in ("assignments", "outputs"):
            yield from names_in(value)


def decided_by(node: Behaviour) -> Iterator[ModelNode]:
    """Yields the agents that have grown or chosen this node: it runs because they said so."""
    at = node.parent
    while at is not None:
        if isinstance(at, ModelNode) and at.grows:
            yield at
        at = at.parent


def written_by(node: Behaviour) -> ModelNode | None:
    """Returns the agent that wrote down what stands in this node; None for an author's. A tree that a plan includes is
    its author's; what the plan gives it is not."""
    at = node.parent
    while at is not None and not isinstance(at, Subtree):
        if isinstance(at, ModelNode) and at.grows:
            return at
        at = at.parent
    return None


def assisted(node: Any) -> bool:
    """True for a node of a graft that an assistant wrote, or below one: a person has only agreed to it."""
    at = node
    while at is not None:
        spec = getattr(at, "spec", None)
        if spec is not None and by_assistant(spec):
            return True
        at = at.parent
    return False


def by_assistant(spec: NodeSpec) -> bool:
    """True when the text in which a node stands says so in its first line."""
    return spec.source.startswith(f"# {ASSISTED}\n")


def working_node() -> Any:
    """Returns the innermost node at work in this thread; None outside a tick."""
    frame = sys._getframe(1)
    while frame is not None:
        if "self" in frame.f_code.co_varnames:
            owner = frame.f_locals.get("self")
            if isinstance(owner, Behaviour):
                return owner
        frame = frame.f_back  # type: ignore[assignment]
    return None

"""The models of a command: by --model, BTR_MODEL, or the project file; opened only for trees that decide with one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from bt_runtime.config import Settings
from bt_runtime.tree.spec import NodeSpec, TreeSpec

DECIDING = frozenset({"agent", "plan", "reflect", "verify"})


def decides(tree: TreeSpec) -> bool:
    """Has the tree a node that asks a model?"""
    return any(node.kind.name in DECIDING for node in nodes(tree))


def nodes(tree: TreeSpec) -> Iterator[NodeSpec]:
    """All nodes, those of included trees too."""
    seen: set[str] = set()
    todo = [tree]
    while todo:
        each = todo.pop()
        if each.file in seen:
            continue
        seen.add(each.file)
        for node in each.root.walk():
            yield node
            if node.subtree is not None:
                todo.append(node.subtree)


def open_models(settings: Settings, stack: ExitStack, **how: Any) -> dict[str, Any]:
    """The model for every role that the project names, and one for all others; each file is opened once, and so
    (`how`: settings of local models)."""
    from bt_runtime.llm import open_model

    opened: dict[str, Any] = {}

    def model(where: str | None, role: str) -> Any:
        key = where or role
        if key not in opened:
            opened[key] = open_model(where, role=role, **how)
            stack.callback(opened[key].close)
        return opened[key]

    named = settings.value("model")
    chosen = str(named.value) if isinstance(named.value, str) and not named.source.startswith("btr.yaml") else None
    roles = settings["models"] if isinstance(settings["models"], dict) and chosen is None else {}
    found = {str(role): model(None, str(role)) for role in roles}
    return {**found, "default": found.get("planner") or model(chosen, "planner")}

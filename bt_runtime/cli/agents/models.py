"""Opens the models of a command, for trees that ask one. Their names come from --model, BTR_MODEL or the project
file."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from bt_runtime.language.settings import Settings
from bt_runtime.language.spec import NodeSpec, TreeSpec
from bt_runtime.llm.local.header import INSTRUCT, STARTER


def add_register(parser: argparse._ActionsContainer) -> None:
    text = "the register of the prompts: starter or instruct; default: as the model was taught [BTR_PROMPTS]"
    parser.add_argument("--prompts", choices=(STARTER, INSTRUCT), help=text)


def decides(tree: TreeSpec) -> bool:
    """True when the tree has a node that asks a model."""
    return any(node.kind.asks and not _planned(node) for node in nodes(tree))


def _planned(node: NodeSpec) -> bool:
    from bt_runtime.agents.planner import does_without

    return does_without(node)


def nodes(tree: TreeSpec) -> Iterator[NodeSpec]:
    """Yields all nodes, including those of subtrees."""
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


def places(settings: Settings) -> dict[str, str]:
    """Returns a path or an address for every role that the project names, and one for all others."""
    from bt_runtime.llm.model_setting import apart
    from bt_runtime.llm.server import key
    from bt_runtime.llm.settings import find_models

    named = settings.flags.get("model")
    if named is not None:
        key.named(apart(named).where)
    return find_models(named, settings.root)


def open_models(settings: Settings, stack: ExitStack, **how: Any) -> dict[str, Any]:
    """Opens each file once, whatever the number of its roles. `how`: settings of local models."""
    from bt_runtime.llm import open_model

    opened: dict[str, Any] = {}
    found = places(settings)
    for where in dict.fromkeys(found.values()):
        opened[where] = open_model(where, **how)
        stack.callback(opened[where].close)
    return {role: opened[where] for role, where in found.items()}

"""Explains a tree's failure: the node, the test, and the values."""

from __future__ import annotations

from typing import NamedTuple

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.tree.describe.facts import names_of, tests_of
from bt_runtime.tree.describe.gist import said, worded
from bt_runtime.tree.node import Node, path_of

MOST = 6  # values that are told


class Blame(NamedTuple):
    path: str
    why: str  # "" when nothing is known but where


def blame(root: Behaviour) -> Blame:
    """Explains the failure; call it when the root has just failed, while the entries have their values."""
    node = culprit(root)
    return Blame(path_of(node), node.feedback_message or failed_test(node))


def culprit(root: Behaviour) -> Behaviour:
    """Returns the node that made the root fail: follows the last failed child at each level."""
    node = root
    while True:
        failed = [c for c in node.children if c.status is Status.FAILURE]
        if not failed:
            return node
        node = failed[-1]


def failed_test(node: Behaviour) -> str:
    """Describes a failed test: `battery > 0.2` does not hold: battery is 0.1"""
    if not isinstance(node, Node):
        return ""
    values = node.spec.values
    for field in tests_of(node.spec):
        known = [f"{name} {_told(node, name)}" for name in names_of(values[field])[:MOST]]
        return f"`{said(values[field])}` does not hold" + (f": {', '.join(known)}" if known else "")
    entry = values.get("updated")
    return f"`{entry}` was not written since it was asked last" if isinstance(entry, str) else ""


def _told(node: Node, name: str) -> str:
    if name not in node.scope:
        return "was never written"
    return f"is {worded(node.scope.get(name))}"

"""The state of a tree between two ticks, as far as it affects future ticks."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Hashable, Mapping
from typing import Any

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime import Node
from bt_runtime.testing import Trial
from bt_runtime.tree.describe.gist import family_of
from bt_runtime.tree.node import path_of

_OWN = frozenset(
    {
        "id",
        "name",
        "spec",
        "context",
        "scope",
        "parent",
        "children",
        "segment",
        "born",
        "logger",
        "blackboards",
        "entry",
        "feedback_message",
        "_said",
        "seen_as",
        "places",
        "policy",
        "target",
        "activity",
        "quick",
        "constant",
        "status",
        "taken",
        "written",
        "follows",
        "fixed",
        "sentence",
        "last",
        "inner",
        "within",
        "tree",
        "plain",
        "covered",
        "_Behaviour__status",
        "between",
        "crashes_before",
        "qualified_name",
        "iterator",
        "test",
    }
)  # fmt: skip - of a node: what never changes, or says nothing of what it will do


def seen_as(trial: Trial) -> Hashable:
    """Returns the state between two ticks: nodes, entries, and the remaining time of each timer."""
    now = trial.clock.now()
    nodes = tuple(_node(node, now) for node in trial.run.nodes())
    board = trial.run.parts.context.blackboard.snapshot()
    entries = tuple((path, tuple(sorted((n, repr(v)) for n, v in own.items()))) for path, own in sorted(board.items()))
    due = trial.due - now if math.isfinite(trial.due) else trial.due
    return nodes, entries, round(due, 6) if math.isfinite(due) else due


def _node(node: Behaviour, now: float) -> Hashable:
    about = vars(node)
    spec: Any = node.spec if isinstance(node, Node) else None
    skipped = {"count"} if spec is not None and spec.values.get("times") == -1 else set()  # rounds of what has no end
    if "seen" in about and spec is not None and "updated" in spec.values:
        skipped = skipped | {"seen"}
    kept = tuple((name, _part(value, now)) for name, value in sorted(about.items()) if name not in _OWN | skipped)
    fresh = node.scope.stamp(spec.values["updated"]) > about["seen"] if "seen" in skipped else None  # type: ignore[attr-defined]
    return path_of(node), family_of(node), node.status.name, fresh, kept


def _part(value: Any, now: float) -> Hashable:
    if isinstance(value, float):
        return value if not math.isfinite(value) else "past" if value <= now else round(value - now, 6)
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Status):
        return value.name
    if isinstance(value, Behaviour):
        return path_of(value)
    if isinstance(value, Mapping):
        return tuple((str(key), _part(each, now)) for key, each in value.items())
    if isinstance(value, list | tuple | deque | set | frozenset):
        return tuple(_part(each, now) for each in value)
    return type(value).__name__

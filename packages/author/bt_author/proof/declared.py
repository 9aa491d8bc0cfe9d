"""Which of the declared state of nodes and activities tells two states of a proof apart."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from py_trees.behaviour import Behaviour

from bt_runtime.skills.forms import OfSkill
from bt_runtime.skills.resources import Hold
from bt_runtime.tree.node import Node
from bt_runtime.tree.nodes.branches import Branches
from bt_runtime.tree.nodes.sequences import _InOrder
from bt_runtime.tree.nodes.skill import SkillNode
from bt_runtime.tree.nodes.subtree import Subtree

Names = tuple[str, ...]
# What does not tell states apart: parameters and words of skills, what stays, what only shown results need.
LEFT_OUT: Mapping[type, frozenset[str]] = {
    SkillNode: frozenset(("doubted", "target", "tacit", "unsaid", "last", "followed", "gave")),
    Branches: frozenset(("places",)), Subtree: frozenset(("inner", "tree")), _InOrder: frozenset(("reached",)),
    OfSkill: frozenset(("target", "feedback", "value")),
}  # fmt: skip


@cache
def names_of(cls: Any, what: str) -> Names:
    """Returns the names that a class declares as `STATE`, or `ROUND`, with those of the classes above it."""
    found: dict[str, None] = {}
    for base in reversed(cls.__mro__):
        left_out = LEFT_OUT.get(base, frozenset())
        found.update(dict.fromkeys(name for name in vars(base).get(what) or () if name not in left_out))
    if what == "ROUND":
        lasting: Names = names_of(cls, "STATE")
        for name in lasting:
            found.pop(name, None)
    return tuple(found)


@cache
def names_in_object(cls: Any) -> Names | None:
    """Returns what an object declares that a node holds; None for one that is kept as it is."""
    if cls is Hold:
        return ()
    if issubclass(cls, Behaviour) or not any(vars(base).get("STATE") is not None for base in cls.__mro__):
        return None
    return names_of(cls, "STATE")


def explorable(made: object) -> bool:
    """True for a class of nodes that says what a tick leaves behind in it, makes no other nodes, and answers by entries
    and its clock alone: one that asks a world says `looks_outside`."""
    if not isinstance(made, type) or not issubclass(made, Node) or made.copied:
        return False
    if getattr(made, "looks_outside", False):
        return False
    return ours(made) or "STATE" in vars(made) or "ROUND" in vars(made)


def ours(made: type) -> bool:
    """True for a class of the runtime's own nodes, or of the proof's."""
    return made.__module__.startswith(("bt_runtime.tree.nodes.", "bt_author.proof."))

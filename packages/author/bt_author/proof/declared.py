"""Which of the declared state of nodes and activities tells two states of a proof apart."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from bt_runtime.skills.forms import OfSkill
from bt_runtime.tree.node import Node
from bt_runtime.tree.nodes.branches import Branches
from bt_runtime.tree.nodes.sequences import _InOrder
from bt_runtime.tree.nodes.skill import SkillNode
from bt_runtime.tree.nodes.subtree import Subtree
from bt_runtime.tree.state import declared

Names = tuple[str, ...]
# What does not tell states apart: parameters and words of skills, what stays, what only shown results need.
LEFT_OUT: Mapping[type, frozenset[str]] = {
    SkillNode: frozenset(("doubted", "target", "tacit", "unsaid", "last", "followed", "gave")),
    Branches: frozenset(("places",)), Subtree: frozenset(("inner", "tree")), _InOrder: frozenset(("reached",)),
    OfSkill: frozenset(("target", "feedback", "value")),
}  # fmt: skip


@cache
def names_of(cls: Any, what: str) -> Names:
    """Returns the names that a class declares as `STATE`, or as `ROUND` alone, with those of the classes above it."""
    left_out = {name for base in cls.__mro__ for name in LEFT_OUT.get(base, ())}
    lasting = declared(cls, "STATE") if what == "ROUND" else ()
    return tuple(name for name in declared(cls, what) if name not in left_out and name not in lasting)


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

"""The nodes of a tree as long as none comes or goes, and what is taken of each of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple

from py_trees.behaviour import Behaviour

from bt_runtime.tree.frozen import declared
from bt_runtime.tree.node import Node

_FIRST = ("status", "_said", "broke", "born")  # attributes of every node; only the status is compared
_DIGITS = 6  # decimals of compared seconds: sums differ by less


# What a class declares -------------------------------------------------------------------------


class StateForm(NamedTuple):
    """What is taken of the nodes of one class: the names in the order of the row, those of a round last."""

    names: tuple[str, ...]
    get: Callable[[Any], tuple[Any, ...]]
    properties: tuple[str, ...]  # names that only `setattr` can set
    round: int  # index of the first name that each start sets anew
    compared: tuple[tuple[int, Callable[[Any, Any, float], Hashable]], ...]  # by place: how, if not by value


@cache
def form_of(cls: type) -> StateForm:
    lasting = declared(cls, "STATE")
    ofround = tuple(name for name in declared(cls, "ROUND") if name not in lasting)
    names = (*_FIRST, *(n for n in lasting if n not in _FIRST), *ofround)
    how = {name: compare for what, compare in _COMPARED.items() for name in declared(cls, what)}
    compared = tuple((at, how[name]) for at, name in enumerate(names) if name in how)
    properties = tuple(name for name in names if isinstance(getattr(cls, name, None), property))
    return StateForm(names, attrgetter(*names), properties, len(names) - len(ofround), compared)


def _remaining(node: Any, when: float, now: float) -> float:
    """Returns the time that is left until a moment of the run's clock; one that has passed is 0."""
    return when if when == math.inf else max(0.0, round(when - now, _DIGITS))


def _newer(node: Any, seen: float, now: float) -> bool:
    """True when the watched entry was written since the node saw it."""
    entry = node.spec.values.get("updated")
    return entry is not None and bool(node.scope.stamp(entry) > seen)


def _crashes(node: Any, number: int, now: float) -> Hashable:
    """Returns the crashes since this one, which a `try` may catch."""
    return frozenset((c.path, c.message) for c in node.context.crashes if c.number > number)


_COMPARED: dict[str, Callable[[Any, Any, float], Hashable]] = {
    "TIMES": _remaining,
    "STAMPS": _newer,
    "CRASHES": _crashes,
}


# The nodes of one shape ------------------------------------------------------------------------


class TreeShape:
    """The nodes of a tree as long as none comes or goes, parents first."""

    def __init__(self, root: Behaviour) -> None:
        self.root = root
        self.nodes: list[Behaviour] = []
        self.parents: list[tuple[Behaviour, list[Behaviour]]] = []
        todo = [root]
        while todo:
            node = todo.pop()
            self.nodes.append(node)
            if node.children:
                self.parents.append((node, [*node.children]))
                todo.extend(reversed(node.children))
        self.segments = [getattr(node, "segment", "") for node in self.nodes]
        self.leaves = [node for node in self.nodes if not node.children]
        self.ours = [(n, form_of(type(n))) for n in self.nodes if isinstance(n, Node)]
        self.foreign = [n for n in self.nodes if not isinstance(n, Node)]
        self.numbers = {node: number for number, node in enumerate(self.nodes)}
        self.like = tuple(
            (id(getattr(n, "spec", None)) if isinstance(n, Node) else type(n), segment, len(n.children))
            for n, segment in zip(self.nodes, self.segments, strict=True)
        )  # alike shapes are equal in this, whatever objects their nodes are

    def stands(self, root: Behaviour) -> bool:
        """True while the tree has these nodes and no others."""
        if root is not self.root:
            return False
        for node in self.leaves:
            if node.children:
                return False
        return all(node.children == children for node, children in self.parents)

"""What a tick leaves behind in a tree, as its classes declare it, and the nodes of a tree in order.

Each class of nodes declares `STATE`, what outlasts a round; `ROUND`, what each start sets anew; `CACHES`, what a tick
may change and what holds in every state. Among the names of `STATE` and `ROUND`, `TIMES` are moments of the run's
clock, `STAMPS` those of the entry `updated`. Activities, skills and services declare `STATE`.

A journal keeps what is declared (`journal/state.py`), and a proof puts it back before each tick that it tries."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from py_trees.behaviour import Behaviour

from bt_runtime.tree.node import Node

_FIRST = ("status", "_said", "broke", "born")  # attributes of every node


class MISSING:
    """The value of an attribute that an object has not got."""


@cache
def declared(cls: type, what: str) -> tuple[str, ...]:
    """Returns the names that a class and the classes above it declare, each once."""
    found: dict[str, None] = {}
    for base in reversed(cls.__mro__):
        found.update(dict.fromkeys(vars(base).get(what) or ()))
    return tuple(found)


def values_of(value: Any, names: tuple[str, ...]) -> tuple[Any, ...]:
    """Returns these attributes; one that an object has not got yet is MISSING."""
    return tuple([getattr(value, name, MISSING) for name in names])


def put_apart(found: object, properties: tuple[str, ...]) -> None:
    """Sets properties by their setters, and removes attributes that the object had not got."""
    own = vars(found)
    for name in properties:
        setattr(found, name, own.pop(name))
    for name in [name for name, value in own.items() if value is MISSING]:
        del own[name]


class StateForm(NamedTuple):
    """What is taken of the nodes of one class: the names in the order of the row, those of a round last."""

    names: tuple[str, ...]
    properties: tuple[str, ...]  # names that only `setattr` can set
    round: int  # index of the first name that each start sets anew


@cache
def form_of(cls: type) -> StateForm:
    lasting = declared(cls, "STATE")
    ofround = tuple(name for name in declared(cls, "ROUND") if name not in lasting)
    names = (*_FIRST, *(n for n in lasting if n not in _FIRST), *ofround)
    properties = tuple(name for name in names if isinstance(getattr(cls, name, None), property))
    return StateForm(names, properties, len(names) - len(ofround))


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

    def stands(self, root: Behaviour) -> bool:
        """True while the tree has these nodes and no others."""
        if root is not self.root:
            return False
        for node in self.leaves:
            if node.children:
                return False
        return all(node.children == children for node, children in self.parents)

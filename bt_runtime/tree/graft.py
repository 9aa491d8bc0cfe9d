"""Changes of a tree's shape: asked for at any time, applied between two ticks, wholly or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

from py_trees import composites
from py_trees.behaviour import Behaviour

from bt_runtime.diagnose import BtError
from bt_runtime.tree.context import Context, Halt
from bt_runtime.tree.node import RUNNING, halt
from bt_runtime.tree.nodes.parent import Parent

How = Literal["insert", "replace", "remove", "grow"]
Make = Callable[[str], Behaviour]  # path of the parent → the new nodes, not yet set up


class Refused(BtError):
    """The change cannot be made; the tree is as it was."""


class Applied(NamedTuple):
    """A change that was made."""

    how: How
    path: str
    text: str  # the YAML that was grafted, "" when there was none


class Request:
    """A change that was asked for. `poll` gives Applied once it is made, and raises when it was refused."""

    def __init__(self, how: How, path: str, make: Make | None = None, index: int | None = None, text: str = "") -> None:
        self.how = how
        self.path = path
        self.make = make
        self.index = index
        self.text = text
        self.applied: Applied | None = None
        self.refused: BtError | None = None

    def poll(self) -> Applied | None:
        if self.refused is not None:
            raise self.refused
        return self.applied

    def cancel(self, reason: str) -> None:
        """A change that has not been made yet will not be made."""
        if self.applied is None and self.refused is None:
            self.refused = Refused(f"the change at {self.path} was cancelled: {reason}")


def below(root: Behaviour) -> Iterator[Behaviour]:
    """All nodes, children before parents, without recursion."""
    order: list[Behaviour] = []
    todo = [root]
    while todo:
        node = todo.pop()
        order.append(node)
        todo.extend(node.children)
    return reversed(order)


def set_up(root: Behaviour, kwargs: dict[str, Any]) -> None:
    """Sets all new nodes up; when one cannot be, those that were are shut down again."""
    done: list[Behaviour] = []
    for node in below(root):
        try:
            node.setup(**kwargs)
        except Exception as error:
            for earlier in done:
                retire_one(earlier)
            raise Refused(f"`{node.name}` could not be set up: {error}") from error
        done.append(node)


def retire(root: Behaviour, context: Context, why: Halt) -> None:
    """Halts, shuts down and unregisters a subtree that leaves the tree."""
    halt(root, context, why)
    for node in below(root):
        retire_one(node)


def retire_one(node: Behaviour) -> None:
    try:
        node.shutdown()
    finally:
        for client in node.blackboards:
            client.unregister()
        node.blackboards.clear()


# Splicing: our parents keep their own place, foreign ones are helped to keep theirs ----------------------


def insert(parent: Behaviour, index: int, child: Behaviour) -> None:
    if isinstance(parent, Parent):
        if parent.fixed:
            raise Refused(f"`{parent.name}` takes a fixed set of children", "replace a child, or insert above it")
        parent.insert_child(child, index)
    elif isinstance(parent, composites.Composite):
        parent.insert_child(child, index)
    else:
        raise Refused(f"`{parent.name}` has no children", "insert into a control node")


def replace(parent: Behaviour, old: Behaviour, new: Behaviour) -> None:
    if isinstance(parent, Parent):
        parent.replace_child(old, new)
    elif isinstance(parent, composites.Composite):
        current = parent.current_child is old
        parent.replace_child(old, new)
        if current:
            parent.current_child = new  # else a memory sequence would begin again, and a selector would break
    else:
        foreign: Any = parent  # a decorator
        foreign.children[0] = foreign.decorated = new
        new.parent, old.parent = parent, None


def remove(parent: Behaviour, old: Behaviour) -> None:
    if isinstance(parent, Parent):
        optional = _optional(parent, old)
        if parent.fixed and not optional:
            raise Refused(f"`{parent.name}` needs this child", "remove the parent, or replace the child")
        parent.remove_child(old)
    elif isinstance(parent, composites.Composite):
        current = parent.current_child is old
        index = parent.remove_child(old)
        if current and parent.children:
            parent.current_child = parent.children[min(index, len(parent.children) - 1)]
        if not parent.children and parent.status is RUNNING:
            parent.current_child = None
    else:
        raise Refused(f"`{parent.name}` needs its child", "remove the decorator, or replace the child")


def _optional(parent: Parent, child: Behaviour) -> bool:
    places = getattr(parent, "places", None)
    if places is None:
        return False
    place = places[next(i for i, c in enumerate(parent.children) if c is child)].partition(":")[0]
    field = parent.spec.kind.field(place)
    return field is not None and not field.required

"""Puts a child into a parent, in the place of another, or takes it out. Only a run whose shape changes loads this.

Our parents keep their own place; foreign ones are helped to keep theirs."""

from __future__ import annotations

from typing import Any

from py_trees import composites
from py_trees.behaviour import Behaviour

from bt_runtime.tree.node import RUNNING, segment_of
from bt_runtime.tree.nodes.parent import Parent
from bt_runtime.tree.request import Refused


def may_insert(parent: Behaviour, index: int | None) -> int:
    """Returns the insert position; raises when the parent takes no child there."""
    if isinstance(parent, Parent) and parent.fixed:
        raise Refused(f"`{parent.name}` takes a fixed set of children", "replace a child, or insert above it")
    if not isinstance(parent, composites.Composite):
        raise Refused(f"`{parent.name}` has no children", "insert into a control node")
    count = len(parent.children)
    place = count if index is None else index if index >= 0 else count + 1 + index
    if not 0 <= place <= count:
        raise Refused(f"there is no place {index} among {count} children", f"0 to {count}, or -1 for the end")
    return place


def free_segment(parent: Behaviour) -> str:
    """Returns the path segment for a child without a name: the number of children before it."""
    if isinstance(parent, Parent):
        return str(parent.born)
    taken = {segment_of(c) for c in parent.children}
    return next(s for n in range(len(taken), 2 * len(taken) + 1) if (s := str(n)) not in taken)


def insert(parent: Behaviour, index: int, child: Behaviour) -> None:
    if isinstance(parent, Parent):
        parent.take(child, index, segment_of(child))
        parent.inserted(index)
    else:
        foreign: Any = parent
        foreign.insert_child(child, index)


def replace(parent: Behaviour, old: Behaviour, new: Behaviour) -> None:
    if isinstance(parent, Parent):
        parent.replace_child(old, new)
    elif isinstance(parent, composites.Composite):
        current = parent.current_child is old
        parent.replace_child(old, new)
        if current:
            parent.current_child = new  # without it a memory sequence begins again, and a selector breaks
    else:
        foreign: Any = parent  # a decorator
        foreign.children[0] = foreign.decorated = new
        new.parent, old.parent = parent, None


def may_remove(parent: Behaviour, old: Behaviour) -> None:
    if isinstance(parent, Parent):
        if parent.fixed and not _optional(parent, old):
            raise Refused(f"`{parent.name}` needs this child", "remove the parent, or replace the child")
    elif not isinstance(parent, composites.Composite):
        raise Refused(f"`{parent.name}` needs its child", "remove the decorator, or replace the child")
    elif _resumes_at(parent, old) and old is parent.children[-1] and len(parent.children) > 1:
        raise Refused(
            f"`{parent.name}` is running its last child, and py_trees would begin again without it",
            "replace the child, for instance by `succeed`",
        )


def remove(parent: Behaviour, old: Behaviour) -> None:
    if isinstance(parent, Parent):
        parent.drop(old)
    else:
        foreign: Any = parent
        resumes = _resumes_at(parent, old)
        index = foreign.remove_child(old)
        if resumes and parent.children:
            foreign.current_child = parent.children[index]


def _resumes_at(parent: Behaviour, child: Behaviour) -> bool:
    """True for the child at which a sequence or selector of py_trees would resume."""
    in_turn = not isinstance(parent, composites.Parallel) and getattr(parent, "memory", True)
    return in_turn and parent.status is RUNNING and getattr(parent, "current_child", None) is child


def _optional(parent: Parent, child: Behaviour) -> bool:
    places = getattr(parent, "places", None)
    if places is None:
        return False
    place = places[next(i for i, c in enumerate(parent.children) if c is child)].partition(":")[0]
    field = parent.spec.kind.field(place)
    return field is not None and not field.required

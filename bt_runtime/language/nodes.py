"""The nodes of a tree as properties and tests name them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from bt_runtime.language.spec import NodeSpec, TreeSpec

MOST_PLACES = 200_000


def child_name(spec: NodeSpec) -> str:
    """Returns the name that a person gave a node; a guard has the inner node's."""
    if spec.name:
        return spec.name
    return child_name(spec.children[0]) if spec.kind.transparent and spec.children else ""


def walk(tree: TreeSpec) -> Iterator[NodeSpec]:
    """Yields all nodes of a tree and of its included trees, each once."""
    seen: set[int] = set()
    todo = [tree]
    while todo:
        each = todo.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        for spec in each.root.walk():
            yield spec
            todo += [t for t in (spec.subtree, spec.again) if t is not None]


class PlacedNode(NamedTuple):
    """A node in its tree. `above`: the number of the place around it; `around`: of that which includes its tree."""

    spec: NodeSpec
    path: str
    above: int
    around: int


def places_of(tree: TreeSpec) -> list[PlacedNode]:
    """Returns all nodes of a tree and of its included trees with their places, parents first."""
    found: list[PlacedNode] = []
    todo = [(tree.root, f"/{tree.name}", -1, -1)]
    while todo and len(found) < MOST_PLACES:
        spec, path, above, around = todo.pop()
        number = len(found)
        found.append(PlacedNode(spec, path, above, around))
        if spec.subtree is not None:
            todo.append((spec.subtree.root, f"{path}/{spec.subtree.name}", number, number))
        for at, (child, place) in enumerate(zip(spec.children, spec.places, strict=True)):
            segment = place if place in spec.asks else ""
            below = path if spec.kind.transparent and not segment else f"{path}/{segment or child_name(child) or at}"
            todo.append((child, below, number, around))
    return found

"""The nodes of a tree as properties and tests name them."""

from __future__ import annotations

from collections.abc import Iterator

from bt_runtime.language.spec import NodeSpec, TreeSpec


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

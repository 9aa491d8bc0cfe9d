"""Builds nodes from a spec. Whether the spec is valid was decided by the loader."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from py_trees.behaviour import Behaviour

from bt_runtime.language.source.pause import PausedCollection
from bt_runtime.language.spec import NodeSpec, TreeSpec
from bt_runtime.tree.adopt import adopt
from bt_runtime.tree.blackboard import Scope
from bt_runtime.tree.changes import discard_one
from bt_runtime.tree.context import Context
from bt_runtime.tree.node import TRANSPARENT, Node
from bt_runtime.tree.nodes.subtree import Subtree


def build(tree: TreeSpec, context: Context, scope: Scope) -> Behaviour:
    """Builds the nodes of a whole tree. The root's segment is the tree's name."""
    context.tree = tree
    with PausedCollection():
        return build_nodes(tree.root, context, scope, tree.name, "", Path(tree.folder))


def build_nodes(root: NodeSpec, context: Context, scope: Scope, segment: str, above: str, folder: Path) -> Behaviour:
    """Builds the nodes of a spec and all below it. `above`: the path of their parent."""
    made: list[Behaviour] = []
    top = ChildCollector(context)
    try:
        _build(BuildStep(root, top, segment, scope, above, folder, context), made)
    except BaseException:
        for node in made:
            discard_one(node)
        raise
    top.children[0].parent = None
    return top.children[0]


class ChildCollector:
    """Holds children until the node that they belong to is made."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.children: list[Behaviour] = []
        self.born = 0

    def take(self, child: Behaviour, index: int, segment: str = "") -> None:
        named = adopt(child, self.context)
        named.segment = segment
        self.children.append(child)


class BuildStep(NamedTuple):
    """A spec, and the place of its node."""

    spec: NodeSpec
    parent: Any  # a Parent or ChildCollector
    segment: str
    scope: Scope
    above: str  # the path of the parent
    folder: Path
    context: Context
    inner: ChildCollector | None = None  # the children of a foreign node, once they are made

    @property
    def path(self) -> str:
        if self.segment == TRANSPARENT:
            return self.above
        return f"{self.above}/{self.segment or self.spec.name or self.parent.born}"


def _build(top: BuildStep, made: list[Behaviour]) -> None:
    """Builds iteratively, for any depth. Foreign nodes come after their children, which decorators require."""
    todo = [top]
    while todo:
        at = todo.pop()
        spec, context = at.spec, at.context
        if spec.kind.foreign and at.inner is None:
            inner, path = ChildCollector(context), at.path
            todo.append(at._replace(inner=inner))
            todo.extend(
                BuildStep(c, inner, c.name or str(i), at.scope, path, at.folder, context)
                for i, c in reversed(list(enumerate(spec.children)))
            )
            continue
        if at.inner is not None:
            imports = context.services.imports or _imports()
            node = made_by(spec.kind.impl)(spec, at.inner.children, at.folder, imports, at.scope)
        else:
            node = made_by(spec.kind.impl)(spec, context, at.scope)
        leaf = not spec.children and spec.subtree is None
        path = "" if leaf else at.path  # before the parent counts this node
        made.append(node)
        at.parent.take(node, len(at.parent.children), at.segment or spec.name or "")
        if leaf or at.inner is not None or not isinstance(node, Node) or node.copied:
            continue
        within, asks = node.inside, spec.asks
        if spec.subtree is not None and isinstance(node, Subtree):
            tree = spec.subtree
            todo.append(BuildStep(tree.root, node, tree.name, node.open(tree, path), path, tree.folder, within))
            continue
        segment = TRANSPARENT if spec.kind.transparent else ""
        todo.extend(
            BuildStep(c, node, place if place in asks else segment, at.scope, path, at.folder, within)
            for c, place in reversed(list(zip(spec.children, spec.places, strict=True)))
        )


def _imports() -> Callable[..., Any]:
    from bt_runtime.language.project.importing import resolve

    return resolve


@cache
def made_by(impl: str | type) -> Any:
    if isinstance(impl, type):
        return impl
    module, _, name = impl.partition(":")
    return getattr(import_module(module), name)

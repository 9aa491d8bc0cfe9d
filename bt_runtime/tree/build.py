"""Spec → nodes. What comes out can be ticked; nothing here decides whether it may be (the loader did)."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from py_trees import composites, decorators
from py_trees.behaviour import Behaviour

from bt_runtime.diagnose import Diagnostic, Faults
from bt_runtime.importing import ImportFault, resolve
from bt_runtime.tree.blackboard import Scope
from bt_runtime.tree.context import Context
from bt_runtime.tree.graft import discard
from bt_runtime.tree.node import TRANSPARENT, adopt
from bt_runtime.tree.nodes.subtree import Subtree
from bt_runtime.tree.spec import NodeSpec, TreeSpec


def build(tree: TreeSpec, context: Context, scope: Scope) -> Behaviour:
    """The nodes of a whole tree; its root's segment is the tree's name."""
    return build_nodes(tree.root, context, scope, tree.name, "", Path(tree.folder))


def build_nodes(root: NodeSpec, context: Context, scope: Scope, segment: str, above: str, folder: Path) -> Behaviour:
    """The nodes of one spec and all below. `above` is the path under which they will stand."""
    made: list[Behaviour] = []
    try:
        return _build(root, context, scope, segment, above, folder, made)
    except BaseException:
        if made:
            discard(made[0])
        raise


def _build(
    root: NodeSpec, context: Context, scope: Scope, segment: str, above: str, folder: Path, made: list[Behaviour]
) -> Behaviour:
    todo: list[tuple[NodeSpec, Any, str, Scope, str, Path]] = [(root, None, segment, scope, above, folder)]
    while todo:
        spec, parent, segment, scope, above, folder = todo.pop()
        path = above if segment == TRANSPARENT else f"{above}/{segment or spec.name or (parent.born if parent else '')}"
        node = make(spec, context, scope, folder, path)
        if parent is None:
            adopt(node, context)
            named: Any = node
            named.segment = segment
            made.append(node)
        else:
            parent.take(node, len(parent.children), segment or spec.name or "")
        if spec.kind.name == "py":
            continue  # it has made its own children
        if spec.subtree is not None and isinstance(node, Subtree):
            inner = node.open(spec.subtree, path)
            todo.append((spec.subtree.root, node, spec.subtree.name, inner, path, spec.subtree.folder))
            continue
        guarded = spec.kind.name == "guard"
        todo.extend((c, node, TRANSPARENT if guarded else "", scope, path, folder) for c in reversed(spec.children))
    return made[0]


def make(spec: NodeSpec, context: Context, scope: Scope, folder: Path, path: str) -> Behaviour:
    if spec.kind.name == "py":
        return _foreign(spec, context, scope, folder, path)
    found: Behaviour = _class(spec.kind.impl)(spec, context, scope)
    return found


@cache
def _class(impl: str) -> Any:
    module, _, name = impl.partition(":")
    return getattr(import_module(module), name)


def _foreign(spec: NodeSpec, context: Context, scope: Scope, folder: Path, path: str) -> Behaviour:
    """A py_trees behaviour by its import path. Its children are built first: decorators want theirs."""
    reference = str(spec.values["class"])

    def fault(message: str, help: str = "") -> Faults:
        return Faults([Diagnostic("BT046", message, spec.file, spec.span, help=help)])

    try:
        found = resolve(reference, folder)
    except ImportFault as error:
        raise fault(error.message, error.hint) from error
    if not (isinstance(found, type) and issubclass(found, Behaviour)):
        raise fault(f"`{reference}` is no py_trees behaviour class")
    children = [build_nodes(c, context, scope, c.name or str(i), path, folder) for i, c in enumerate(spec.children)]
    given = spec.values.get("args") or {}
    if not isinstance(given, dict):
        raise fault("`args` are fixed when the tree is built, so they cannot hold templates")
    args = dict(given)
    args.setdefault("name", spec.name or reference.rpartition(":")[2])
    if issubclass(found, decorators.Decorator):
        if len(children) != 1:
            raise fault(f"`{reference}` is a decorator: it takes one child, not {len(children)}")
        args["child"] = children[0]
    elif children and not issubclass(found, composites.Composite):
        raise fault(f"`{reference}` takes no children")
    try:
        node = found(**args)
    except Exception as error:
        for child in children:
            discard(child)
        raise fault(f"`{reference}` cannot be made: {type(error).__name__}: {error}") from error
    if isinstance(node, composites.Composite) and not isinstance(node, decorators.Decorator):
        for child in children:
            node.add_child(child)
    return node

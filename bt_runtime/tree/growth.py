"""Grows a tree: from given text, from a tree that contains itself, or by copies of a part.

Each becomes one change: a checked spec and the site of its nodes. `changes.py` carries the change out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from py_trees.behaviour import Behaviour

from bt_runtime.events import How
from bt_runtime.tree.build import build_nodes
from bt_runtime.tree.changes import Shape, unguarded
from bt_runtime.tree.node import Node
from bt_runtime.tree.nodes.subtree import Subtree
from bt_runtime.tree.request import Owner, Refused, Request

if TYPE_CHECKING:
    from bt_runtime.language.kinds.kind import Kind, Registry
    from bt_runtime.language.loader import Loader
    from bt_runtime.language.spec import NodeSpec, TreeSpec
    from bt_runtime.tree.blackboard import Scope
    from bt_runtime.tree.context import Context
    from bt_runtime.tree.nodes.for_all import ForAll


class Site(NamedTuple):
    """The place of new nodes: the context, scope and folder that they share with their neighbours."""

    context: Context
    scope: Scope
    folder: Path


class Growth:
    """Grows the tree of an engine. Nodes call it in their tick, other callers at any time."""

    def __init__(self, shape: Shape, request: Callable[[Request], Request], loader: Callable[[], Loader]) -> None:
        self.shape, self.request = shape, request
        self.review: Callable[[Node, NodeSpec, str], None] = lambda node, spec, text: None  # raises a fault of a plan
        self.consider: Callable[[Request, NodeSpec], None] = lambda change, spec: None  # … of a person's nodes
        self.loader = loader  # a fresh one for each text: same project, skills and caps

    @property
    def room(self) -> int:
        """Returns how many nodes may still be added."""
        return self.shape.max_nodes - self.shape.nodes

    def owner(self, node: Behaviour) -> Owner:
        """Returns the innermost subtree around a node, and the scope of its copy if the node is part of one."""
        scope: Scope | None = None  # the scope of a copy of `for_all`
        at: Behaviour | None = node
        while at is not None:
            above = at.parent
            if isinstance(above, Node) and above.copied and isinstance(at, Node) and scope is None:
                scope = at.scope
            if isinstance(above, Subtree) and above.inner is not None:
                return Owner(above.tree, scope or above.inner)
            at = above
        context = self.shape.context
        if context.tree is None:
            raise Refused("nodes that were made in Python belong to no tree that a text could be checked with")
        return Owner(context.tree, scope or context.blackboard.root)

    def registry(self, node: Behaviour) -> Registry:
        """Returns the kinds that a text below this node may use."""
        return self.owner(node).tree.registry

    # What is asked for -----------------------------------------------------------------------

    def graft(
        self, how: How, path: str, text: str, index: int | None = None, asked: Callable[[], None] = lambda: None
    ) -> Request:
        """Requests nodes that were written outside the tree. Raises the text's faults at once."""
        spec = self.checked(path, text)
        return self.stand(Request(how, path, index=index, text=text, name=spec.name or "", asked=asked), spec)

    def checked(self, path: str, text: str, tree: TreeSpec | None = None) -> NodeSpec:
        """Checks a text as nodes for this place; raises Faults."""
        from bt_runtime.language.fragment import load_fragment

        tree = tree or self.owner(self.shape.find(path)).tree
        return load_fragment(self.loader(), text, tree, f"graft at {path}")

    def stand(self, change: Request, spec: NodeSpec) -> Request:
        """Asks for checked nodes, in the scope that is around the place of the change."""
        path = change.path
        tree, scope = self.owner(self.shape.find(path))

        def site(place: str) -> Site:
            if self.owner(self.shape.find(path)).scope is not scope:
                raise Refused(f"the tree around {path} was replaced meanwhile", "ask again")
            self.consider(change, spec)
            return Site(self._inside(place), scope, tree.folder)

        return self._ask(change, spec, site)

    def plan(self, node: Node, text: str, kinds: Sequence[Kind] = ()) -> Request:
        """Requests a model's plan below the node that asked, checked like any text. `kinds`: additional kinds."""
        from bt_runtime.language.fragment import load_fragment

        tree = self.owner(node).tree
        spec = load_fragment(self.loader(), text, tree, f"plan of {node.path}", tuple(kinds))
        self.review(node, spec, text)
        request = Request("grow", node.path, text=text, name=spec.name or "")
        return self._ask(request, spec, lambda place: Site(node.inside, node.scope, tree.folder))

    def subtree(self, node: Subtree, tree: TreeSpec) -> Request:
        """A tree that contains itself was reached again: builds its nodes below the one that includes it."""

        def site(place: str) -> Site:
            return Site(node.inside, node.open(tree, place.rpartition("/")[0]), tree.folder)

        return self._ask(Request("grow", node.path, name=tree.name), tree.root, site)

    def copy(self, node: ForAll, opened: Callable[[str], Scope], made: Callable[[Behaviour, Scope], None]) -> Request:
        """Builds another copy of the part below this node, in a separate scope."""
        folder, spec, inside = self.owner(node).tree.folder, node.spec.children[0], node.inside
        request = Request("insert", node.path)
        return self._ask(
            request, spec, lambda place: Site(inside, opened(place), folder), lambda child, on: made(child, on.scope)
        )

    def remove(self, path: str, asked: Callable[[], None] = lambda: None) -> Request:
        return self.request(Request("remove", path, asked=asked))

    def _ask(
        self, request: Request, spec: NodeSpec, site: Callable[[str], Site],
        made: Callable[[Behaviour, Site], None] = lambda child, on: None,
    ) -> Request:  # fmt: skip
        def make(place: str) -> Behaviour:
            on = site(place)
            above, _, segment = place.rpartition("/")
            child = build_nodes(spec, on.context, on.scope, segment, above, on.folder)
            made(child, on)
            return child

        request.make = make
        return self.request(request)

    def _inside(self, place: str) -> Context:
        """Returns the context for nodes at this path."""
        above = unguarded(self.shape.find(place.rpartition("/")[0])) if place.count("/") > 1 else None
        return above.inside if isinstance(above, Node) else self.shape.context

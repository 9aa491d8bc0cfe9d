"""A tree as it stands in a run: its root, its entries, and its paths in its own terms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from py_trees.behaviour import Behaviour

from bt_runtime.language.spec import TreeSpec
from bt_runtime.tree.node import path_of
from bt_runtime.tree.nodes.subtree import Subtree

if TYPE_CHECKING:
    from bt_runtime.run.run import Run
    from bt_runtime.tree.blackboard import Scope


class Standing:
    """The whole tree of a run, or one that it includes."""

    def __init__(self, run: Run, included: Subtree | None = None) -> None:
        self.run, self.included = run, included
        own = run.parts.tree.spec if included is None else included.spec.subtree or included.spec.again
        assert own is not None
        self.tree: TreeSpec = own
        self.above = "" if included is None else path_of(included)  # the beginning of the tree's paths in the run

    @property
    def root(self) -> Behaviour:
        return self.run.parts.engine.root if self.included is None else self.included.children[0]

    @property
    def scope(self) -> Scope:
        if self.included is None:
            return self.run.blackboard
        assert self.included.inner is not None
        return self.included.inner

    @property
    def status(self) -> Any:
        return self.run.status if self.included is None else self.root.status

    def nodes(self) -> Iterable[Behaviour]:
        return self.run.nodes() if self.included is None else self.root.iterate()

    def path(self, node: Behaviour) -> str:
        """The path of a node as the tree's own properties write it."""
        return path_of(node)[len(self.above) :]

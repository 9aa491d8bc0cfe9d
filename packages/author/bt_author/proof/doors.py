"""The doors of an explored tree to what is around it: clock, blackboard, growth, services."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bt_author.proof.acting import AnyPerson
from bt_author.proof.board import ProofBoard
from bt_author.proof.times import Source
from bt_runtime.tree.build import build_nodes
from bt_runtime.tree.context import Context
from bt_runtime.tree.node import path_of
from bt_runtime.tree.nodes.subtree import Subtree

if TYPE_CHECKING:
    from py_trees.behaviour import Behaviour

    from bt_runtime.language.spec import TreeSpec


class ProofContext(Context):
    """When a node wants a tick is noted in the choices of the tick at hand."""

    clock: Source  # type: ignore[assignment]
    blackboard: ProofBoard
    observed = False

    def __init__(self, source: Source, board: ProofBoard) -> None:
        super().__init__()
        self.clock, self.blackboard, self.growth = source, board, AnyGrowth()  # type: ignore[assignment]
        self.services.person = AnyPerson(source)  # type: ignore[assignment]

    def refresh_listeners(self) -> None:
        """Nobody listens."""

    def tick_soon(self, by: Behaviour | None = None) -> None:
        self.clock.choices.urgent = True

    def wake_at(self, when: Any) -> None:
        self.clock.choices.wake(when)

    must_wake_at = wake_at

    def poll_again(self) -> None:
        """A tick may come at any time."""


class Grow:
    """The request of a tree that contains itself. Its nodes are made beforehand: they are the same in each tick."""

    refused = None

    def __init__(self, node: Subtree) -> None:
        self.node = node
        tree = node.spec.again
        assert tree is not None
        path = path_of(node)
        inner = node.open(tree, path)
        self.child: Any = build_nodes(tree.root, node.inside, inner, tree.name, path, tree.folder)
        self.child.parent = node
        node.children = []

    def made(self) -> None:
        self.node.children = [self.child]


class AnyGrowth:
    """Grows trees that contain themselves."""

    def __init__(self) -> None:
        self.requests: dict[Subtree, Grow] = {}
        self.asked: list[Grow] = []  # requests for growth in this tick

    def prepare(self, node: Subtree) -> Behaviour:
        if node not in self.requests:
            self.requests[node] = Grow(node)
        child: Behaviour = self.requests[node].child
        return child

    def subtree(self, node: Subtree, tree: TreeSpec) -> Grow:
        self.asked.append(self.requests[node])
        return self.requests[node]

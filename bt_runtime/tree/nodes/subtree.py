"""A subtree: another tree's root with a separate blackboard scope."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from py_trees.common import Status

from bt_runtime.language import ports
from bt_runtime.language.checks.references import entry_named
from bt_runtime.tree.node import FAILURE, RUNNING, computed, literal
from bt_runtime.tree.nodes.parent import Decorator

if TYPE_CHECKING:
    from bt_runtime.language.spec import NodeSpec, TreeSpec
    from bt_runtime.tree.blackboard import Scope
    from bt_runtime.tree.context import Context
    from bt_runtime.tree.request import Request
    from bt_runtime.types import Json


class Subtree(Decorator):
    """Runs a subtree's root as its only child. A tree that contains itself gets that child when it is reached."""

    STATE = ("inner", "tree", "asked")
    inner: Scope | None = None
    asked: Request | None = None  # the request for the child of a recursive subtree

    def __init__(self, spec: NodeSpec, context: Context, scope: Scope) -> None:
        super().__init__(spec, context, scope)
        self.within = scope

    def open(self, tree: TreeSpec, path: str) -> Scope:
        """Opens the subtree's scope: links shared entries, and checks writes to its ports."""
        self.tree = tree
        given = self.spec.values.get("with") or {}
        inner = self.context.blackboard.open(path, self.within, open=bool(self.spec.values.get("autoremap")))
        inner.shared = {name: (self.context.blackboard.root, name) for name in tree.shared.keys() & tree.entries.keys()}
        for name, value in given.items():
            entry = entry_named(value)
            if entry is not None:
                inner.shared[name] = (self.within, entry)
        inner.own = tree.ports
        inner.declare(tree.ports)
        self.inner = inner
        return inner

    def choose(self) -> Any:
        if not self.children:
            return self.grow()
        if self.status is not RUNNING or self.asked is not None:
            self.asked = None
            self.enter()
        return self.children[0]

    def grow(self) -> Status:
        """Asks for the subtree to be built here; it is there at the next tick."""
        if self.asked is None:
            assert self.spec.again is not None
            self.asked = self.context.growth.subtree(self, self.spec.again)
        if self.asked.refused:
            self.feedback_message = str(self.asked.refused)
            self.asked = None
            return FAILURE
        self.context.tick_soon()
        return RUNNING

    def enter(self) -> None:
        """Starts fresh: clears the previous round's entries, and computes inputs that are not shared."""
        inner = self.inner
        assert inner is not None
        inner.clear(keep=self.tree.entries)
        given = self.spec.values.get("with") or {}
        for name, port in self.tree.ports.items():
            if name in inner.shared:
                self.seed(inner, name, port)
            elif name in given:
                inner[name] = computed(given[name], self.within)
            elif not port.required and name not in inner.entries:
                inner[name] = literal(port.default)

    def seed(self, inner: Scope, name: str, port: Json) -> None:
        """Gives an unwritten shared entry the port's default; checks an existing value."""
        home, at = inner.home(name, writing=name in self.tree.outputs)
        if home.holds(at):
            if name in self.tree.inputs:
                ports.check(port, home[at])
        elif not port.required and name in self.tree.outputs:
            home[at] = literal(port.default)

    def attached(self) -> None:
        if self.inner is not None:
            self.context.blackboard.register(self.inner)

    def release(self) -> None:
        if self.inner is not None:
            self.context.blackboard.close(self.inner)

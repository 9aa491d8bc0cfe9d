"""One child for every item of a list, all at once: copies that are made when the node starts, each with its scope."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.tree.node import FAILURE, INVALID, RUNNING, SUCCESS, path_of
from bt_runtime.tree.nodes.parent import Composite, halt_below

if TYPE_CHECKING:
    from bt_runtime.tree.blackboard import Scope
    from bt_runtime.tree.context import Context
    from bt_runtime.tree.graft import Request
    from bt_runtime.tree.spec import NodeSpec


class Copy(NamedTuple):
    item: int  # its place in the list
    scope: Scope  # what the copy writes


class ForAll(Composite):
    copied = True

    def __init__(self, spec: NodeSpec, context: Context, scope: Scope) -> None:
        super().__init__(spec, context, scope)
        self.items: Sequence[Any] = ()
        self.copies: dict[Behaviour, Copy] = {}  # of this round
        self.results: dict[int, Status] = {}
        self.found: dict[int, Any] = {}
        self.asked: list[Request] = []  # changes of shape that have not been made yet
        self.next = 0  # the first item that has no copy

    def step(self) -> Status:
        try:
            if self.status is not RUNNING:
                self.begin()
            status = self.advance()
        except Exception as error:
            status = self.crash(error)
        if status is not RUNNING:
            for child in self.children:
                halt_below(child, self.context, self, "its parent has ended")
        return self.leave(status)

    def begin(self) -> None:
        self.items, self.next = tuple(self.value("in")), 0
        self.results, self.found, self.asked = {}, {}, []
        self.shed()

    def shed(self) -> None:
        """The copies of an earlier round make way."""
        for child in self.copies:
            self.asked.append(self.context.services["remove"](path_of(child)))
        self.copies = {}

    def advance(self) -> Status:
        self.asked = [request for request in self.asked if request.poll() is None]  # raises when one was refused
        for child, copy in tuple(self.copies.items()):
            if child.parent is self and copy.item not in self.results:
                stepping: Any = child
                if child.status is not RUNNING:
                    copy.scope[self.spec.values["as"]] = self.items[copy.item]
                status = stepping.step()
                if status is not RUNNING:
                    self.ended(copy, status)
        most = int(self.value("at_once")) or len(self.items)
        while self.next < len(self.items) and self.next - len(self.results) < most:
            self.copy(self.next)
            self.next += 1
        return RUNNING if len(self.results) < len(self.items) else self.verdict()

    def copy(self, index: int) -> None:
        def opened(path: str) -> Scope:
            scope = self.context.blackboard.open(f"{path}[{index}]", self.scope, open=True)
            scope.local = True
            return scope

        def made(child: Behaviour, scope: Scope) -> None:
            self.copies[child] = Copy(index, scope)

        self.asked.append(self.context.services["copy"](self, self.spec.children[0], opened, made))

    def ended(self, copy: Copy, status: Status) -> None:
        self.results[copy.item] = status
        give = self.spec.values.get("give")
        if give is not None:
            self.found[copy.item] = copy.scope.values.get(give)

    def verdict(self) -> Status:
        into = self.spec.values.get("into")
        if into is not None:
            self.scope[into] = [self.found.get(index) for index in range(len(self.items))]
        results = [status for status in self.results.values() if status is not INVALID]
        if self.results and not results:
            return INVALID
        return SUCCESS if all(status is SUCCESS for status in results) else FAILURE

    def inserted(self, index: int) -> None:
        copy = self.copies.get(self.children[index])
        if copy is not None:
            self.context.blackboard.register(copy.scope)

    def removed(self, index: int, child: Behaviour) -> None:
        copy = self.copies.pop(child, None)
        if copy is not None:
            self.context.blackboard.close(copy.scope)

    def release(self) -> None:
        for copy in self.copies.values():
            self.context.blackboard.close(copy.scope)

"""Runs one copy of its child for each item of a list, in parallel, each with its own scope."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.tree import splice as splice  # loaded now, so that the first graft opens no file within a tick
from bt_runtime.tree.build import made_by
from bt_runtime.tree.node import FAILURE, INVALID, RUNNING, SUCCESS, path_of
from bt_runtime.tree.nodes.parent import Composite, halt_below
from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_runtime.language.spec import NodeSpec
    from bt_runtime.tree.blackboard import Scope
    from bt_runtime.tree.context import Context
    from bt_runtime.tree.request import Request

AT_ONCE = 1_000  # nodes that one `for_all` lets grow, or go, in one tick: a long list begins over several


class Copy(NamedTuple):
    item: int  # the item's place in the list
    scope: Scope  # scope that the copy writes


class ForAll(Composite):
    copied = True
    STATE = ("copies", "leaving", "old_copies")
    ROUND = ("items", "results", "found", "asked", "next")

    def __init__(self, spec: NodeSpec, context: Context, scope: Scope) -> None:
        super().__init__(spec, context, scope)
        self.items: Sequence[Json] = ()
        self.copies: dict[Behaviour, Copy] = {}  # copies of this round
        self.results: dict[int, Status] = {}
        self.found: dict[int, Json] = {}
        self.asked: list[Request] = []  # changes of shape that have not been made yet
        self.next = 0  # the first item that has no copy
        self.leaving: dict[Behaviour, Copy] = {}  # copies of an earlier round that still stop
        self.old_copies: deque[Behaviour] = deque()  # … in order, those that nobody has asked to go
        self.size = _size(spec.children[0])
        for each in spec.children[0].walk():
            made_by(each.kind.impl)  # loaded now: its copies are built in ticks

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
        return self.finish(status)

    def begin(self) -> None:
        self.items, self.next = tuple(self.value("in")), 0
        self.results, self.found, self.asked = {}, {}, []
        self.leaving |= self.copies
        self.old_copies.extend(self.copies)
        self.copies = {}
        room = self.context.growth.room + len(self.leaving) * self.size
        if len(self.items) * self.size > room:
            raise BtError(
                f"{len(self.items):,} copies with {self.size} nodes each: the tree has room for {room:,} nodes more",
                "give it a part of the list at a time, for instance in a `for_each`",
            )

    def retire_old(self, most: int) -> None:
        """Removes the copies of an earlier round."""
        while self.old_copies and most > 0:
            self.asked.append(self.context.growth.remove(path_of(self.old_copies.popleft())))
            most -= 1

    def advance(self) -> Status:
        most_now = max(1, AT_ONCE // self.size)
        self.retire_old(most_now)
        self.asked = [request for request in self.asked if request.poll() is None]  # raises when one was refused
        for child, copy in tuple(self.copies.items()):
            if child.parent is self and copy.item not in self.results:
                if child.status is not RUNNING:
                    copy.scope[self.spec.values["as"]] = self.items[copy.item]
                stepping: Any = child
                status = stepping.step()
                if status is not RUNNING:
                    self.ended(copy, status)
        most = max(0, int(self.value("at_once"))) or len(self.items)
        last = self.next + most_now
        while self.next < min(last, len(self.items)) and self.next - len(self.results) < most:
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

        self.asked.append(self.context.growth.copy(self, opened, made))

    def ended(self, copy: Copy, status: Status) -> None:
        self.results[copy.item] = status
        give = self.spec.values.get("give")
        if give is not None:
            self.found[copy.item] = copy.scope.entries.get(give)

    def verdict(self) -> Status:
        into = self.spec.values.get("into")
        if into is not None:
            self.scope[into] = [self.found.get(index) for index in range(len(self.items))]
        results = [status for status in self.results.values() if status is not INVALID]
        if self.results and not results:
            return INVALID
        return SUCCESS if all(status is SUCCESS for status in results) else FAILURE

    def explain(self) -> str:
        return f"{len(self.results)} of {len(self.items)} items have ended"

    def inserted(self, index: int) -> None:
        copy = self.copies.get(self.children[index])
        if copy is not None:
            self.context.blackboard.register(copy.scope)

    def removed(self, index: int, child: Behaviour) -> None:
        copy = self.copies.pop(child, None) or self.leaving.pop(child, None)
        if copy is not None:
            self.context.blackboard.close(copy.scope)

    def release(self) -> None:
        for copy in (*self.copies.values(), *self.leaving.values()):
            self.context.blackboard.close(copy.scope)


def _size(spec: NodeSpec) -> int:
    """Returns the number of nodes in one copy."""
    return 1 + sum(_size(each) for each in spec.children)

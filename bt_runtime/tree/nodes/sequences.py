"""Sequence and fallback: they run children in order, and keep their place while one is running."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from py_trees import composites
from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.tree.node import FAILURE, INVALID, RUNNING, SUCCESS
from bt_runtime.tree.nodes.parent import Composite

if TYPE_CHECKING:
    from bt_runtime.language.spec import NodeSpec
    from bt_runtime.tree.blackboard import Scope
    from bt_runtime.tree.context import Context


class InPlace(Composite):
    """Keeps its place while children come and go: the running child keeps running."""

    at = 0  # the child that is next, or running
    reached = 0  # how many children show a result

    def inserted(self, index: int) -> None:
        following = self.children[index + 1 : index + 2]
        if index < self.at or (index == self.at and following and following[0].status is RUNNING):
            self.at += 1  # the new child counts as passed
        if index < self.reached:
            self.reached += 1

    def removed(self, index: int, child: Behaviour) -> None:
        if index < self.at:
            self.at -= 1
        if index < self.reached:
            self.reached -= 1


class _InOrder(InPlace):
    """`onward` is the result that moves on to the next child; the other one ends the node."""

    onward: ClassVar[Status]
    empty: ClassVar[Status]
    keeps_place = False  # after an end by a child

    resumes = HOLDS = True
    STATE: ClassVar[tuple[str, ...]] = ("reached",)
    ROUND = ("at", "passed")
    passed = False  # a child of this round returned `onward`

    def __init__(self, spec: NodeSpec, context: Context, scope: Scope) -> None:
        super().__init__(spec, context, scope)
        self.yields = bool(spec.values.get("yield"))

    def step(self, result: Status | None = None) -> Status:
        """`result`: the current child's result, when the engine has already ticked it."""
        first = self.at
        if self.status is not RUNNING and not (self.keeps_place and first):
            first, self.passed = 0, False
        children: list[Any] = self.children
        onward, end, passed, yields = self.onward, len(children), self.passed, self.yields
        for at in range(first, end):
            status = result or children[at].step()
            result = None
            if status is onward:
                passed = True
                if yields and at + 1 < end:
                    self.passed = True
                    return self.give_way(at + 1)
            elif status is not INVALID:
                self.passed = passed
                return self.pause(at, status)
        self.at, self.reached = 0, end
        status = onward if passed else INVALID if children else self.empty
        if status is self.status and not self.broke and self.context.visits is None:
            return status  # nothing has changed: without the call
        return self.finish(status)

    def pause(self, at: int, status: Status) -> Status:
        """Keeps the place: the child there is running, or has ended the node."""
        if status is RUNNING and self.status is RUNNING and at == self.at:  # nothing has changed
            if self.context.visits is not None:
                self.context.visits.append(self)
            return status
        if self.reached > at + 1:
            self.clear(at + 1)
        self.reached = at + 1
        self.at = at if status is RUNNING or self.keeps_place else 0
        if status is self.status and not self.broke and self.context.visits is None:
            return status  # nothing has changed: without the call
        return self.finish(status)

    def give_way(self, at: int) -> Status:
        """Ends this tick; the next tick continues with the child at this place."""
        if self.reached > at:
            self.clear(at)
        self.reached = self.at = at
        self.context.tick_soon(self)
        return self.finish(RUNNING)

    @property
    def on_turn(self) -> Behaviour | None:
        return self.children[self.at] if self.at < len(self.children) else None

    def terminate(self, new_status: Status) -> None:
        self.at = 0


class Sequence(_InOrder, composites.Sequence):
    onward, empty = SUCCESS, SUCCESS
    still = True


class SequenceWithMemory(Sequence):
    STATE = ("at", "passed")
    keeps_place = True
    still = True


class Fallback(_InOrder, composites.Selector):
    onward, empty = FAILURE, FAILURE
    still = True

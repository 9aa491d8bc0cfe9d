"""Sequence and fallback: children in order, with a place that is kept while one is running."""

from __future__ import annotations

from typing import Any, ClassVar

from py_trees import composites
from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.tree.node import FAILURE, INVALID, RUNNING, SUCCESS
from bt_runtime.tree.nodes.parent import Composite


class _InOrder(Composite):
    """`onward` is the result that hands over to the next child; the other one ends the node."""

    onward: ClassVar[Status]
    empty: ClassVar[Status]
    keeps_place = False  # after an end by a child

    at = 0  # the child that is next, or running
    passed = False  # has any child of this round returned `onward` (rather than been skipped)
    reached = 0  # how many children show a result

    def step(self) -> Status:
        children: list[Any] = self.children
        at = self.at
        if self.status is not RUNNING and not (self.keeps_place and at):
            at, self.passed = 0, False
        onward = self.onward
        while at < len(children):
            status = children[at].step()
            if status is onward:
                self.passed = True
                at += 1
            elif status is INVALID:
                at += 1
            else:
                if self.reached > at + 1:
                    self.clear(at + 1)
                self.reached = at + 1
                self.at = at if status is RUNNING or self.keeps_place else 0
                return self.leave(status)
        self.at = 0
        self.reached = at
        if not children:
            return self.leave(self.empty)
        return self.leave(onward if self.passed else INVALID)

    def terminate(self, new_status: Status) -> None:
        self.at = 0

    def inserted(self, index: int) -> None:
        following = self.children[index + 1 : index + 2]
        if index < self.at or (index == self.at and following and following[0].status is RUNNING):
            self.at += 1  # it stands in what this round has passed; whoever is running keeps running
        if index < self.reached:
            self.reached += 1

    def removed(self, index: int, child: Behaviour) -> None:
        if index < self.at:
            self.at -= 1
        if index < self.reached:
            self.reached -= 1


class Sequence(_InOrder, composites.Sequence):
    onward, empty = SUCCESS, SUCCESS


class SequenceWithMemory(Sequence):
    keeps_place = True


class Fallback(_InOrder, composites.Selector):
    onward, empty = FAILURE, FAILURE

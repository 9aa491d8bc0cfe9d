"""Decorators that change their child's result: invert, force, once."""

from __future__ import annotations

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.tree.node import FAILURE, INVALID, SUCCESS
from bt_runtime.tree.nodes.parent import Decorator, Turn


class Invert(Decorator):
    def conclude(self, status: Status) -> Turn:
        if status is SUCCESS:
            return FAILURE
        return SUCCESS if status is FAILURE else status


class Force(Decorator):
    def conclude(self, status: Status) -> Turn:
        if status is SUCCESS or status is FAILURE:
            return SUCCESS if self.spec.values["status"] == "success" else FAILURE
        return status


class Once(Decorator):
    STATE = ("result",)
    result: Status | None = None

    def choose(self) -> Turn:
        if self.result is None:
            return self.children[0]
        return self.result if self.spec.values["then"] == "result" else INVALID

    def replaced(self, old: Behaviour, new: Behaviour) -> None:
        super().replaced(old, new)
        self.result = None  # the new child has not run yet

    def conclude(self, status: Status) -> Turn:
        if status is SUCCESS or status is FAILURE:
            self.result = status
        return status

"""Decorators that change their child's result: invert, force, once."""

from __future__ import annotations

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.tree.node import FAILURE, INVALID, SUCCESS
from bt_runtime.tree.nodes.parent import Decorator, Turn


class _Mapped(Decorator):
    HOLDS = True

    def ended_by(self, at: int, status: Status) -> Status:
        return status

    def conclude(self, status: Status) -> Turn:
        return self.ended_by(0, status) if status is SUCCESS or status is FAILURE else status


class Invert(_Mapped):
    def ended_by(self, at: int, status: Status) -> Status:
        return FAILURE if status is SUCCESS else SUCCESS


class Force(_Mapped):
    def ended_by(self, at: int, status: Status) -> Status:
        return SUCCESS if self.spec.values["status"] == "success" else FAILURE


class Once(Decorator):
    HOLDS = True
    STATE = ("result",)
    result: Status | None = None

    def explain(self) -> str:
        return "its child has ended once" if self.result is not None else ""

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

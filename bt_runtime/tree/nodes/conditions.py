"""Decorators that ask first: precondition, skip_unless, and the guards that any node may carry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.tree.node import FAILURE, INVALID, RUNNING, SUCCESS, reader
from bt_runtime.tree.nodes.leaves import assign
from bt_runtime.tree.nodes.parent import Decorator, Turn, halt_below

if TYPE_CHECKING:
    from bt_runtime.language.spec import NodeSpec
    from bt_runtime.tree.blackboard import Scope
    from bt_runtime.tree.context import Context

ELSE: dict[str, Status] = {"failure": FAILURE, "success": SUCCESS, "skip": INVALID, "running": RUNNING}


class Precondition(Decorator):
    HOLDS = True

    def choose(self) -> Turn:
        if self.active is not None:
            return self.children[0]
        answer = self.ask("if")
        if answer is RUNNING:
            return RUNNING
        if answer is not SUCCESS:
            return ELSE[self.spec.values["else"]]
        return self.children[0]


class SkipUnless(Decorator):
    HOLDS = True
    STATE = STAMPS = ("seen",)
    seen = 0

    def choose(self) -> Turn:
        if self.active is None:
            stamp = self.scope.stamp(self.spec.values["updated"])
            if stamp <= self.seen:
                return INVALID
            self.seen = stamp
        return self.children[0]

    def replaced(self, old: Behaviour, new: Behaviour) -> None:
        if self.active is old:
            self.seen = 0  # the new child goes on where the old one was running
        super().replaced(old, new)


class Guard(Decorator):
    """The node around another that implements its guards and assignments (`when`, `on_success`, …)."""

    def __init__(self, spec: NodeSpec, context: Context, scope: Scope) -> None:
        super().__init__(spec, context, scope)
        self.assigns = any(field.startswith("on_") for field in spec.values)
        self.tests = [
            (reader(spec.values[field]) if field in spec.values else None, field, wanted)
            for field, wanted in (("when", True), ("unless", False))
            if field in spec.values or field in spec.places
        ]

    def choose(self) -> Turn:
        holds = self.holds()
        if holds is None:
            return RUNNING
        if not holds:
            if self.active is not None:
                halt_below(self.active, self.context, self, "its guard does not hold any more")
                self.active = None
                self.assign("on_halt")
            return INVALID
        return self.children[0]

    def holds(self) -> bool | None:
        """Returns whether the guards hold; None while a test runs."""
        for read, field, wanted in self.tests:
            if read is not None:
                if bool(read(self.scope.entries)) is not wanted:
                    return False
                continue
            answer = self.ask(field)
            if answer is RUNNING:
                return None
            if (answer is SUCCESS) is not wanted:
                return False
        return True

    def conclude(self, status: Status) -> Turn:
        if not self.assigns:
            return status
        if status is SUCCESS:
            self.assign("on_success")
            self.assign("on_end")
        elif status is FAILURE:
            self.assign("on_failure")
            self.assign("on_end")
        return status

    def terminate(self, new_status: Status) -> None:
        super().terminate(new_status)
        if new_status is INVALID:
            self.assign("on_halt")

    def assign(self, field: str) -> None:
        if field in self.spec.values:
            assign(self.scope, self.spec.values[field])

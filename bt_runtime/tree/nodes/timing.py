"""Decorators that use the run's clock: timeout, delay, rate."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.language.ports import check_range
from bt_runtime.tree.node import FAILURE, RUNNING
from bt_runtime.tree.nodes.conditions import ELSE
from bt_runtime.tree.nodes.leaves import left
from bt_runtime.tree.nodes.parent import Decorator, Turn

if TYPE_CHECKING:
    from bt_runtime.language.spec import NodeSpec
    from bt_runtime.tree.blackboard import Scope
    from bt_runtime.tree.context import Context


class Timeout(Decorator):
    ROUND = TIMES = ("deadline",)
    deadline = 0.0

    def explain(self) -> str:
        return f"its child may run {left(self, self.deadline)}" if self.status is RUNNING else super().explain()

    def choose(self) -> Turn:
        now = self.context.clock.now()
        if self.status is not RUNNING:
            self.deadline = now + self.value("seconds")
            self.feedback_message = ""
        elif now >= self.deadline:
            self.feedback_message = "the time was up"
            return FAILURE
        return self.children[0]

    def conclude(self, status: Status) -> Turn:
        if status is RUNNING:
            self.context.must_wake_at(self.deadline)
        return status


class Delay(Decorator):
    HOLDS = True
    ROUND = TIMES = ("begins",)
    begins = 0.0

    def explain(self) -> str:
        return f"it waits {left(self, self.begins)}" if self.status is RUNNING and self.active is None else ""

    def choose(self) -> Turn:
        if self.status is not RUNNING:
            self.begins = self.context.clock.now() + self.value("seconds")
        if self.active is None and self.context.clock.now() < self.begins:
            self.context.wake_at(self.begins)
            return RUNNING
        return self.children[0]


class Rate(Decorator):
    HOLDS = True
    STATE = ("due", "last")
    TIMES = ("due",)
    due = -math.inf
    last: Status = RUNNING  # the child's last result; RUNNING if its start was cut short

    def __init__(self, spec: NodeSpec, context: Context, scope: Scope) -> None:
        super().__init__(spec, context, scope)
        self.between = ELSE.get(spec.values["else"])  # the result between two starts

    def choose(self) -> Turn:
        now = self.context.clock.now()
        if self.active is None:
            if now < self.due:
                self.context.wake_at(self.due)
                return self.between or self.last
            self.due, self.last = now + 1.0 / self.hz(), RUNNING
        return self.children[0]

    def hz(self) -> float:
        """Returns the rate of the moment; raises for one that is no rate."""
        hz, field = self.value("hz"), self.spec.kind.field("hz")
        if field is not None:
            check_range(field, hz)
        return float(hz)

    def explain(self) -> str:
        return f"its child does not start {left(self, self.due)}" if self.context.clock.now() < self.due else ""

    @property
    def idle_until(self) -> float:
        return self.due if self.active is None else -math.inf

    def conclude(self, status: Status) -> Turn:
        self.last = status
        return status

    def replaced(self, old: Behaviour, new: Behaviour) -> None:
        super().replaced(old, new)
        self.due = -math.inf

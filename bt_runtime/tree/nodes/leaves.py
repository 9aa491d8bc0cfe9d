"""Leaves without a world: check, set, wait, log, succeed, fail."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from py_trees.common import Status

from bt_runtime.events import Line
from bt_runtime.tree.context import Context
from bt_runtime.tree.node import FAILURE, RUNNING, SUCCESS, Node, computed

if TYPE_CHECKING:
    from bt_runtime.language.spec import NodeSpec
    from bt_runtime.tree.blackboard import Scope


def assign(scope: Scope, values: Mapping[str, Any]) -> None:
    """All values are computed before the first is written."""
    ready = [(name, computed(value, scope)) for name, value in values.items()]
    for name, value in ready:
        scope[name] = value


class Check(Node):
    def __init__(self, spec: NodeSpec, context: Context, scope: Scope) -> None:
        super().__init__(spec, context, scope)
        self.test = spec.values["expr"].evaluate

    def update(self) -> Status:
        return SUCCESS if self.test(self.scope) else FAILURE


class Set(Node):
    def update(self) -> Status:
        assign(self.scope, self.spec.values["values"])
        return SUCCESS


class Wait(Node):
    until = math.inf

    def initialise(self) -> None:
        seconds = self.value("seconds") if "seconds" in self.spec.values else math.inf
        self.until = self.context.clock.now() + seconds

    def update(self) -> Status:
        conditional = "until" in self.spec.values
        if conditional and self.value("until"):
            return SUCCESS
        if self.context.clock.now() >= self.until:
            return FAILURE if conditional else SUCCESS
        self.context.wake_at(self.until)
        return RUNNING


class Log(Node):
    def update(self) -> Status:
        text = str(self.value("text"))
        self.feedback_message = text
        self.context.emit(Line(self.path, self.spec.values["level"], text))
        return SUCCESS


class Succeed(Node):
    def update(self) -> Status:
        return SUCCESS


class Fail(Node):
    def update(self) -> Status:
        self.feedback_message = str(self.value("why"))
        return FAILURE

"""Leaves that need no world: check, set, wait, log, succeed, fail."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from py_trees.common import Status

from bt_runtime.events import Line
from bt_runtime.tree.context import Context
from bt_runtime.tree.node import FAILURE, RUNNING, SUCCESS, Node, computed, reader
from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_runtime.language.spec import NodeSpec
    from bt_runtime.tree.blackboard import Scope


def assign(scope: Scope, values: Mapping[str, Json]) -> None:
    """Computes all values before it writes the first."""
    ready = [(name, computed(value, scope)) for name, value in values.items()]
    for name, value in ready:
        scope[name] = value


class Check(Node):
    STATE = STAMPS = ("seen",)

    def __init__(self, spec: NodeSpec, context: Context, scope: Scope) -> None:
        super().__init__(spec, context, scope)
        self.test = self.news if "updated" in spec.values else reader(spec.values["expr"])
        self.seen = 0  # the stamp of the entry that is watched

    def update(self) -> Status:
        return SUCCESS if self.test(self.scope.entries) else FAILURE

    def news(self, entries: Mapping[str, Json]) -> Json:
        """Returns True if the entry was written since the last call and the test, if any, holds."""
        before, self.seen = self.seen, self.scope.stamp(self.spec.values["updated"])
        return self.seen > before and ("expr" not in self.spec.values or self.value("expr"))


class Set(Node):
    def __init__(self, spec: NodeSpec, context: Context, scope: Scope) -> None:
        super().__init__(spec, context, scope)
        entries: dict[str, Json] = spec.values["values"]
        self.entry, given = next(iter(entries.items()), ("", None))
        self.read = reader(given) if len(entries) == 1 else None

    def update(self) -> Status:
        if self.read is not None:
            self.scope[self.entry] = self.read(self.scope.entries)
        else:
            assign(self.scope, self.spec.values["values"])
        return SUCCESS


class UnsetEntries(Node):
    def update(self) -> Status:
        self.scope.remove(self.spec.values["entry"])
        return SUCCESS


class Wait(Node):
    still = True
    STATE = STAMPS = ("seen",)
    ROUND = TIMES = ("until",)
    until = math.inf
    seen = 0.0  # the stamp of the entry that is watched, when it last succeeded

    @property
    def conditional(self) -> bool:
        return "until" in self.spec.values or "updated" in self.spec.values

    def initialise(self) -> None:
        seconds = self.value("seconds") if "seconds" in self.spec.values else math.inf
        self.until = self.context.clock.now() + seconds

    def update(self) -> Status:
        conditional = self.conditional
        if conditional and self.holds():
            return SUCCESS
        if self.context.clock.now() >= self.until:
            return FAILURE if conditional else SUCCESS
        self.context.wake_at(self.until)
        return RUNNING

    def explain(self) -> str:
        return left(self, self.until) if self.status is RUNNING else super().explain()

    def holds(self) -> bool:
        values = self.spec.values
        stamp = self.scope.stamp(values["updated"]) if "updated" in values else math.inf
        if stamp <= self.seen or ("until" in values and not self.value("until")):
            return False
        self.seen = stamp if "updated" in values else 0.0
        return True


def left(node: Node, until: float) -> str:
    """Returns how long a node waits; "" when no time ends its wait."""
    return "" if until == math.inf else f"for another {max(0.0, until - node.context.clock.now()):.3g} s"


def resting(node: Any) -> Wait | None:
    """Returns the wait that keeps this running node idle; None when it does anything else."""
    while getattr(node, "still", False) and node.status is RUNNING and "step" not in vars(node):  # no debugger's hook
        if type(node) is Wait:
            return None if node.conditional else node
        node = node.on_turn
    return None


class Log(Node):
    def __init__(self, spec: NodeSpec, context: Context, scope: Scope) -> None:
        super().__init__(spec, context, scope)
        self.read = reader(spec.values["text"])

    def update(self) -> Status:
        text = self.read(self.scope.entries)
        if text.__class__ is not str:
            text = str(self.value("text"))
        if text != self._said:
            self._said = text
            if self.context.changes is not None:
                self.context.said[self] = text
        if self.context.stream.routes[Line]:
            self.context.emit(Line(self.path, self.spec.values["level"], text))
        return SUCCESS


class Succeed(Node):
    def update(self) -> Status:
        return SUCCESS


class Fail(Node):
    def update(self) -> Status:
        self.feedback_message = str(self.value("why"))
        return FAILURE

"""Decorators that restart their child: one round a tick, so that none of them blocks a tick."""

from __future__ import annotations

import math
from collections.abc import Sequence

from py_trees.common import Status

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.ports import an, type_name
from bt_runtime.tree.describe.gist import worded
from bt_runtime.tree.node import FAILURE, INVALID, RUNNING, SUCCESS, Node
from bt_runtime.tree.nodes.conditions import ELSE
from bt_runtime.tree.nodes.parent import Decorator, Turn
from bt_runtime.types import Json


class _Rounds(Decorator):
    HOLDS = True

    def next_round(self) -> None:
        """Repeats at once, or when the child wakes if its result cannot change earlier."""
        due = self.children[0].idle_until if isinstance(self.children[0], Node) else -math.inf
        if due == -math.inf:
            self.context.tick_soon(self)
        else:
            self.context.wake_at(due)


class _Counted(_Rounds):
    """`again`: the child's result that starts another round, at most `times` times."""

    ROUND = ("times", "count")
    again: Status
    times = 0
    count = 0  # rounds that gave `again`
    only_told = "count"  # a field that only people read when `times` is -1

    def choose(self) -> Turn:
        if self.status is not RUNNING:
            times = self.spec.values["times"]
            self.count, self.times = 0, times if times.__class__ is int else self.value("times")
            if self.times < -1:
                raise BtError(
                    f"`times` takes a whole number from 1, or -1 for ever, not {self.times}",
                    "what is computed for it must give one",
                )
            if self.times == 0:
                return self.again
        return self.children[0]

    def ended_by(self, at: int, status: Status) -> Status | None:
        return status if status is not self.again or 0 <= self.times <= self.count + 1 else None

    def explain(self) -> str:
        return (
            f"round {self.count + 1}{f' of {self.times}' if self.times > 0 else ''}" if self.status is RUNNING else ""
        )

    def conclude(self, status: Status) -> Turn:
        if status is not self.again:
            return status
        self.count += self.times >= 0  # without a limit nobody counts
        if 0 <= self.times <= self.count:
            return status
        self.next_round()
        return RUNNING


class Retry(_Counted):
    again = FAILURE
    still = True


class Repeat(_Counted):
    again = SUCCESS
    still = True


class UntilFailure(_Rounds):
    still = True

    def ended_by(self, at: int, status: Status) -> Status | None:
        return SUCCESS if status is FAILURE else None

    def conclude(self, status: Status) -> Turn:
        if status is FAILURE:
            return SUCCESS
        if status is SUCCESS:
            self.next_round()
            return RUNNING
        return status


class ForEach(_Rounds):
    ROUND = ("items", "item", "due", "passed")
    items: Sequence[Json]  # items still to come
    item: Json = None  # the item of this round
    due = False  # the next round is to begin
    passed = False  # an item succeeded (and was not only skipped)

    def choose(self) -> Turn:
        values = self.spec.values
        if self.status is not RUNNING:
            self.passed, self.due = False, True
            self.items = () if "from" in values else self.value("in")
            if not self.left():
                return ELSE[values["empty"]]
        if self.due:
            if not self.left():
                return self.verdict()  # somebody else has used it up meanwhile
            self.item, self.due = self.pop(), False
        if self.active is None:
            self.scope[values["as"]] = self.item
        return self.children[0]

    def conclude(self, status: Status) -> Turn:
        if status is not SUCCESS and status is not INVALID:
            return status
        self.passed = self.passed or status is SUCCESS
        if not self.left():
            return self.verdict()
        self.due = True
        self.next_round()
        return RUNNING

    def ended_by(self, at: int, status: Status) -> Status | None:
        return None if status is SUCCESS and (self.status is not RUNNING or self.left()) else status

    def explain(self) -> str:
        return f"its item is {worded(self.item)}" if self.status is RUNNING else ""

    def verdict(self) -> Status:
        return SUCCESS if self.passed else INVALID

    def left(self) -> bool:
        """True while there are items left."""
        source = self.spec.values.get("from")
        return bool(self.items if source is None else _listed(source, self.scope.get(source)))

    def pop(self) -> Json:
        source = self.spec.values.get("from")
        if source is None:
            first, self.items = self.items[0], self.items[1:]
            return first
        first, *rest = _listed(source, self.scope.get(source))
        self.scope[source] = rest
        return first


def _listed(name: str, value: Json) -> Sequence[Json]:
    if value is not None and not isinstance(value, list | tuple):
        raise BtError(f"`from` takes an entry with a list, and `{name}` holds {an(type_name(value))}", "write a list")
    return () if value is None else value

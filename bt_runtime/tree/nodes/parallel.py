"""Parallel: children side by side with thresholds, or one after another whatever they return."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from py_trees import common, composites
from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.tree.node import FAILURE, INVALID, RUNNING, SUCCESS
from bt_runtime.tree.nodes.parent import Composite, halt_below

if TYPE_CHECKING:
    from bt_runtime.language.spec import NodeSpec
    from bt_runtime.tree.blackboard import Scope
    from bt_runtime.tree.context import Context


class Parallel(Composite, composites.Parallel):
    def __init__(self, spec: NodeSpec, context: Context, scope: Scope) -> None:
        super().__init__(spec, context, scope)
        self.policy = common.ParallelPolicy.SuccessOnAll()  # what py_trees' displays ask for
        self.in_turn = spec.values.get("order") == "in_turn"
        self.results: dict[Behaviour, Status] = {}  # of the children that have ended in this round
        self.success = self.failure = 0

    def setup(self, **kwargs: Any) -> None:
        """py_trees would check its own policy here; ours was checked by the loader."""

    def step(self) -> Status:
        try:
            if self.status is not RUNNING:
                self.results = {}
                self.clear(0)
                self.success, self.failure = self.value("success"), self.value("failure")
            self.tick_children()
            status = self.verdict()
        except Exception as error:
            status = self.crash(error)
        if status is not RUNNING:
            for child in self.children:
                halt_below(child, self.context, self, "the parallel has its result")
        return self.leave(status)

    def tick_children(self) -> None:
        results = self.results
        for child in tuple(self.children):
            if child not in results:
                stepping: Any = child
                status = stepping.step()
                if status is not RUNNING:
                    results[child] = status
                elif self.in_turn:
                    return

    def verdict(self) -> Status:
        results = [self.results.get(c) for c in self.children]
        taking_part = [r for r in results if r is not INVALID]
        if not taking_part:
            return INVALID if results else SUCCESS
        good, bad = taking_part.count(SUCCESS), taking_part.count(FAILURE)
        total = len(taking_part)
        need = _threshold(self.success, total)
        if self.in_turn and good + bad < total:
            return RUNNING
        if good >= need:
            return SUCCESS
        if self.in_turn or bad >= _threshold(self.failure, total) or bad > total - need:
            return FAILURE
        return RUNNING

    def removed(self, index: int, child: Behaviour) -> None:
        self.results.pop(child, None)

    def replaced(self, old: Behaviour, new: Behaviour) -> None:
        self.results.pop(old, None)


def _threshold(count: int, total: int) -> int:
    """-1 means all of them, -2 all but one; never more than there are."""
    return max(0, min(total, count if count >= 0 else total + 1 + count))

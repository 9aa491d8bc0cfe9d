"""Parallel: ticks children together with thresholds, or one after another whatever they return."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from py_trees import common, composites
from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.tree.node import FAILURE, INVALID, RUNNING, SUCCESS
from bt_runtime.tree.nodes.leaves import Wait, resting
from bt_runtime.tree.nodes.parent import Composite, halt_below

if TYPE_CHECKING:
    from bt_runtime.language.spec import NodeSpec
    from bt_runtime.tree.blackboard import Scope
    from bt_runtime.tree.context import Context


class Parallel(Composite, composites.Parallel):
    ROUND = ("results", "success", "failure")
    CACHES = ("asleep", "rest")

    def __init__(self, spec: NodeSpec, context: Context, scope: Scope) -> None:
        super().__init__(spec, context, scope)
        self.policy = common.ParallelPolicy.SuccessOnAll()  # py_trees' displays read it
        self.in_turn = spec.values.get("order") == "in_turn"
        self.to_the_end = self.in_turn or bool(spec.values.get("wait_all"))
        self.results: dict[Behaviour, Status] = {}  # results of children that ended in this round
        self.asleep: dict[Behaviour, Wait] = {}  # running children that do nothing before this leaf's time has come
        self.rest: tuple[int, float] | None = None  # running children sleep until then, unless one is halted
        self.success = self.failure = 0

    def setup(self, **kwargs: Any) -> None:
        """py_trees would check its own policy here; ours was checked by the loader."""

    def step(self) -> Status:
        try:
            if self.status is not RUNNING:
                self.results, self.asleep, self.rest = {}, {}, None
                self.clear(0)
                self.success, self.failure = self.value("success"), self.value("failure")
            status = RUNNING if self.rest is not None and self.rests(*self.rest) else self.tick_children()
        except Exception as error:
            status = self.crash(error)
        if status is not RUNNING:
            for child in (each for each in self.children if each.status is RUNNING):
                halt_below(child, self.context, self, "the parallel has its result")
        return self.finish(status)

    def tick_children(self) -> Status:
        """Counts as it goes: once the result is certain, children that have not had their turn are not started."""
        results, children, asleep = self.results, tuple(self.children), self.asleep
        ended = list(results.values())
        good, bad, skipped = ended.count(SUCCESS), ended.count(FAILURE), ended.count(INVALID)
        need, most = self.limits(len(children))
        early = not self.to_the_end
        self.rest = None
        for child in self.awake(children) if asleep else children:
            if child in results:
                continue
            stepping: Any = child
            status: Status = stepping.step()
            if status is RUNNING:
                if asleep or getattr(child, "still", False):  # asked here: most leaves pay for no call
                    self.lay_down(child)
                if self.in_turn:
                    return RUNNING
            elif status is SUCCESS or status is FAILURE:
                results[child] = status
                if status is SUCCESS:
                    good += 1
                else:
                    bad += 1
                if early and (good >= need or bad >= most):
                    return SUCCESS if good >= need else FAILURE
            elif status is INVALID:
                skipped += 1
                if self.in_turn:
                    results[child] = status  # `in_turn` skips a child once; otherwise it is asked again
        return self.verdict(good, bad, len(children) - skipped)

    def rests(self, halts: int, until: float) -> bool:
        """True while all children sleep."""
        context = self.context
        if halts != context.halted or context.visits is not None or context.clock.now() >= until:
            return False
        context.wake_at(until)
        return True

    def awake(self, children: Iterable[Behaviour]) -> Iterator[Behaviour]:
        """Yields the children that do not sleep. Halted, replaced and forced children are awake."""
        context, asleep, now, soonest, none = self.context, self.asleep, 0.0, math.inf, True
        if context.visits is not None or self.in_turn:
            asleep = {}  # a visitor sees each child
        for child in children:
            if child in self.results:
                continue
            leaf = asleep.get(child)
            if leaf is None or leaf.status is not RUNNING or leaf.until <= (now := now or context.clock.now()):
                none = False
                yield child
            elif leaf.until < soonest:
                soonest = leaf.until
                context.wake_at(soonest)
        self.rest = (context.halted, soonest) if none else None

    def lay_down(self, child: Behaviour) -> None:
        leaf = resting(child)
        if leaf is not None:
            self.asleep[child] = leaf
        elif self.asleep:
            self.asleep.pop(child, None)

    def verdict(self, good: int, bad: int, total: int) -> Status:
        """Returns the status from the counts of children that are not skipped now."""
        if not total:
            return INVALID if self.children else SUCCESS
        if self.to_the_end and good + bad < total:
            return RUNNING
        need, most = self.limits(total)
        if good >= need:
            return SUCCESS
        return FAILURE if self.to_the_end or bad >= most else RUNNING

    def limits(self, total: int) -> tuple[int, int]:
        """Returns how many successes make it succeed, and how many failures make it fail."""
        need = _threshold(self.success, total)
        return need, min(_threshold(self.failure, total), total - need + 1)

    def explain(self) -> str:
        counts = {word: sum(c.status is s for c in self.children) for s, word in _COUNTED.items()}
        return ", ".join(f"{count} {word}" for word, count in counts.items() if count)

    def inserted(self, index: int) -> None:
        self.rest = None

    def forget(self, child: Behaviour) -> None:
        self.rest = None
        self.results.pop(child, None)
        self.asleep.pop(child, None)


_COUNTED = {RUNNING: "running", SUCCESS: "succeeded", FAILURE: "failed", INVALID: "skipped or not begun"}


def _threshold(count: int, total: int) -> int:
    """Resolves a threshold: -1 means all children, -2 all but one; never more than there are."""
    return max(0, min(total, count if count >= 0 else total + 1 + count))

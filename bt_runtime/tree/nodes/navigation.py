"""Pipeline, recovery and round robin: the control nodes of mobile robots."""

from __future__ import annotations

from py_trees import composites
from py_trees.common import Status

from bt_runtime.tree.node import FAILURE, INVALID, RUNNING, SUCCESS
from bt_runtime.tree.nodes.branches import Branches
from bt_runtime.tree.nodes.parent import Turn, halt_below
from bt_runtime.tree.nodes.sequences import InPlace


class Pipeline(InPlace, composites.Sequence):
    ROUND = ("reached",)  # the furthest child that was ticked in this round
    at = -1  # no child has the turn

    def step(self) -> Status:
        if self.status is not RUNNING:
            self.reached = 0
            self.clear(0)
        last, at = INVALID, -1
        children = self.children
        for at, child in enumerate(children):
            status = child.step()
            if status is not INVALID:
                last = status
            if status is FAILURE or (status is RUNNING and at >= self.reached):
                break
        self.reached = max(self.reached, at)
        if not children:
            last = SUCCESS
        if last is not RUNNING:
            for child in children:
                halt_below(child, self.context, self, "the pipeline has its result")
        return self.finish(last)


class Recovery(Branches):
    HOLDS = True
    ROUND = ("recovering", "recovered", "times")
    recovering = False
    recovered = 0  # how often in this round
    only_told = "recovered"  # a field that only people read when `times` is -1
    times = 0  # the most that it recovers

    def choose(self) -> Turn:
        if self.status is not RUNNING:
            self.recovering, self.recovered = False, 0
            self.times = self.value("times")
        return self.at_place("recover" if self.recovering else "do")

    def ended_by(self, at: int, status: Status) -> Status | None:
        last = status is SUCCESS or 0 <= self.times <= self.recovered
        return status if (last if self.places[at] == "do" else status is FAILURE) else None

    def explain(self) -> str:
        return f"it has recovered {self.recovered} times of {self.times}" if self.recovered else ""

    def conclude(self, status: Status) -> Turn:
        if status is RUNNING:
            return status
        if self.recovering:
            self.recovering = False
            if status is not SUCCESS:
                return FAILURE
            self.recovered += self.times >= 0  # without a limit nobody counts
            self.context.tick_soon(self)
            return RUNNING
        if status is not FAILURE or 0 <= self.times <= self.recovered:
            return status
        self.recovering = True
        return self.at_place("recover")


class RoundRobin(InPlace):
    HOLDS = True
    STATE, ROUND = ("at",), ("tried", "failed")
    tried = 0  # how many had their turn in this round
    failed = False  # a child failed (and was not only skipped)

    def step(self) -> Status:
        if self.status is not RUNNING:
            self.tried, self.failed = 0, False
            self.clear(0)
        children = self.children
        while self.tried < len(children):
            self.at %= len(children)
            status = children[self.at].step()
            if status is RUNNING:
                return self.finish(status)
            self.at += 1
            self.tried += 1
            if status is SUCCESS:
                return self.finish(status)
            self.failed = self.failed or status is FAILURE
        self.at = 0
        return self.finish(FAILURE if self.failed or not children else INVALID)

    def ended_by(self, at: int, status: Status) -> Status | None:
        last = self.tried + (at - self.at) % len(self.children) + 1 == len(self.children)
        return status if status is SUCCESS or last else None

    def terminate(self, new_status: Status) -> None:
        self.at = 0

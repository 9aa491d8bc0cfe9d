"""Reactive sequence and fallback: every tick begins at the first child and halts a preempted child."""

from __future__ import annotations

from typing import Any, ClassVar

from py_trees import composites
from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.tree.node import FAILURE, INVALID, RUNNING, SUCCESS
from bt_runtime.tree.nodes.parent import Composite, halt_below


class _Reactive(Composite):
    onward: ClassVar[Status]
    memory = False
    ROUND = ("runner",)

    runner: Behaviour | None = None  # the child that was running after the last tick

    def step(self) -> Status:
        children: list[Any] = self.children
        passed = False
        for at, child in enumerate(children):
            status = child.step()
            if status is self.onward:
                passed = True
            elif status is not INVALID:
                self.turn_to(child if status is RUNNING else None, at)
                return self.finish(status)
        self.turn_to(None, len(children) - 1)
        return self.finish(self.onward if passed or not children else INVALID)

    def turn_to(self, runner: Behaviour | None, at: int) -> None:
        """Lets only `runner` continue; resets the children after index `at`."""
        before, self.runner = self.runner, runner
        if before is not None and before is not runner:
            halt_below(before, self.context, self, "an earlier child took over")
        self.clear(at + 1)

    def terminate(self, new_status: Status) -> None:
        self.runner = None

    def forget(self, child: Behaviour) -> None:
        if child is self.runner:
            self.runner = None


class ReactiveSequence(_Reactive, composites.Sequence):
    onward = SUCCESS


class ReactiveFallback(_Reactive, composites.Selector):
    onward = FAILURE

"""The actions that can matter for a goal, and what each fact costs from here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

from bt_runtime.agents.backchain.operator import StepSource, Values
from bt_runtime.agents.backchain.step import NOT, PlanStep, holds
from bt_runtime.language.faults.diagnostic import BtError

MOST_STEPS = 20_000  # different actions that could matter
MOST_SETS = 50_000  # sets of facts that are looked at
MOST_CHEAPER = 5_000  # … once a plan is found, for one that costs less


class Bound(NamedTuple):
    steps: int = MOST_STEPS
    sets: int = MOST_SETS
    cheaper: int = MOST_CHEAPER


BOUND = Bound()


class NoPlan(BtError):
    """Raised when no sequence of the skills' actions leads to the goal."""


class SearchTooLarge(BtError):
    """Raised when the bound is reached before a plan was found: there may be one."""


class Relevant:
    """The actions that can matter for a goal, and what each fact costs from here."""

    def __init__(self, goal: Iterable[str], every: Sequence[StepSource], values: Values, most: int) -> None:
        self.steps: dict[PlanStep, None] = {}
        self.bringing: dict[str, list[PlanStep]] = {}
        todo = list(goal)
        while todo:
            fact = todo.pop()
            if fact in self.bringing:
                continue
            own = dict.fromkeys(step for each in every for step in each.bringing(fact, values))
            self.bringing[fact] = [step for step in own if fact in step.brings]
            for step in self.bringing[fact]:
                if step not in self.steps:
                    self.steps[step] = None
                    todo += step.needs
            if len(self.steps) > most:
                raise SearchTooLarge(
                    f"more than {most} actions could matter for the goal", "name fewer values for the slots"
                )

    def holding(self, ask: Callable[[str], bool | None]) -> frozenset[str]:
        """The facts that matter and of which the answer is True."""
        facts = dict.fromkeys(fact.removeprefix(NOT) for fact in self.bringing)
        return frozenset(fact for fact in facts if ask(fact))

    def costs(self, state: frozenset[str], joined: Callable[[Iterable[float]], float] = sum) -> dict[str, float]:
        """What each fact costs on its own, from the state on; a fact that is not in it cannot be brought. `joined`:
        how the costs of what an action needs count: all of them, or `max`, which is never too much."""
        cost = {fact: 0.0 for fact in self.bringing if holds(fact, state)}
        wanting: dict[str, list[PlanStep]] = {}
        missing = {}
        ready: list[tuple[float, int, PlanStep]] = []
        order = count()
        for step in self.steps:
            lacking = [fact for fact in step.needs if fact not in cost]
            missing[step] = len(lacking)
            for fact in lacking:
                wanting.setdefault(fact, []).append(step)
            if not lacking:
                heappush(ready, (step.cost, next(order), step))
        while ready:
            spent, _, step = heappop(ready)
            for fact in step.brings:
                if fact in self.bringing and fact not in cost:
                    cost[fact] = spent
                    for other in wanting.get(fact, ()):
                        missing[other] -= 1
                        if not missing[other]:
                            total = other.cost + joined(cost[need] for need in other.needs)
                            heappush(ready, (total, next(order), other))
        return cost

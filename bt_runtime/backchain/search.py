"""Searches from the goal backward for the steps that lead to it: complete for what the skills say, within a bound.

A set of facts that must hold is led back through the action that brings one of them and denies none; what the action
needs takes its place. The first set that holds now ends the search. The estimate of what a set still costs is the sum
over its facts, each on its own; so plans are cheap, and not always the cheapest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import NamedTuple

from bt_runtime.backchain.operator import Operator, Values
from bt_runtime.backchain.step import Step, holds, opposite
from bt_runtime.faults.diagnostic import BtError

MOST_STEPS = 20_000  # different actions that could matter
MOST_SETS = 50_000  # sets of facts that are looked at


class Bound(NamedTuple):
    steps: int = MOST_STEPS
    sets: int = MOST_SETS


BOUND = Bound()


class NoPlan(BtError):
    """Raised when no sequence of the skills' actions leads to the goal."""


class TooLarge(BtError):
    """Raised when the bound is reached before a plan was found: there may be one."""


class Relevant:
    """The actions that can matter for a goal, and what each fact costs from here."""

    def __init__(self, goal: Iterable[str], every: Sequence[Operator], values: Values, most: int) -> None:
        self.steps: dict[Step, None] = {}
        self.bringing: dict[str, list[Step]] = {}
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
                raise TooLarge(f"more than {most} actions could matter for the goal", "name fewer values for the slots")

    def costs(self, state: frozenset[str]) -> dict[str, float]:
        """What each fact costs on its own, from the state on; a fact that is not in it cannot be brought."""
        cost = {fact: 0.0 for fact in self.bringing if holds(fact, state)}
        wanting: dict[str, list[Step]] = {}
        missing = {}
        ready: list[tuple[float, int, Step]] = []
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
                            total = other.cost + sum(cost[need] for need in other.needs)
                            heappush(ready, (total, next(order), other))
        return cost


def plan(
    goal: Sequence[str], every: Sequence[Operator], state: frozenset[str], values: Values, bound: Bound = BOUND
) -> list[Step]:
    """The steps from the state to the goal, in their order. Raises NoPlan when there are none, TooLarge when the
    bound ends the search."""
    relevant = Relevant(goal, every, values, bound.steps)
    cost = relevant.costs(state)
    lacking = [fact for fact in goal if fact not in cost]
    if lacking:
        raise NoPlan(f"nothing leads to `{lacking[0]}`", _hint(lacking[0], relevant, cost))
    found = _search(frozenset(goal), relevant, cost, state, bound.sets)
    if found is None:
        raise NoPlan("each fact of the goal can be brought, but not all together", "one undoes another: say less")
    return found


def _search(
    goal: frozenset[str], relevant: Relevant, cost: dict[str, float], state: frozenset[str], most: int
) -> list[Step] | None:
    order = count()
    start = _rest(goal, cost)
    spent = {goal: 0.0}
    way: dict[frozenset[str], tuple[Step, frozenset[str]]] = {}
    todo = [(start, start, next(order), goal, 0.0)]
    seen = 0
    while todo:
        _, _, _, wanted, so_far = heappop(todo)
        if so_far > spent[wanted]:
            continue
        if all(holds(fact, state) for fact in wanted):
            return _steps(wanted, goal, way)
        seen += 1
        if seen > most:
            raise TooLarge(
                f"no plan among the first {most} sets of facts", "ask for less at once, or --most a larger N"
            )
        for step in dict.fromkeys(s for fact in sorted(wanted) for s in relevant.bringing[fact]):
            before = regressed(wanted, step)
            if before is None or any(fact not in cost for fact in before):
                continue
            total = so_far + step.cost
            if total < spent.get(before, inf):
                spent[before] = total
                way[before] = (step, wanted)
                rest = _rest(before, cost)
                heappush(todo, (total + rest, rest, next(order), before, total))
    return None


def regressed(wanted: frozenset[str], step: Step) -> frozenset[str] | None:
    """What must hold before the step so that `wanted` holds after it; None when the step cannot be the last."""
    if any(opposite(fact) in wanted for fact in step.brings):
        return None
    before = (wanted - frozenset(step.brings)) | frozenset(step.needs)
    return None if any(opposite(fact) in before for fact in before) else before


def _rest(facts: frozenset[str], cost: dict[str, float]) -> float:
    return sum(cost[fact] for fact in facts)


def _steps(
    at: frozenset[str], goal: frozenset[str], way: dict[frozenset[str], tuple[Step, frozenset[str]]]
) -> list[Step]:
    found = []
    while at != goal:
        step, at = way[at]
        found.append(step)
    return found


def _hint(fact: str, relevant: Relevant, cost: dict[str, float]) -> str:
    """Follows the cheapest-looking way down to a fact that no skill brings."""
    known = {fact}
    while relevant.bringing[fact]:
        step = relevant.bringing[fact][0]
        lacking = [need for need in step.needs if need not in cost and need not in known]
        if not lacking:
            return f"`{fact}` would need itself: say what holds now, --given 'FACT'"
        fact = lacking[0]
        known.add(fact)
    return f"no skill brings `{fact}`: if it holds now, --given '{fact}'"

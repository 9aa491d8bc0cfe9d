"""A goal and manifests become a plan: its tree as text, its steps, and why each of them is there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from bt_runtime.agents.backchain.limits import NONE, FactLimits
from bt_runtime.agents.backchain.operator import StepSource, Values, mentioned
from bt_runtime.agents.backchain.relevant import BOUND, Bound, Relevant
from bt_runtime.agents.backchain.search import steps_to
from bt_runtime.agents.backchain.shape import NeededFacts, shaped
from bt_runtime.agents.backchain.step import NOT, PlanStep
from bt_runtime.agents.backchain.tree_text import Head, written
from bt_runtime.types import Json

MOST_OTHERS = 3  # other ways that are told for one step


class FoundPlan(NamedTuple):
    goal: tuple[str, ...]
    steps: list[PlanStep]
    needs: list[NeededFacts]
    text: str
    cost: float
    others: list[list[tuple[PlanStep, float]]]  # for each step: (other way to its fact, cost)
    cheapest: bool  # True: by what the skills say nothing costs less

    def reasons(self) -> list[str]:
        """A line for each step: what it is for."""
        found = []
        for number, step in enumerate(self.steps):
            later = self.steps[number + 1 :]
            own = [fact for fact in step.brings if fact in self.goal]
            why = [f"`{fact}` is asked for" for fact in own]
            why += [f"`{fact}` is needed to {_first(fact, later)}" for fact in _used(step, later) if fact not in own]
            why += [f"instead of {other} (with what it needs {seconds:g} s)" for other, seconds in self.others[number]]
            found.append(f"{number + 1}. {step} ({step.cost:g} s): {'; '.join(why)}")
        return found


def _used(step: PlanStep, later: Sequence[PlanStep]) -> list[str]:
    return [fact for fact in step.brings if any(fact in other.needs for other in later)]


def _others(
    goal: Sequence[str], steps: Sequence[PlanStep], relevant: Relevant, cost: Mapping[str, float]
) -> Iterator[list[tuple[PlanStep, float]]]:
    """Yields for each step the cheapest other skills that bring the facts it is there for, and their whole costs."""
    for number, step in enumerate(steps):
        wanted = [*_used(step, steps[number + 1 :]), *(fact for fact in step.brings if fact in goal)]
        found: dict[str, tuple[PlanStep, float]] = {}
        for other in dict.fromkeys(each for fact in wanted for each in relevant.bringing[fact]):
            if other.skill == step.skill or any(need not in cost for need in other.needs):
                continue
            seconds = other.cost + sum(cost[need] for need in other.needs)
            if other.skill not in found or seconds < found[other.skill][1]:
                found[other.skill] = (other, seconds)
        yield sorted(found.values(), key=lambda each: each[1])[:MOST_OTHERS]


def _first(fact: str, later: Sequence[PlanStep]) -> str:
    return str(next(step for step in later if fact in step.needs))


def planned(
    goal: Sequence[str],
    every: Sequence[StepSource],
    given: Iterable[str] = (),
    values: Values | None = None,
    head: Head | None = None,
    bound: Bound = BOUND,
    limits: FactLimits = NONE,
    ask: Callable[[str], bool | None] = lambda fact: None,
    formatted: bool = True,
) -> FoundPlan:
    """The plan from the facts that are given, and from those that `ask` answers with True. Nothing else holds; the
    tree asks again when it runs.

    `values` are what may fill a slot, besides those that the goal and the given facts name. Without `formatted` no
    text is written."""
    said = tuple(given)
    known = _joined(mentioned(every, (*goal, *said)), values or {})
    relevant = Relevant(goal, every, known, bound.steps)
    state = frozenset(fact for fact in said if not fact.startswith(NOT)) | relevant.holding(ask)
    steps, sure = steps_to(tuple(goal), relevant, state, bound, limits)
    needs = shaped(goal, steps, state, limits)
    text = written(head or Head(), goal, needs, state) if formatted else ""
    others = list(_others(goal, steps, relevant, relevant.costs(state)))
    return FoundPlan(tuple(goal), steps, needs, text, sum(step.cost for step in steps), others, sure)


def _joined(found: Mapping[str, Sequence[Json]], named: Values) -> dict[str, list[Json]]:
    slots = dict.fromkeys([*named, *found])
    return {slot: list(dict.fromkeys([*named.get(slot, ()), *found.get(slot, ())])) for slot in slots}

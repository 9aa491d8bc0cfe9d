"""Searches from the goal backward for the steps that lead to it: complete for what the skills say, within a bound.

A set of facts that must hold is led back through the action that brings one of them and denies none; what the action
needs takes its place. The first set that holds now ends the search. The estimate of what a set still costs is the sum
over its facts, each on its own; so the first plan is cheap, and not always the cheapest. A goal of
several facts that takes long is planned one fact after the other; where that leads nowhere, the search goes on, and the
longer it lasts, the more the estimate counts. The plan that is found bounds a second search, for the cheapest.
"""

from __future__ import annotations

from collections.abc import Sequence

from bt_runtime.agents.backchain.cheapest import PlanWay, cheapest
from bt_runtime.agents.backchain.limits import NONE, FactLimits
from bt_runtime.agents.backchain.relevant import BOUND, Bound, NoPlan, Relevant, SearchTooLarge
from bt_runtime.agents.backchain.sets import PATIENCE, FactSearch
from bt_runtime.agents.backchain.step import PlanStep, holds, opposite


def steps_to(
    goal: Sequence[str], relevant: Relevant, state: frozenset[str], bound: Bound = BOUND, limits: FactLimits = NONE
) -> PlanWay:
    """The steps from the state to the goal, in their order: the cheapest within the bound. Raises NoPlan when there
    are none, TooLarge when the bound ends the search."""
    search = FactSearch(goal, relevant, state, limits)
    lacking = [fact for fact in goal if fact not in search.cost]
    if lacking:
        raise NoPlan(f"nothing leads to `{lacking[0]}`", _hint(lacking[0], relevant, search.cost))
    found = search.steps(min(PATIENCE, bound.sets))
    if found is None and search.todo and len(goal) > 1:
        found = _one_by_one(goal, relevant, state, limits)
    if found is None:
        found = search.steps(bound.sets)
    if found is not None:
        return cheapest(_needed(found, goal, state, limits), goal, relevant, state, bound.cheaper, limits)
    if search.todo:
        text = f"no plan among the first {bound.sets} sets of facts"
        raise SearchTooLarge(text, "ask for less at once, or --most a larger N")
    raise NoPlan("each fact of the goal can be brought, but not all together", "one undoes another: say less")


def _one_by_one(
    goal: Sequence[str], relevant: Relevant, state: frozenset[str], limits: FactLimits
) -> list[PlanStep] | None:
    """Brings one fact of the goal after the other, each so that those before it hold then, too."""
    steps: list[PlanStep] = []
    for number in range(1, len(goal) + 1):
        found = FactSearch(goal[:number], relevant, state, limits).steps(PATIENCE)
        if found is None:
            return None
        for step in found:
            state = limits.after(step, state)
        steps += found
    return steps


def _needed(steps: list[PlanStep], goal: Sequence[str], state: frozenset[str], limits: FactLimits) -> list[PlanStep]:
    """The plan without steps that it reaches the goal without, as a walk to where one is already."""
    at = 0
    while at < len(steps):
        then = limits.played(steps[at + 1 :], state)
        if then is not None and all(holds(fact, then) for fact in goal):
            del steps[at]
        else:
            state, at = limits.after(steps[at], state), at + 1
    return steps


def regressed(wanted: frozenset[str], step: PlanStep, limits: FactLimits = NONE) -> frozenset[str] | None:
    """What must hold before the step so that `wanted` holds after it; None when the step cannot be the last."""
    if any(opposite(fact) in wanted for fact in step.brings) or limits.exceeded(wanted.union(step.brings)):
        return None
    before = (wanted - frozenset(step.brings)) | frozenset(step.needs)
    if any(opposite(fact) in before for fact in before):
        return None
    return None if limits.exceeded(before) else before


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

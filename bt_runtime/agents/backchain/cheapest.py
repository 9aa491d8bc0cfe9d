"""The cheapest plan: a search whose estimate never exceeds what is left to pay, so that its first plan is the cheapest.

It begins with a plan that is known, leaves out whatever cannot become cheaper, and ends at a bound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bt_runtime.agents.backchain.limits import NONE, FactLimits
from bt_runtime.agents.backchain.relevant import Relevant
from bt_runtime.agents.backchain.sets import FactSearch
from bt_runtime.agents.backchain.step import PlanStep

_ROUNDING = 1e-9


class PlanWay(NamedTuple):
    """The steps to a goal. `cheapest`: no others cost less, by what the skills say."""

    steps: list[PlanStep]
    cheapest: bool

    @property
    def cost(self) -> float:
        return sum(step.cost for step in self.steps)


class _Cheaper(FactSearch):
    """Looks for a plan that costs less than `limit`."""

    def __init__(
        self, goal: Sequence[str], relevant: Relevant, state: frozenset[str], limits: FactLimits, limit: float
    ) -> None:
        self.limit = limit
        super().__init__(goal, relevant, state, limits, relevant.costs(state, max))

    def rest(self, wanted: int, before: float, brought: int, needed: int) -> float:
        """The most expensive of the facts: each has to be brought, and one action may bring all of them."""
        found = 0.0
        while wanted:
            low = wanted & -wanted
            found = max(found, self.price[low.bit_length() - 1])
            wanted ^= low
        return found

    def add(self, facts: int, total: float, rest: float) -> None:
        if total + rest < self.limit - _ROUNDING:
            super().add(facts, total, rest)

    def hurry(self) -> None:
        """No-op: an estimate that counts more would exceed what is left to pay."""


def cheapest(
    known: list[PlanStep],
    goal: Sequence[str],
    relevant: Relevant,
    state: frozenset[str],
    most: int,
    limits: FactLimits = NONE,
) -> PlanWay:
    """The cheapest steps to the goal, else the known ones when `most` sets of facts were looked at. A world that says
    how many facts hold at once is believed as far as a set of facts can say it: nothing is claimed then."""
    way = PlanWay(known, False)
    search = _Cheaper(goal, relevant, state, limits, way.cost)
    found = search.steps(most)
    return PlanWay(known if found is None else found, not search.groups and (found is not None or not search.todo))

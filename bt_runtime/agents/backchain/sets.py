"""Sets of facts, searched from the goal's on: each is a number whose bits are facts, so that a step costs little."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush
from itertools import count
from math import inf
from typing import NamedTuple

from bt_runtime.agents.backchain.limits import NONE, FactLimits
from bt_runtime.agents.backchain.relevant import Relevant
from bt_runtime.agents.backchain.step import PlanStep, holds, opposite

PATIENCE = 200  # sets of facts after which the estimate counts twice as much


class Move(NamedTuple):
    """A step in bits."""

    step: PlanStep
    needs: int
    brings: int
    denies: int  # bit set: facts that its effects make false
    against: int  # bit set: facts that its needs forbid


class FactSearch:
    """Leads the goal's facts back until they hold in `state`; `steps` may be called again with a larger bound."""

    def __init__(
        self, goal: Sequence[str], relevant: Relevant, state: frozenset[str], limits: FactLimits = NONE,
        cost: dict[str, float] | None = None,
    ) -> None:  # fmt: skip
        """`cost`: what each fact costs; without it, with all that its way needs."""
        self.state, self.limits = state, limits
        self.cost = relevant.costs(state) if cost is None else cost
        self.bit: dict[str, int] = {}
        self.price: list[float] = []
        made = {step: self.move(step) for step in relevant.steps if all(need in self.cost for need in step.needs)}
        found = {fact: [made[step] for step in steps if step in made] for fact, steps in relevant.bringing.items()}
        self.goal = self.mask(goal)
        self.bringing = [(self.mask((fact,)), found.get(fact, [])) for fact in sorted(self.bit)]
        self.held = self.mask(fact for fact in self.bit if holds(fact, state))
        self.groups = [
            (most, self.mask(fact for fact in self.bit if at in limits.groups(fact)))
            for at, most in enumerate(limits.most)
        ]
        self.spent = {self.goal: 0.0}
        self.way: dict[int, tuple[PlanStep, int]] = {}
        self.weight, self.seen, self.order = 1.0, 0, count()
        self.todo: list[tuple[float, float, int, int, float]] = []
        if all(fact in self.cost for fact in goal) and not self.impossible(goal):
            self.add(self.goal, 0.0, self.rest(self.goal, 0.0, 0, self.goal))

    def impossible(self, goal: Sequence[str]) -> bool:
        return self.exceeded(self.goal) or any(opposite(fact) in goal for fact in goal)

    def mask(self, facts: Iterable[str]) -> int:
        found = 0
        for fact in [*facts]:
            if fact not in self.bit:
                self.bit[fact] = len(self.bit)
                self.price.append(self.cost.get(fact, 0.0))
            found |= 1 << self.bit[fact]
        return found

    def move(self, step: PlanStep) -> Move:
        denied, against = map(opposite, step.brings), map(opposite, step.needs)
        return Move(step, self.mask(step.needs), self.mask(step.brings), self.mask(denied), self.mask(against))

    def exceeded(self, facts: int) -> bool:
        return any((facts & group).bit_count() > most for most, group in self.groups)

    def steps(self, most: int) -> list[PlanStep] | None:
        """None when `most` sets were looked at, or when there is nothing left in `todo`."""
        while self.todo and self.seen < most:
            _, rest, _, wanted, so_far = heappop(self.todo)
            if so_far > self.spent[wanted]:
                continue
            if not wanted & ~self.held:
                found = self.followed(wanted)
                if not self.groups or self.limits.played(found, self.state) is not None:
                    return found  # otherwise facts that no set names exceed the limits
            self.seen += 1
            if self.seen % PATIENCE == 0:
                self.hurry()
            self.expand(wanted, so_far, rest)
        return None

    def expand(self, wanted: int, so_far: float, rest: float) -> None:
        for bit, moves in self.bringing:
            if not wanted & bit:
                continue
            for step, needs, brings, denies, against in moves:
                left = wanted & ~brings
                before = left | needs
                if wanted & denies or before & against or (self.groups and self.exceeded(wanted | brings)):
                    continue
                if self.groups and self.exceeded(before):
                    continue
                total = so_far + step.cost
                if total < self.spent.get(before, inf):
                    self.spent[before] = total
                    self.way[before] = (step, wanted)
                    self.add(before, total, self.rest(before, rest, wanted & brings, needs & ~left))

    def rest(self, wanted: int, before: float, brought: int, needed: int) -> float:
        """The estimate of what a set still costs, from that of the set that it was led back from."""
        return before - self.worth(brought) + self.worth(needed)

    def worth(self, facts: int) -> float:
        found = 0.0
        while facts:
            low = facts & -facts
            found += self.price[low.bit_length() - 1]
            facts ^= low
        return found

    def add(self, facts: int, total: float, rest: float) -> None:
        heappush(self.todo, (total + self.weight * rest, rest, next(self.order), facts, total))

    def hurry(self) -> None:
        self.weight *= 2
        self.todo = [(total + self.weight * rest, rest, at, facts, total) for _, rest, at, facts, total in self.todo]
        heapify(self.todo)

    def followed(self, at: int) -> list[PlanStep]:
        found = []
        while at != self.goal:
            step, at = self.way[at]
            found.append(step)
        return found

"""The shape of the tree: each fact beside what achieves it, or one set of facts after the other.

The first shape is the one that people read: a fallback of the fact and its achiever, whose needs stand before it in the
order in which the plan achieves them. It is played on the skills' own words; where it is too large, each step stands in
it once. Where one need undoes another, the second shape is taken: each step stands behind all that must hold for the
rest of the plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bt_runtime.agents.backchain.limits import NONE, FactLimits
from bt_runtime.agents.backchain.search import regressed
from bt_runtime.agents.backchain.step import PlanStep, holds

MOST_NEEDS = 400  # needs in the first shape, a shared one counted for each that needs it


class NeededFacts(NamedTuple):
    """Facts that must hold, and what is done where they do not: first the needs of the step, then the step."""

    facts: tuple[str, ...]
    step: PlanStep | None = None
    needs: tuple[NeededFacts, ...] = ()


def shaped(
    goal: Sequence[str], steps: Sequence[PlanStep], state: frozenset[str], limits: FactLimits = NONE
) -> list[NeededFacts]:
    """The needs of a tree that leads from the state to the goal when it is played."""
    for once in (False, True):
        by_fact = _Producers(goal, steps, once).needs()
        if by_fact is not None and reaches(by_fact, goal, state, limits):
            return by_fact
    return [chained(goal, steps)]


class _Producers:
    """Finds for each need the last step before it that brings it. `once`: a step stands where it is needed first, and
    a test of its fact wherever else, which keeps a large tree small."""

    def __init__(self, goal: Sequence[str], steps: Sequence[PlanStep], once: bool = False) -> None:
        self.goal, self.steps, self.left, self.once = goal, steps, MOST_NEEDS, once
        self.placed: set[int] = set()

    def needs(self) -> list[NeededFacts] | None:
        """None where they are too many."""
        found = self.all_of(self.goal, len(self.steps))
        return found if self.left > 0 else None

    def all_of(self, facts: Sequence[str], end: int) -> list[NeededFacts]:
        by_step = sorted((self.producer(fact, end), at, fact) for at, fact in enumerate(dict.fromkeys(facts)))
        return [self.one(fact, step) for step, _, fact in by_step]

    def producer(self, fact: str, end: int) -> int:
        return next((i for i in range(end - 1, -1, -1) if fact in self.steps[i].brings), -1)

    def one(self, fact: str, at: int) -> NeededFacts:
        self.left -= 1
        if at < 0 or self.left <= 0 or (self.once and at in self.placed):
            return NeededFacts((fact,))
        self.placed.add(at)
        step = self.steps[at]
        return NeededFacts((fact,), step, tuple(self.all_of(step.needs, at)))


def chained(goal: Sequence[str], steps: Sequence[PlanStep]) -> NeededFacts:
    """Each step behind the facts from which the rest of the plan leads to the goal."""
    wanted = [frozenset(goal)]
    for step in reversed(steps):
        before = regressed(wanted[-1], step)
        assert before is not None
        wanted.append(before)
    wanted.reverse()
    need = NeededFacts(tuple(sorted(wanted[0])))
    for step, facts in zip(steps, wanted[1:], strict=True):
        own = (need,) if facts or need.facts else ()
        need = NeededFacts(tuple(sorted(facts)), step, own)
    return need


def reaches(
    needs: Sequence[NeededFacts], goal: Sequence[str], state: frozenset[str], limits: FactLimits = NONE
) -> bool:
    """Plays the needs once on the skills' own words: does the goal hold then, with no step done without its needs?"""
    for need in needs:
        played = _played(need, state, limits)
        if played is None:
            return False
        state = played
    return all(holds(fact, state) for fact in goal)


def _played(need: NeededFacts, state: frozenset[str], limits: FactLimits) -> frozenset[str] | None:
    if all(holds(fact, state) for fact in need.facts):
        return state
    if need.step is None:
        return None
    for inner in need.needs:
        played = _played(inner, state, limits)
        if played is None:
            return None
        state = played
    if not all(holds(fact, state) for fact in need.step.needs):
        return None
    return limits.after(need.step, state)

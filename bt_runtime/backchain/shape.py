"""The shape of the tree: each fact beside what achieves it, or one set of facts after the other.

The first shape is the one that people read: a fallback of the fact and its achiever, whose needs stand before it in the
order in which the plan achieves them. It is played on the skills' own words; where one need undoes another there, the
second shape is taken: each step stands behind all that must hold for the rest of the plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bt_runtime.backchain.search import regressed
from bt_runtime.backchain.step import Step, after, holds

MOST_NEEDS = 400  # in the first shape, in which a shared need stands once for each that needs it


class Need(NamedTuple):
    """Facts that must hold, and what is done where they do not: first the needs of the step, then the step."""

    facts: tuple[str, ...]
    step: Step | None = None
    needs: tuple[Need, ...] = ()


def shaped(goal: Sequence[str], steps: Sequence[Step], state: frozenset[str]) -> list[Need]:
    """The needs of a tree that leads from the state to the goal when it is played."""
    by_fact = _Producers(goal, steps).needs()
    if by_fact is not None and reaches(by_fact, goal, state):
        return by_fact
    return [chained(goal, steps)]


class _Producers:
    """Finds for each need the last step before it that brings it."""

    def __init__(self, goal: Sequence[str], steps: Sequence[Step]) -> None:
        self.goal, self.steps, self.left = goal, steps, MOST_NEEDS

    def needs(self) -> list[Need] | None:
        """None where they are too many."""
        found = [need for _, need in self.all_of(self.goal, len(self.steps))]
        return found if self.left > 0 else None

    def all_of(self, facts: Sequence[str], end: int) -> list[tuple[int, Need]]:
        made = [self.one(fact, end) for fact in dict.fromkeys(facts)]
        return sorted(made, key=lambda each: each[0])

    def one(self, fact: str, end: int) -> tuple[int, Need]:
        self.left -= 1
        at = next((i for i in range(end - 1, -1, -1) if fact in self.steps[i].brings), -1)
        if at < 0 or self.left <= 0:
            return -1, Need((fact,))
        step = self.steps[at]
        return at, Need((fact,), step, tuple(need for _, need in self.all_of(step.needs, at)))


def chained(goal: Sequence[str], steps: Sequence[Step]) -> Need:
    """Each step behind the facts from which the rest of the plan leads to the goal."""
    wanted = [frozenset(goal)]
    for step in reversed(steps):
        before = regressed(wanted[-1], step)
        assert before is not None
        wanted.append(before)
    wanted.reverse()
    need = Need(tuple(sorted(wanted[0])))
    for step, facts in zip(steps, wanted[1:], strict=True):
        own = (need,) if facts or need.facts else ()
        need = Need(tuple(sorted(facts)), step, own)
    return need


def reaches(needs: Sequence[Need], goal: Sequence[str], state: frozenset[str]) -> bool:
    """Plays the needs once on the skills' own words: does the goal hold then, with no step done without its needs?"""
    for need in needs:
        played = _played(need, state)
        if played is None:
            return False
        state = played
    return all(holds(fact, state) for fact in goal)


def _played(need: Need, state: frozenset[str]) -> frozenset[str] | None:
    if all(holds(fact, state) for fact in need.facts):
        return state
    if need.step is None:
        return None
    for inner in need.needs:
        played = _played(inner, state)
        if played is None:
            return None
        state = played
    if not all(holds(fact, state) for fact in need.step.needs):
        return None
    return after(need.step, state)

"""A goal and manifests become a plan: its tree as text, its steps, and why each of them is there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from bt_runtime.backchain.limits import NONE, Limits
from bt_runtime.backchain.operator import Source, Values, mentioned
from bt_runtime.backchain.relevant import BOUND, Bound, Relevant
from bt_runtime.backchain.search import steps_to
from bt_runtime.backchain.shape import Need, shaped
from bt_runtime.backchain.step import NOT, Step
from bt_runtime.backchain.tree_text import Head, written
from bt_runtime.types import Json


class Planned(NamedTuple):
    goal: tuple[str, ...]
    steps: list[Step]
    needs: list[Need]
    text: str
    cost: float

    def reasons(self) -> list[str]:
        """A line for each step: what it is for."""
        found = []
        for number, step in enumerate(self.steps):
            later = self.steps[number + 1 :]
            used = [fact for fact in step.brings if any(fact in other.needs for other in later)]
            own = [fact for fact in step.brings if fact in self.goal]
            why = [f"`{fact}` is asked for" for fact in own]
            why += [f"`{fact}` is needed to {_first(fact, later)}" for fact in used if fact not in own]
            found.append(f"{number + 1}. {step} ({step.cost:g} s): {'; '.join(why)}")
        return found


def _first(fact: str, later: Sequence[Step]) -> str:
    return str(next(step for step in later if fact in step.needs))


def planned(
    goal: Sequence[str],
    every: Sequence[Source],
    given: Iterable[str] = (),
    values: Values | None = None,
    head: Head | None = None,
    bound: Bound = BOUND,
    limits: Limits = NONE,
    ask: Callable[[str], bool | None] = lambda fact: None,
    formatted: bool = True,
) -> Planned:
    """The plan from the facts that are given, and from those that `ask` answers with True. Nothing else holds; the
    tree asks again when it runs.

    `values` are what may fill a slot, besides those that the goal and the given facts name. Without `formatted` no
    text is written."""
    said = tuple(given)
    known = _joined(mentioned(every, (*goal, *said)), values or {})
    relevant = Relevant(goal, every, known, bound.steps)
    state = frozenset(fact for fact in said if not fact.startswith(NOT)) | relevant.holding(ask)
    steps = steps_to(tuple(goal), relevant, state, bound, limits)
    needs = shaped(goal, steps, state, limits)
    text = written(head or Head(), goal, needs, state) if formatted else ""
    return Planned(tuple(goal), steps, needs, text, sum(step.cost for step in steps))


def _joined(found: Mapping[str, Sequence[Json]], named: Values) -> dict[str, list[Json]]:
    slots = dict.fromkeys([*named, *found])
    return {slot: list(dict.fromkeys([*named.get(slot, ()), *found.get(slot, ())])) for slot in slots}

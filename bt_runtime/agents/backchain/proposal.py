"""A plan that somebody proposes: the actions that it names are taken before others, where they lead to the goal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from bt_runtime.agents.backchain.operator import StepSource, Values
from bt_runtime.agents.backchain.step import PlanStep
from bt_runtime.agents.plan_text import Do, Group, Part, PlannedAct, PlannedGoal, read_plan
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.sentence import Sentence

FAVOUR = 0.05  # share of its cost that a proposed action counts


class Proposal(NamedTuple):
    steps: list[tuple[str, dict[str, Any]]]  # skills with their values, in the order of the plan
    named: list[str]  # plain subgoals that may be facts

    def has(self, step: PlanStep) -> bool:
        return any(step.skill == name and dict(step.params) == values for name, values in self.steps)


def proposal_of(text: str, kinds: Sequence[Kind]) -> Proposal:
    """Reads a plan in any of the forms. Actions that are no skill's are left out."""
    found = Proposal([], [])
    for part in _leaves(read_plan(text, [kind.name for kind in kinds])):
        if isinstance(part, PlannedGoal):
            found.named.append(part.text)
        if isinstance(part, PlannedGoal | PlannedAct):
            said = part.text if isinstance(part, PlannedGoal) else part.sentence
            found.steps.extend(_by_sentence(said, kinds))
        elif isinstance(part, Do):
            found.steps.extend(_by_fields(part, kinds))
    return found


def _leaves(part: Part) -> Iterator[Part]:
    if isinstance(part, Group):
        for inner in part.parts:
            yield from _leaves(inner)
    else:
        yield part


def _by_sentence(said: str, kinds: Sequence[Kind]) -> Iterator[tuple[str, dict[str, Any]]]:
    for kind in kinds:
        entry = kind.data["entry"]
        params = Sentence(entry.sentence, entry.types).parse(said.removeprefix(f"{kind.name}: "))
        if params is not None:
            yield kind.name, params
            return


def _by_fields(part: Do, kinds: Sequence[Kind]) -> Iterator[tuple[str, dict[str, Any]]]:
    for kind in kinds:
        if kind.name == part.skill:
            yield kind.name, {name or str(kind.bare): value for name, value in part.fields}


class Preferred:
    """A source of steps in which those of a proposal cost less."""

    def __init__(self, source: StepSource, proposal: Proposal) -> None:
        self.source, self.proposal = source, proposal

    @property
    def types(self) -> Mapping[str, str]:
        return self.source.types

    @property
    def needs(self) -> tuple[str, ...]:
        return self.source.needs

    @property
    def brings(self) -> tuple[str, ...]:
        return self.source.brings

    def bringing(self, fact: str, values: Values) -> Iterator[PlanStep]:
        for step in self.source.bringing(fact, values):
            yield step._replace(cost=step.cost * FAVOUR) if self.proposal.has(step) else step

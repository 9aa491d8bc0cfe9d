"""Skills as operators: a fact that is wanted gives the values of a skill's slots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from types import MappingProxyType
from typing import NamedTuple, Protocol

from bt_runtime.agents.backchain.step import PlanStep, settled
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.sentence import Sentence
from bt_runtime.types import Json

Values = Mapping[str, Sequence[Json]]  # slot → what may fill it


class StepSource(Protocol):
    """Where a planner's steps come from."""

    @property
    def types(self) -> Mapping[str, str]: ...
    @property
    def needs(self) -> tuple[str, ...]: ...
    @property
    def brings(self) -> tuple[str, ...]: ...
    def bringing(self, fact: str, values: Values) -> Iterator[PlanStep]:
        """Every way to bring a fact by this skill."""


class Operator(NamedTuple):
    """What a manifest says of a skill that matters for planning."""

    skill: str
    types: Mapping[str, str]
    needs: tuple[str, ...] = ()
    brings: tuple[str, ...] = ()
    cost: float = 1.0
    choices: Values = MappingProxyType({})
    required: tuple[str, ...] = ()
    fields: tuple[str, ...] | None = None  # the slots that are fields of its node; None: all
    times: int = 1

    def bringing(self, fact: str, values: Values) -> Iterator[PlanStep]:
        """Every way to bring a fact by this skill."""
        for each in self.brings:
            params = Sentence(each, self.types).parse(fact)
            if params is not None and self.allowed(params):
                yield from self.filled(params, values)

    def every(self, values: Values) -> Iterator[PlanStep]:
        """Every way to do it with these values."""
        return self.filled({}, values)

    def filled(self, params: Mapping[str, Json], values: Values) -> Iterator[PlanStep]:
        slots = dict.fromkeys(s for each in (*self.needs, *self.brings) for s in Sentence(each).slots)
        open_slots = [s for s in dict.fromkeys((*slots, *self.required)) if s not in params]
        pools = [self.choices.get(slot) or values.get(slot, ()) for slot in open_slots]
        for chosen in product(*pools):
            yield self.step({**params, **dict(zip(open_slots, chosen, strict=True))})

    def step(self, params: Mapping[str, Json]) -> PlanStep:
        own = self.types if self.fields is None else self.fields
        return PlanStep(
            self.skill,
            tuple((name, params[name]) for name in own if name in params),
            tuple(dict.fromkeys(Sentence(each).say(params) for each in self.needs)),
            settled(Sentence(each).say(params) for each in self.brings),
            self.cost,
            self.times,
        )

    def allowed(self, params: Mapping[str, Json]) -> bool:
        return all(slot not in self.choices or value in self.choices[slot] for slot, value in params.items())


def operators(kinds: Iterable[Kind]) -> list[Operator]:
    """The skills that bring something."""
    entries = [(kind, kind.data.get("entry")) for kind in kinds]
    return [operator_of(kind) for kind, entry in entries if entry is not None and not entry.test and entry.brings]


def operator_of(kind: Kind) -> Operator:
    """A skill's operator; without `takes` it counts as one second."""
    entry = kind.data["entry"]
    fields = {f.name: f for f in kind.fields if not f.writes}
    types = {name: field.type for name, field in fields.items()}
    choices = {name: tuple(field.choices) for name, field in fields.items() if field.choices}
    required = tuple(name for name, field in fields.items() if field.required)
    cost = 1.0 if entry.takes is None else float(entry.takes)
    return Operator(kind.name, types, entry.needs, entry.brings, cost, choices, required)


def mentioned(every: Iterable[StepSource], facts: Iterable[str]) -> dict[str, list[Json]]:
    """The values that facts name: what stands in the slot `place` of one sentence may fill each slot `place`."""
    found: dict[str, dict[Json, None]] = {}
    said = list(facts)
    for operator in every:
        for template in (*operator.needs, *operator.brings):
            sentence = Sentence(template, operator.types)
            for fact in said:
                for slot, value in (sentence.parse(fact) or {}).items():
                    found.setdefault(slot, {})[value] = None
    return {slot: list(values) for slot, values in found.items()}


def bringable(every: Iterable[StepSource], fact: str) -> bool:
    """True when some skill says that it brings the fact, whatever else that needs."""
    for source in every:
        said = any(Sentence(template, source.types).parse(fact) is not None for template in source.brings)
        if said or (not source.brings and any(fact in step.brings for step in source.bringing(fact, {}))):
            return True
    return False

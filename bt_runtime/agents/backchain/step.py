"""An action with all its values: what it needs, brings and costs. Facts are sentences; `not F` denies F."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from bt_runtime.language.sentence import Sentence
from bt_runtime.types import Json

NOT = "not "


class PlanStep(NamedTuple):
    """One action of a plan."""

    skill: str
    params: tuple[tuple[str, Json], ...]  # the fields of its node
    needs: tuple[str, ...] = ()
    brings: tuple[str, ...] = ()
    cost: float = 1.0  # cost of all repetitions together
    times: int = 1  # how often it is done in a row

    def __str__(self) -> str:
        said = ", ".join(str(value) for _, value in self.params)
        return f"{self.skill}: {said}" if said else self.skill


def opposite(fact: str) -> str:
    return fact.removeprefix(NOT) if fact.startswith(NOT) else NOT + fact


def effects_of(brings: Iterable[str], params: Mapping[str, Json]) -> Iterator[tuple[str, bool]]:
    """Yields each fact that an action with these values brings, and that its opposite does not hold."""
    for sentence in map(Sentence, brings):
        if params.keys() >= {*sentence.slots}:
            fact = sentence.say(params)
            yield from ((fact, True), (opposite(fact), False))


def settled(brings: Iterable[str]) -> tuple[str, ...]:
    """The effects without contradiction: a fact that is brought and denied by the same action is brought."""
    found = dict.fromkeys(brings)
    return tuple(fact for fact in found if not (fact.startswith(NOT) and opposite(fact) in found))


def holds(fact: str, state: frozenset[str]) -> bool:
    """True when the fact holds where exactly the facts of `state` are true."""
    return opposite(fact) not in state if fact.startswith(NOT) else fact in state


def after(step: PlanStep, state: frozenset[str]) -> frozenset[str]:
    """The state after the action."""
    removed = {opposite(fact) for fact in step.brings if fact.startswith(NOT)}
    return (state - removed) | {fact for fact in step.brings if not fact.startswith(NOT)}

"""What skills have brought in a run by their own words, and told by outputs, for facts that nothing else can tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from bt_runtime.agents.backchain.step import NOT, PlanStep, effects_of
from bt_runtime.agents.facts import ABSENT, by_entry
from bt_runtime.events import SkillEnded
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.sentence import Sentence
from bt_runtime.skills.answer import EndedAnswer
from bt_runtime.skills.words import outputs
from bt_runtime.tree.context import Context
from bt_runtime.tree.node import SUCCESS
from bt_runtime.types import Json


class Brought:
    """The facts that skills have brought or denied since the run began, and the latest output of each name."""

    STATE = ("facts", "latest")

    def __init__(self, context: Context) -> None:
        self.facts: dict[str, bool] = {}
        self.latest: dict[str, Json] = {}
        self.kinds: dict[str, Kind] = {}
        self.answers: dict[tuple[str, tuple[tuple[str, Json], ...]], dict[str, Json]] = {}  # outputs, by what was done
        context.stream.listen(self.hear, SkillEnded)

    def know(self, kinds: Sequence[Kind]) -> None:
        self.kinds.update((kind.name, kind) for kind in kinds)

    def holds(self, fact: str) -> bool | None:
        """Whether a fact holds by what was brought, else by the latest outputs; None where neither says so."""
        return held(fact, self.facts, self.latest)

    def told(self, fact: str, step: PlanStep) -> bool | None:
        """Whether a fact holds by what this action has told; None before it was done."""
        answer = self.answers.get((step.skill, step.params))
        return None if answer is None else bool(by_entry(fact, lambda name: answer.get(name, ABSENT)))

    def hear(self, event: Any) -> None:
        if event.status is not SUCCESS:
            return
        for kind in self.kinds.values():
            entry = kind.data["entry"]
            params = Sentence(entry.sentence, entry.types).parse(event.sentence)
            if params is None:
                continue
            if told := outputs(kind, EndedAnswer(event.status, event.value)):
                self.answers[kind.name, tuple(params.items())] = told
                self.latest.update(told)
            self.facts.update(effects_of(entry.brings, params))


def held(fact: str, facts: Mapping[str, bool], latest: Mapping[str, Json]) -> bool | None:
    """Whether a fact holds by what skills have brought, else by the latest outputs; None where neither says so."""
    known = facts.get(fact)
    if known is not None:
        return known
    known = by_entry(fact.removeprefix(NOT), lambda name: latest.get(name, ABSENT))
    return None if known is None else known != fact.startswith(NOT)


_BROUGHT: WeakKeyDictionary[Context, Brought] = WeakKeyDictionary()


def brought_in(context: Context) -> Brought:
    """The one of the run; it listens from the first time on."""
    whole = context.whole
    return _BROUGHT.get(whole) or _BROUGHT.setdefault(whole, Brought(whole))

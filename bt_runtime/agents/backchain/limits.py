"""How many facts of a form hold at once: one is near one place, and two hands hold two things."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from bt_runtime.agents.backchain.step import NOT, PlanStep, after, holds
from bt_runtime.language.sentence import Sentence

AtOnce = Sequence[tuple[int, Sequence[str]]]


class FactLimits:
    """`at_once`: numbers, each with the forms whose facts it counts together."""

    def __init__(self, at_once: AtOnce = ()) -> None:
        self.most = [int(most) for most, _ in at_once]
        self.forms = [[Sentence(form) for form in forms] for _, forms in at_once]
        self.known: dict[str, tuple[int, ...]] = {}

    def groups(self, fact: str) -> tuple[int, ...]:
        """The numbers that count this fact; none counts a denied one."""
        if fact not in self.known:
            self.known[fact] = tuple(
                at for at, forms in enumerate(self.forms)
                if not fact.startswith(NOT) and any(form.parse(fact) is not None for form in forms)
            )  # fmt: skip
        return self.known[fact]

    def exceeded(self, facts: Iterable[str]) -> bool:
        """True when these facts cannot hold at once."""
        if not self.most:
            return False
        counted = Counter(at for fact in facts for at in self.groups(fact))
        return any(count > self.most[at] for at, count in counted.items())

    def after(self, step: PlanStep, state: frozenset[str]) -> frozenset[str]:
        """The state after the action. Where it brings one fact too many, what the action needed gives way, and where
        that is not enough, each other fact of the form."""
        state = after(step, state)
        for at in dict.fromkeys(at for fact in step.brings for at in self.groups(fact)):
            counted = {fact for fact in state if at in self.groups(fact)}
            for leaving in ({*step.needs}, counted):
                if len(counted & state) > self.most[at]:
                    state -= (counted & leaving) - {*step.brings}
        return state

    def played(self, steps: Iterable[PlanStep], state: frozenset[str]) -> frozenset[str] | None:
        """The state after all steps; None when one of them lacks what it needs."""
        for step in steps:
            if not all(holds(fact, state) for fact in step.needs):
                return None
            state = self.after(step, state)
        return state


NONE = FactLimits()

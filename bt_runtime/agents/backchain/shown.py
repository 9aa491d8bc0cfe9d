"""Worked examples out of the manifests themselves: goals in words, the action that is meant by each, and the acts that
a planner finds for it."""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from py_trees.common import Status

from bt_runtime.agents.backchain.ground import GroundFact, ground
from bt_runtime.agents.backchain.meaning import values_of
from bt_runtime.agents.backchain.operator import Operator, operators
from bt_runtime.agents.backchain.relevant import Bound, NoPlan, Relevant, SearchTooLarge
from bt_runtime.agents.backchain.search import steps_to
from bt_runtime.agents.backchain.step import NOT
from bt_runtime.agents.backchain.step import PlanStep as Planned
from bt_runtime.agents.backchain.wording import STEM, meant
from bt_runtime.agents.story import ACT, EXPAND, StoryStep, opening, written
from bt_runtime.agents.surroundings import DONE
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.sentence import Sentence
from bt_runtime.llm.decoding.plan_grammar import bare
from bt_runtime.skills.answer import EndedAnswer
from bt_runtime.skills.words import words
from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_runtime.agents.actions import Actions

WORDED = ("{act}.", "please {act}.", "I want that {said}.", "{said}, please.")
BOUND = Bound(steps=1_000, sets=1_000)  # bound of one example's plan, made within a tick
SEEN = 2_000  # facts that are looked at
TRIED = 24  # goals that are planned for, at most
LONGEST = 8  # acts of one example
KEPT = 64  # sets of examples that are kept


class Worked(NamedTuple):
    """A goal in words and as a fact, the skills of its first and its last act, and the acts that lead there, with what
    each answers."""

    goal: str
    wanted: str
    first: str
    last: str
    acts: tuple[tuple[str, str], ...]

    def story(self) -> str:
        """As an agent does it, in the form of a stored experience."""
        steps = [StoryStep("act", said, heard) for said, heard in self.acts]
        return f"{opening(self.goal, '')}{written(steps)}{ACT} {DONE}"

    def expansion(self) -> str:
        """Returns a plan of the acts, after a thought that names the wanted fact."""
        parts = "\n".join(f"- {bare(said)}" for said, _ in self.acts)
        thought = StoryStep("think", f"The goal is that {self.wanted}.")
        return f"{opening(self.goal, '')}{written([thought])}{EXPAND}\nsequence:\n{parts}"


# A made-up trade: an agent takes the acts of an example for those to do, where they are its own.
OF_ANOTHER = tuple(
    Worked(goal, wanted, acts[0].split()[0], acts[-1].split()[0], tuple((act, "Done.") for act in acts))
    for goal, wanted, *acts in (
        ("Please rinse north vat.", "north vat is rinsed", "rinse north vat"),
        ("Salt tub of left press is empty, please.", "salt tub of left press is empty", "empty salt tub of left press"),
        ("Store goat cheese in stone cellar", "goat cheese is in stone cellar",
         "press goat cheese", "salt goat cheese", "store goat cheese in stone cellar"),
    )
)  # fmt: skip


def example_goals(facts: Sequence[GroundFact], goal: str, count: int, seed: int) -> list[tuple[str, str]]:
    """So many goals, each with its action, the same for each seed. What the goal names word by word is left out, so
    that none of them is the goal asked for."""
    left = [fact for fact in _shuffled(facts, seed) if not _asked(fact, goal)]
    return [(_worded(fact, i), fact.act) for i, fact in enumerate(left[:count])]


def worked(actions: Actions, goal: str, count: int, seed: int) -> list[Worked]:
    """At most so many examples of these actions, the same for each seed. No goal is the one asked for, and where there
    are other things than it names, the examples are of those."""
    kinds = actions.offered(actions.kinds)
    facts = _shuffled(ground(actions, kinds, aims=False), seed)[:SEEN]
    known = hashlib.sha256(repr((facts, [kind.data["entry"] for kind in kinds], goal, count, seed)).encode()).digest()
    if known not in _KEPT:
        if len(_KEPT) >= KEPT:
            _KEPT.clear()
        _KEPT[known] = _made(facts, kinds, goal, count)
    return _KEPT[known]


_KEPT: dict[bytes, list[Worked]] = {}  # examples by the digest of skills and goal


def _made(facts: Sequence[GroundFact], kinds: Sequence[Kind], goal: str, count: int) -> list[Worked]:
    """Those that share the most words with the goal, besides the things named; as long as there are others no skill
    ends two of them, and none begins two. The nearest stands last, where a small model heeds it most."""
    names = {kind.name: kind for kind in kinds}
    found = list(_planned(_others(facts, goal), names, values_of(facts)))
    chosen: list[Worked] = []
    while found and len(chosen) < count:
        first, last = [each.first for each in chosen], [each.last for each in chosen]
        best = min(found, key=lambda each: (last.count(each.last), first.count(each.first)))
        found.remove(best)
        chosen.append(best)
    return chosen[::-1]


def _planned(
    facts: Sequence[GroundFact], kinds: Mapping[str, Kind], values: Mapping[str, list[Json]]
) -> Iterator[Worked]:
    """Examples whose goals differ, each with the steps from where holds what no skill brings."""
    every = operators(kinds.values())
    for number, fact in enumerate(facts[:TRIED]):
        try:
            steps = _steps(fact.said, every, values)
        except (NoPlan, SearchTooLarge):
            continue
        acts = tuple(_act(kinds[step.skill], step) for step in steps)
        if 0 < len(acts) <= LONGEST:
            yield Worked(_worded(fact, number), fact.said, steps[0].skill, steps[-1].skill, acts)


def _steps(fact: str, every: Sequence[Operator], values: Mapping[str, list[Json]]) -> list[Planned]:
    relevant = Relevant([fact], every, values, BOUND.steps)
    given = frozenset(each for each, steps in relevant.bringing.items() if not steps and not each.startswith(NOT))
    return steps_to([fact], relevant, given - {fact}, BOUND).steps


def _act(kind: Kind, step: Planned) -> tuple[str, str]:
    params = dict(step.params)
    return Sentence(kind.data["entry"].sentence).say(params), words(kind, params, EndedAnswer(Status.SUCCESS)).text


def _others(facts: Sequence[GroundFact], goal: str) -> list[GroundFact]:
    """Facts of other things than the goal names; of the same things where there are no others."""
    named = {slot: meant(goal, values) for slot, values in values_of(facts).items()}
    left = [*{fact.said: fact for fact in facts if not _asked(fact, goal)}.values()]
    left = [fact for fact in left if not any(value in named[slot] for slot, value in fact.values)] or left
    asked = _stems(goal)
    return sorted(left, key=lambda fact: -len(asked & _own(fact)))


def _own(fact: GroundFact) -> set[str]:
    """The stems of the words by which a fact and its act are said, without those of the things."""
    return _stems(f"{fact.act} {fact.said}") - {stem for _, value in fact.values for stem in _stems(str(value))}


def _stems(text: str) -> set[str]:
    return {word[:STEM] for word in re.findall(r"\w+", text.lower()) if len(word) >= STEM}


def _asked(fact: GroundFact, goal: str) -> bool:
    return fact.said.lower() in goal.lower() or fact.act.lower() in goal.lower()


def _shuffled(facts: Sequence[GroundFact], seed: int) -> list[GroundFact]:
    left = [*facts]
    random.Random(seed).shuffle(left)
    return left


def _worded(fact: GroundFact, number: int) -> str:
    text = WORDED[number % len(WORDED)].format(act=fact.act, said=fact.said)
    return f"{text[0].upper()}{text[1:]}"

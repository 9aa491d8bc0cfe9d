"""The facts that skills can bring, with every slot filled: what may be wanted of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import TYPE_CHECKING, NamedTuple

from bt_runtime.agents.backchain.offered import OF_WORLD, values_in
from bt_runtime.agents.backchain.step import NOT
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.sentence import Sentence
from bt_runtime.skills.worlds.ways import Aim, Aiming
from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_runtime.agents.actions import Actions

MOST_OF_ONE = 10_000  # facts of one template
MOST_OFFERED = 200  # facts that a model chooses among; of more, those that share the most words with the goal
_WORD = re.compile(r"\w+")


class GroundFact(NamedTuple):
    """A fact, and the sentence of an action that brings it."""

    said: str
    act: str
    template: str
    values: tuple[tuple[str, Json], ...] = ()  # (slot, value) of the action
    skill: str = ""


def ground(actions: Actions, kinds: Iterable[Kind], aims: bool = True) -> list[GroundFact]:
    """Every fact that one of the skills can bring, once for each action, and those that the world names (without
    `aims`: by the manifests alone); denials are left out. A template of which a slot has no known values has no
    facts."""
    world, acting = actions.context.services.world, [kind for kind in kinds if not kind.data["entry"].test]
    own: list[Aim] = [Aim(*aim) for aim in world.aims()] if aims and isinstance(world, Aiming) else []
    found = [fact for aim in own for fact in filled(OF_WORLD, aim.asked, aim.fact, aim.slots)]
    named = values_in(world, acting)
    for kind in (k for k in acting if not own or k.data["entry"].impl.partition("/")[0] != OF_WORLD):
        pools = fillers(actions, kind, named)
        for template in kind.data["entry"].brings:
            if not template.startswith(NOT):
                found += filled(kind.name, kind.data["entry"].sentence, template, pools)
    return [*{(fact.said, fact.act): fact for fact in found}.values()]


def fillers(actions: Actions, kind: Kind, named: Mapping[str, Sequence[Json]]) -> dict[str, Sequence[Json]]:
    """What may fill each slot: what the skill's parameter allows, else what the world names."""
    phrase = actions.phrase(kind)
    slots = phrase.slots if phrase is not None else {}
    own = {name: slot.fillers for name, slot in slots.items() if slot.fillers is not None}
    return {**named, **own}


def filled(skill: str, asked: str, template: str, pools: Mapping[str, Sequence[Json]]) -> Iterator[GroundFact]:
    sentence, act = Sentence(template), Sentence(asked)
    slots = [*dict.fromkeys((*sentence.slots, *act.slots))]
    if not {*sentence.slots} <= {*act.slots} or not all(pools.get(slot) for slot in slots):
        return
    for values in islice(product(*(pools[slot] for slot in slots)), MOST_OF_ONE):
        params = dict(zip(slots, values, strict=True))
        yield GroundFact(sentence.say(params), act.say(params), template, tuple(params.items()), skill)


def relevant(facts: Sequence[GroundFact], goal: str, most: int = MOST_OFFERED) -> list[GroundFact]:
    """At most so many facts, in their order: those that share the most words with the goal."""
    if len(facts) <= most:
        return [*facts]
    words = {*_WORD.findall(goal.lower())}
    shared = [len(words & {*_WORD.findall(fact.said.lower())}) for fact in facts]
    kept = sorted(range(len(facts)), key=lambda i: (-shared[i], i))[:most]
    return [facts[i] for i in sorted(kept)]

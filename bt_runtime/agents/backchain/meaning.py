"""Which facts a part of a goal may mean, by the things that it names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bt_runtime.agents.backchain.ground import GroundFact
from bt_runtime.agents.backchain.wording import GoalPart, meant, named, named_by_half, noun, nouns, own_words
from bt_runtime.types import Json

Pools = Mapping[str, Sequence[Json]]


def values_of(facts: Sequence[GroundFact]) -> dict[str, list[Json]]:
    """All values of each slot."""
    found: dict[str, dict[Json, None]] = {}
    for fact in facts:
        for slot, value in fact.values:
            found.setdefault(slot, {})[value] = None
    return {slot: [*values] for slot, values in found.items()}


def names(part: GoalPart, facts: Sequence[GroundFact]) -> bool:
    """True when the part names a thing, by itself or as one of several, or refers to one."""
    pools = values_of(facts)
    in_full = any(meant(part.text, values) or general(part, slot, values) for slot, values in pools.items())
    return part.refers or in_full or any(_by_half(part, pools, facts).values())


def fitting(part: GoalPart, facts: Sequence[GroundFact], last: Sequence[GroundFact] = ()) -> list[GroundFact]:
    """The facts of the things that the part names, most of them together; a slot of which it names nothing takes what
    the other parts name: `it` is what was spoken of, the very thing where the part before it (`last`) has the slot."""
    pools = values_of(facts)
    here = {slot: meant(part.text, values) for slot, values in pools.items()}
    half = _by_half(part, pools, facts)
    there = {slot: meant(part.others, values) for slot, values in pools.items() if not general(part, slot, values)}
    before = values_of(last) if part.refers else {}
    allowed = {slot: here[slot] or half.get(slot) or before.get(slot) or there.get(slot, []) for slot in pools}
    kept = [f for f in facts if all(not allowed[slot] or value in allowed[slot] for slot, value in f.values)]
    named_in = [2 * _of_these(fact, here) + _of_these(fact, half) for fact in kept]
    most = max(named_in, default=0)
    return [fact for fact, count in zip(kept, named_in, strict=True) if count == most] or [*facts]


def _by_half(part: GoalPart, pools: Pools, facts: Sequence[GroundFact]) -> dict[str, list[Json]]:
    """The values of each slot of which the part names none in full, but one by half, and does not speak of several. A
    word of an action is no sign: `press it` says nothing of the steam press."""
    here = {slot: meant(part.text, values) for slot, values in pools.items()}
    told = [*(value for values in here.values() for value in values), *{word for fact in facts for word in own(fact)}]
    return {
        slot: named_by_half(part.text, values, told)
        for slot, values in pools.items()
        if not here[slot] and not general(part, slot, values)
    }


def in_own_words(part: GoalPart, facts: Sequence[GroundFact]) -> list[GroundFact]:
    """Those whose action the part gives as an order in the action's own words, else those whose verb it says, where
    that is one action alone; else all of them."""
    words = [part.says(fact.act, (value for _, value in fact.values)) for fact in facts]
    most = max(words, default=0)
    told = [value for values in values_of(facts).values() for value in values]
    ordered = [fact for fact, count in zip(facts, words, strict=True) if count == most > 0]
    spoken = [fact for fact in facts if part.says_verb(fact.act, told)]
    alone = (said for said in (ordered, spoken) if len({(fact.skill, fact.template) for fact in said}) == 1)
    return next(alone, [*facts])


def again(last: Sequence[GroundFact], part: GoalPart, facts: Sequence[GroundFact]) -> list[GroundFact]:
    """Returns the facts before with another thing in them, where the part only names a thing: `and the fern`."""
    pools = values_of(last)
    every = values_of(facts)
    here = {slot: meant(part.text, every[slot]) for slot in pools}
    if not any(here.values()) or not part.only_names(v for values in here.values() for v in values):
        return []
    wanted = {(f.skill, f.template, tuple((s, (here[s] or [v])[0]) for s, v in f.values)) for f in last}
    return [fact for fact in facts if (fact.skill, fact.template, fact.values) in wanted]


def all_of(
    one: Sequence[GroundFact], part: GoalPart, facts: Sequence[GroundFact], last: Sequence[GroundFact] = ()
) -> list[GroundFact]:
    """The facts themselves; where the part asks for every thing, or for several, those of all of them but the ones
    that it leaves out. `them` are the things of the part before it (`last`)."""
    pools = values_of(facts)
    if part.refers_to_several and last:
        before = {slot: values for slot, values in values_of(last).items() if not meant(part.text, pools.get(slot, []))}
        several = {slot: values for slot, values in before.items() if len(values) > 1}
        return [each for fact in one for each in _all(fact, several, part, facts)]
    return [each for fact in one for each in _all(fact, _open(fact, part, pools), part, facts)]


def _all(
    fact: GroundFact, open: Mapping[str, Sequence[Json]], part: GoalPart, facts: Sequence[GroundFact]
) -> list[GroundFact]:
    if not open:
        return [fact]
    kept = {slot: [v for v in values if not named(part.left_out, [v])] for slot, values in open.items()}
    wanted = {slot: values[: part.many] for slot, values in kept.items()}
    same = [f for f in facts if (f.skill, f.template) == (fact.skill, fact.template)]
    return [f for f in same if all(v in wanted.get(slot, [own]) for (slot, v), (_, own) in _pairs(f, fact))]


def _pairs(one: GroundFact, other: GroundFact) -> Iterable[tuple[tuple[str, Json], tuple[str, Json]]]:
    return zip(one.values, other.values, strict=True)


def _open(fact: GroundFact, part: GoalPart, pools: Pools) -> dict[str, Sequence[Json]]:
    """The slots of a fact that the part speaks of in general, with the values that it means."""
    free = [slot for slot, _ in fact.values if not named(part.text, pools[slot])]
    several = {slot: values for slot in free if (values := general(part, slot, pools[slot]))}
    spoken = [slot for slot in several if any(noun.lower() in part.text.lower() for noun in nouns(slot, pools[slot]))]
    return {slot: several[slot] for slot in spoken or [*several][:1]}


def general(part: GoalPart, slot: str, values: Sequence[Json]) -> list[Json]:
    """The values that a part means when it says `all`, or the plural of the slot's name or of a value's last word."""
    if part.plural(slot):
        return [*values]
    several = [value for value in values if part.plural(noun(value))]
    of_kind = [value for value in several if value in meant(part.text, values)] or several  # no water glass
    if of_kind or not part.every:
        return of_kind
    return [value for value in values if noun(value).lower() in part.text.lower()] or [*values]


def own(fact: GroundFact) -> set[str]:
    """The words of a fact's action without those of its values."""
    return own_words(fact.act, [value for _, value in fact.values])


def _of_these(fact: GroundFact, here: Mapping[str, Sequence[Json]]) -> int:
    return sum(value in here.get(slot, ()) for slot, value in fact.values)

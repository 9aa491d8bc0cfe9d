"""How benches are made up: things, places, and a goal that asks for them in other words (`bench_skills.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from recipes.starter import data
from recipes.starter.own_skills.skills import Asked, Bench, Ways, Words, add_skills, make_others, named, plural_of

_SHAPES = (
    ("one", 5), ("pair", 4), ("triple", 2), ("two", 2), ("rest", 5), ("rest_two", 2), ("all", 4), ("but", 2),
    ("away", 1), ("away_all", 1), ("kinds", 3), ("kind", 3), ("kind_rest", 2), ("see", 1), ("other", 7),
)  # fmt: skip
_NAMED = ("one", "pair", "triple", "two")  # what is wanted is said thing by thing
_GRIDS, _AWAY = ("kinds", "kind", "kind_rest"), ("away", "away_all")
_NEEDS = {"pair": 2, "triple": 3, "two": 2, "rest": 2, "rest_two": 3, "but": 2}  # things at least
_FAILS, _NOT_HERE, _AFTER, _BEFORE = 0.06, 0.06, 0.12, 0.06
_BLIND = 0.2  # nothing there that looks


def make_bench(rng: Random, held: bool = False) -> Bench:
    """`held`: in words that no lesson has."""
    words: dict[str, Any] = data.read("own_skills/bench_words")
    if held:
        words = {**words, **words["held"], "slots": {**words["slots"], **words["held"]["slots"]}}
    shape = rng.choices([name for name, _ in _SHAPES], [often for _, often in _SHAPES])[0]
    things, plural, kinds = _things(words, rng, shape)
    count = 1 if shape in _AWAY else rng.randint(2, 4 if shape == "triple" else 3)
    places = [named(place, rng, 0.1, words) for place in rng.sample(words["places"], max(count, _least(shape)))]
    bench = Bench(Asked("", {}), things, Ways("", "", ""), slips=_slips(things, rng))
    others = make_others(words, rng, bench)
    where = rng.choice(words["where"])
    bench.ways = add_skills(words, rng, bench, places, where, shape in _NAMED and rng.random() < _BLIND)
    bench.asked = _asked(words, rng, bench, shape, places, plural, kinds, others, where)
    if not bench.ways.look:
        goal = bench.asked.goal.lower()
        bench.things = sorted(bench.asked.wanted, key=lambda thing: goal.index(thing.lower()))
    bench.skills += [made for made, _, _ in others]
    rng.shuffle(bench.skills)
    return bench


def _least(shape: str) -> int:
    return 3 if shape == "triple" else 1 if shape in _AWAY else 2


def _slips(things: Sequence[str], rng: Random) -> frozenset[str]:
    return frozenset(thing for thing in things if rng.random() < _FAILS)


# What there is -------------------------------------------------------------------------------------------


def _things(words: Words, rng: Random, shape: str) -> tuple[list[str], tuple[str, str], dict[str, list[str]]]:
    """Things, what one and all of them are called, and the kinds that they are of."""
    count, form = rng.randint(_NEEDS.get(shape, 1), 5), rng.random()
    nouns = [named(noun, rng, 0.2, words) for noun in rng.sample(words["nouns"], 5)]
    colours = rng.sample(words["colours"], 5)
    if shape in _GRIDS:
        return _grid(rng, nouns[: rng.randint(2, 3)], colours[: rng.randint(2, 3)])
    if form < 0.62:
        return [f"{colour} {nouns[0]}" for colour in colours[:count]], (nouns[0], plural_of(nouns[0])), {}
    if form < 0.84:
        some = [noun if rng.random() < 0.6 else f"{rng.choice(colours)} {noun}" for noun in nouns[:count]]
        return some, ("one of them", "things"), {}
    marks = rng.sample("ABCDEF" if rng.random() < 0.4 else "12345678", count)
    joint = rng.choice((" ", " ", "_", "-"))
    return [f"{nouns[0]}{joint}{mark}" for mark in marks], (nouns[0], plural_of(nouns[0])), {}


def _grid(rng: Random, nouns: list[str], colours: list[str]) -> tuple[list[str], tuple[str, str], dict[str, list[str]]]:
    """Things of two kinds at least, by what they are or by their colours."""
    first, second = (nouns[:2], colours) if rng.random() < 0.5 else (colours[:2], nouns)
    noun_first = first == nouns[:2]
    pairs = [(one, two) for one in first for two in second]
    chosen = rng.sample(pairs, rng.randint(2, min(5, len(pairs))))
    for one in first:
        if not any(one == pair[0] for pair in chosen):
            chosen[rng.randrange(len(chosen))] = (one, rng.choice(second))
    if not all(any(one == pair[0] for pair in chosen) for one in first):
        chosen = [(one, second[0]) for one in first]
    chosen = list(dict.fromkeys(chosen))
    names = {pair: f"{pair[1]} {pair[0]}" if noun_first else f"{pair[0]} {pair[1]}" for pair in chosen}
    called = plural_of if noun_first else lambda colour: f"{colour} {rng.choice(('ones', 'things', 'ones'))}"
    kinds = {called(one): [names[pair] for pair in chosen if pair[0] == one] for one in first}
    return list(names.values()), ("one of them", "things"), kinds


# What is wanted ------------------------------------------------------------------------------------------


def _asked(
    words: Words,
    rng: Random,
    bench: Bench,
    shape: str,
    places: list[str],
    plural: tuple[str, str],
    kinds: dict[str, list[str]],
    others: Sequence[tuple[Any, str, list[str]]],
    where: str,
) -> Asked:
    _, said, ways = rng.choice(others)
    other = rng.choice([*ways, said]), said
    if shape == "other":
        return Asked(_polished(other[0], words, rng), {}, first=said)
    chosen = rng.sample(list(bench.things), min(3, len(bench.things)))
    missing = ""
    if shape == "one" and bench.ways.look and len(bench.things) > 1 and rng.random() < _NOT_HERE:
        missing = chosen[0]
        bench.things = [thing for thing in bench.things if thing != missing]
    names = [*chosen, "", ""]
    spots = [*rng.sample(places, len(places)), "", ""]
    groups = rng.sample(list(kinds), 2) if kinds else ["", ""]
    template = str(rng.choice(words[shape]))
    goal = template.format(
        a=names[0], b=names[1], c=names[2], s=spots[0], t=spots[1], u=spots[2], k=groups[0], l=groups[1],
        n=plural[1], one=plural[0], where=where, **{"in": rng.choice(words["in"])},
    )  # fmt: skip
    if shape == "see":
        return Asked(_polished(goal, words, rng), {}, first=bench.ways.look)
    wanted = _belongs(shape, template, bench.things, names, spots, [kinds.get(group, []) for group in groups])
    goal = _polished(goal, words, rng)
    if missing:
        return Asked(goal, {}, missing)
    form = rng.random()
    if form < _AFTER:
        return Asked(_joined(words["last"], goal, other[0], rng), wanted, last=said)
    if form < _AFTER + _BEFORE:
        return Asked(_joined(words["first"], goal, other[0], rng), wanted, first=said)
    return Asked(goal, wanted)


def _belongs(
    shape: str, template: str, things: Sequence[str], names: list[str], spots: list[str], kinds: list[list[str]]
) -> dict[str, str]:
    a, b, c, s, t, u = *names[:3], *spots[:3]
    if shape == "triple":
        return {a: s, b: t if "{u}" in template else s, c: u if "{u}" in template else t}
    return {
        "one": {a: s},
        "away": {a: s},
        "two": {a: s, b: s},
        "pair": {a: s, b: t},
        "rest": {thing: s if thing == a else t for thing in things},
        "rest_two": {thing: s if thing in (a, b) else t for thing in things},
        "all": dict.fromkeys(things, s),
        "away_all": dict.fromkeys(things, s),
        "but": {thing: s for thing in things if thing != a},
        "kind": dict.fromkeys(kinds[0], s),
        "kinds": {**dict.fromkeys(kinds[0], s), **dict.fromkeys(kinds[1], t)},
        "kind_rest": {thing: s if thing in kinds[0] else t for thing in things},
    }[shape]


def _polished(goal: str, words: Words, rng: Random) -> str:
    """With a word before it, and how it ends."""
    if goal.partition(" ")[0] in words["imperative"] and rng.random() < 0.25:
        goal = f"{rng.choice(words['heads'])}{goal}"
    goal += "" if goal.endswith("?") else rng.choice(words["ends"])
    return goal[:1].upper() + goal[1:] if rng.random() < 0.35 else goal


def _joined(forms: Sequence[str], goal: str, other: str, rng: Random) -> str:
    said: str = rng.choice(forms)
    if not said.startswith("{goal}"):
        goal = goal[:1].lower() + goal[1:]
    return said.format(goal=goal.rstrip(".!"), x=other)

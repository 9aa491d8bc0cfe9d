"""How benches are made up: things, places, skills with slots, and a goal that asks for them in other words.

Skills are written as users write theirs: a look tells what lies there, one skill takes and one puts, or one does both;
places are told by the look, are said in the goal alone, or have a skill each. Others lead astray, or are wanted too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any, ClassVar, Literal, NamedTuple

from bt_runtime import Status
from bt_runtime.skills.skill import Skill, skill
from bt_runtime.types import Observation, Task, Verdict
from recipes.starter import data

Words = Mapping[str, Any]
_SHAPES = (
    ("one", 5), ("pair", 4), ("triple", 2), ("two", 2), ("rest", 5), ("rest_two", 2), ("all", 4), ("but", 2),
    ("away", 1), ("away_all", 1), ("kinds", 3), ("kind", 3), ("kind_rest", 2), ("see", 1), ("other", 7),
)  # fmt: skip
_GRIDS, _AWAY = ("kinds", "kind", "kind_rest"), ("away", "away_all")
_NEEDS = {"pair": 2, "triple": 3, "two": 2, "rest": 2, "rest_two": 3, "but": 2}  # things at least
_FAILS, _NOT_HERE, _AFTER, _BEFORE = 0.06, 0.06, 0.12, 0.06


class Asked(NamedTuple):
    """A goal, and what it means."""

    goal: str
    wanted: dict[str, str]  # thing → place
    missing: str = ""  # what is asked for and not here
    first: str = ""  # other acts, before and after
    last: str = ""


class Ways(NamedTuple):
    """The sentences of the skills, with {o} and {p}."""

    look: str
    take: str
    put: str  # nothing where one skill takes and puts


@dataclass
class Bench:
    """A place where something is to be done; it knows what was done."""

    asked: Asked
    things: Sequence[str]  # as a look tells them
    ways: Ways
    skills: list[Any] = field(default_factory=list)
    slips: frozenset[str] = frozenset()  # what fails the first time
    held: str = ""
    at: dict[str, str] = field(default_factory=dict)
    done: list[str] = field(default_factory=list)
    slipped: set[str] = field(default_factory=set)

    judges: ClassVar[bool] = True  # it is no world: the skills are the agent's own

    def reset(self, task: Task) -> Observation:
        self.held = ""
        for told in (self.at, self.done, self.slipped):
            told.clear()
        return Observation("")

    def verdict(self) -> Verdict:
        others = [said for said in self.done if said in (self.asked.first, self.asked.last)]
        met = others == [said for said in (self.asked.first, self.asked.last) if said]
        looked = not self.asked.missing or self.ways.look in self.done
        return Verdict(int(met and looked and self.at == self.asked.wanted and not self.held), 1)

    def takes(self, thing: str, said: str) -> str:
        """Nothing, or why it failed."""
        if self.held:
            return "Something is held already."
        if thing in self.slips and thing not in self.slipped:
            self.slipped.add(thing)
            return said.format(o=thing)
        self.held = thing
        self.at.pop(thing, None)
        return ""

    def puts(self, place: str) -> str:
        if not self.held:
            return "Nothing is held."
        self.at[self.held], self.held = place, ""
        return ""


def make_bench(rng: Random, held: bool = False) -> Bench:
    """`held`: in words that no lesson has."""
    words: dict[str, Any] = data.read("bench_words")
    if held:
        words = {**words, **words["held"], "slots": {**words["slots"], **words["held"]["slots"]}}
    shape = rng.choices([name for name, _ in _SHAPES], [often for _, often in _SHAPES])[0]
    things, plural, kinds = _things(words, rng, shape)
    count = 1 if shape in _AWAY else rng.randint(2, 4 if shape == "triple" else 3)
    places = [_named(place, rng, 0.1, words) for place in rng.sample(words["places"], max(count, _least(shape)))]
    bench = Bench(Asked("", {}), things, Ways("", "", ""), slips=_slips(things, rng))
    others = _others(words, rng, bench)
    where = rng.choice(words["where"])
    bench.ways = _add_skills(words, rng, bench, places, shape, where)
    bench.asked = _asked(words, rng, bench, shape, places, plural, kinds, others, where)
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
    nouns = [_named(noun, rng, 0.2, words) for noun in rng.sample(words["nouns"], 5)]
    colours = rng.sample(words["colours"], 5)
    if shape in _GRIDS:
        return _grid(rng, nouns[: rng.randint(2, 3)], colours[: rng.randint(2, 3)])
    if form < 0.62:
        return [f"{colour} {nouns[0]}" for colour in colours[:count]], (nouns[0], _plural(nouns[0])), {}
    if form < 0.84:
        some = [noun if rng.random() < 0.6 else f"{rng.choice(colours)} {noun}" for noun in nouns[:count]]
        return some, ("one of them", "things"), {}
    marks = rng.sample("ABCDEF" if rng.random() < 0.4 else "12345678", count)
    joint = rng.choice((" ", " ", "_", "-"))
    return [f"{nouns[0]}{joint}{mark}" for mark in marks], (nouns[0], _plural(nouns[0])), {}


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
    called = _plural if noun_first else lambda colour: f"{colour} {rng.choice(('ones', 'things', 'ones'))}"
    kinds = {called(one): [names[pair] for pair in chosen if pair[0] == one] for one in first}
    return list(names.values()), ("one of them", "things"), kinds


def _named(name: str, rng: Random, strange: float, words: Words) -> str:
    """At times it is called by a word that nobody knows."""
    if rng.random() >= strange:
        return name
    word = "".join(rng.choices(words["syllables"], k=rng.randint(2, 3)))
    return " ".join([*name.split()[:-1], word])


def _plural(name: str) -> str:
    return f"{name}es" if name.endswith(("x", "s", "sh", "ch")) else f"{name}s"


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
    named = rng.sample(list(bench.things), min(3, len(bench.things)))
    missing = ""
    if shape == "one" and len(bench.things) > 1 and rng.random() < _NOT_HERE:
        missing = named[0]
        bench.things = [thing for thing in bench.things if thing != missing]
    names = [*named, "", ""]
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


# Skills --------------------------------------------------------------------------------------------------


def _add_skills(words: Words, rng: Random, bench: Bench, places: list[str], shape: str, where: str) -> Ways:
    """What looks, takes and puts."""
    o, p = (rng.choice(words["slots"][slot]) for slot in ("o", "p"))
    form = rng.choices(("told", "each", "said"), (7, 0 if shape in _AWAY else 2, 0 if shape in _AWAY else 1))[0]
    look = rng.choice(words["look"]).format(where=where)
    tail = rng.choice(words["seen_too"]) if form == "told" else ""
    about = f"{rng.choice(words['sees'])} {rng.choice(words['seen'])}{tail}.".format(o=o, ps=_plural(p))
    _add_look(rng, bench, look, about, {_plural(o): bench.things}, {_plural(p): places} if form == "told" else {})
    carried = rng.random() < 0.25
    slots = {"o": f"{{{o}}}", "p": f"{{{p}}}"}
    take, put = (rng.choice(words["carry"]), None) if carried else (rng.choice(words["take"]), rng.choice(words["put"]))
    failed = rng.choice(words["failed"])

    def does(given: Mapping[str, Any], fixed: str = "") -> str:
        thing, place = given.get(o, ""), fixed or given.get(p, "")
        return (bench.takes(thing, failed) if thing else "") or (bench.puts(place) if place else "")

    types: dict[str, Any] = {o: str, p: str if form == "told" else Literal[tuple(places)]}
    sources = {o: _plural(o)} | ({p: _plural(p)} if form == "told" else {})
    holds = None if carried or rng.random() < 0.85 else "holding"
    for sentence, what, says in [each for each in (take, put) if each]:
        for place in places if form == "each" and "{p}" in sentence else [""]:
            said = sentence.format(**{**slots, **({"p": place} if place else {})})
            used = {slot: types[slot] for slot in types if f"{{{slot}}}" in said}
            told = says.format(**{**slots, **({"p": place} if place else {})})
            act = (lambda given, fixed=place: does(given, fixed)) if place else does
            bench.skills.append(_skill(bench, said, what, told, used, sources, act, holds=holds))
    return Ways(look, take[0], put[0] if put else "")


def _add_look(rng: Random, bench: Bench, look: str, about: str, things: dict[str, Any], places: dict[str, Any]) -> None:
    name, place = next(iter(things)), next(iter(places), "")

    def told() -> dict[str, Any]:
        left = [thing for thing in bench.things if thing not in bench.at]
        found = {name: left, **({place: places[place]} if place else {})}
        return dict(reversed(found.items())) if turned else found

    turned = rng.random() < 0.15
    names = [*reversed(things | places)] if turned else [*(things | places)]
    bench.skills.append(_skill(bench, look, about, "", {}, {}, lambda given: "", told, names))


def _others(words: Words, rng: Random, bench: Bench) -> list[tuple[Any, str, list[str]]]:
    """Other skills, each with a sentence that can be done and how it is asked for."""
    made = []
    for said, about, ways in rng.sample(words["others"], rng.randint(1, 4)):
        if rng.random() < 0.1:
            said = " ".join(_named(word, rng, 0.7, words) for word in said.split())
            ways = [f"{said} now", f"I want you to {said}"]
        made.append((_skill(bench, said, about, "", {}, {}, lambda given: ""), said, [*ways, said]))
    for said, about, name, low, high, ways in rng.sample(words["reads"], rng.choice((0, 1, 1, 2))):
        value = rng.choice((rng.randint(low, high), round(rng.uniform(low, high), 1)))
        read = _skill(bench, said, about, "", {}, {}, lambda given: "", partial(dict, [(name, value)]), [name], float)
        made.append((read, said, ways))
    chosen = rng.sample(words["slotted"], rng.choice((0, 0, 1, 1, 2)))
    return [*made, *(_slotted(rng, bench, *each) for each in chosen)]


def _slotted(
    rng: Random, bench: Bench, sentence: str, about: str, slot: str, given: list[str], low: int, high: int, ways: Any
) -> tuple[Any, str, list[str]]:
    types: dict[str, Any] = {slot: Literal[tuple(given)]} if slot else {}
    filled: dict[str, Any] = {slot: rng.choice(given)} if slot else {}
    if high:
        types, filled = types | {"n": float}, filled | {"n": rng.randint(low, high)}
    types = {name: types[name] for name in sorted(types, key=lambda name: sentence.index(f"{{{name}}}"))}
    made = _skill(bench, sentence, about, "", types, {}, lambda given: "")
    return made, sentence.format(**filled), [way.format(**filled) for way in ways]


def _skill(
    bench: Bench,
    sentence: str,
    about: str,
    says: str,
    types: Mapping[str, Any],
    sources: Mapping[str, str],
    does: Callable[[Mapping[str, Any]], str],
    tells: Callable[[], dict[str, Any]] | None = None,
    outputs: Sequence[str] = (),
    of: type = list,
    holds: str | None = None,
) -> type[Skill]:
    """One that does something to the bench, and tells what there is."""

    def start(self: Skill, **given: Any) -> None:
        self.feedback = does(given)
        if not self.feedback:
            bench.done.append(sentence.format(**{k: _told(v) for k, v in given.items()}))
        self.result = tells() if tells else {holds: bench.held or "nothing"} if holds else None

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    start.__signature__ = inspect.Signature([inspect.Parameter(n, kind, annotation=t) for n, t in types.items()])  # type: ignore[attr-defined]
    start.__annotations__ = dict(types)
    name = "".join(c if c.isalnum() else "_" for c in f"do {sentence}")
    poll = {"start": start, "poll": lambda self: Status.FAILURE if self.feedback else Status.SUCCESS, "__doc__": about}
    given: dict[str, Any] = {holds: str} if holds else dict.fromkeys(outputs, of)
    used = {slot: source for slot, source in sources.items() if slot in types}
    said = "" if holds else says
    return skill(sentence, name=name, sources=used, says=said, outputs=given)(type("Made", (Skill,), poll))


def _told(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)

"""The skills of a bench, as users write theirs, and what doing them does to it.

A look tells what lies there, one skill takes and one puts, or one does both; places are told by the look, are said in
the goal alone, or have a skill each. Others lead astray, or are wanted too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

from bt_runtime import Status
from bt_runtime.skills.skill import Skill, skill
from bt_runtime.types import Observation, Task, Verdict

Words = Mapping[str, Any]


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
    open: bool = False  # has one of the skills a number that is written?
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


class Site(Protocol):
    """What a made-up skill acts on."""

    held: str
    done: list[str]  # the sentences that were carried out
    skills: list[Any]


# Skills --------------------------------------------------------------------------------------------------


def add_skills(words: Words, rng: Random, bench: Bench, places: list[str], where: str, blind: bool) -> Ways:
    """What looks, takes and puts. Whoever is `blind` can look at nothing, and goes by what is asked for."""
    o, p = (rng.choice(words["slots"][slot]) for slot in ("o", "p"))
    form = rng.choices(("told", "each", "said"), (0, 1, 2) if blind else (7, 2, 1) if len(places) > 1 else (1, 0, 0))[0]
    look = rng.choice(words["look"]).format(where=where)
    tail = rng.choice(words["seen_too"]) if form == "told" else ""
    about = f"{rng.choice(words['sees'])} {rng.choice(words['seen'])}{tail}.".format(o=o, ps=plural_of(p))
    if not blind:
        _add_look(
            rng, bench, look, about, {plural_of(o): bench.things}, {plural_of(p): places} if form == "told" else {}
        )
    carried = rng.random() < 0.25
    slots = {"o": f"{{{o}}}", "p": f"{{{p}}}"}
    take, put = (rng.choice(words["carry"]), None) if carried else (rng.choice(words["take"]), rng.choice(words["put"]))
    failed = rng.choice(words["failed"])

    def does(given: Mapping[str, Any], fixed: str = "") -> str:
        thing, place = given.get(o, ""), fixed or given.get(p, "")
        return (bench.takes(thing, failed) if thing else "") or (bench.puts(place) if place else "")

    types: dict[str, Any] = {
        o: Literal[tuple(bench.things)] if blind else str,
        p: str if form == "told" else Literal[tuple(places)],
    }
    sources = ({} if blind else {o: plural_of(o)}) | ({p: plural_of(p)} if form == "told" else {})
    holds = None if carried or rng.random() < 0.85 else "holding"
    for sentence, what, says in [each for each in (take, put) if each]:
        for place in places if form == "each" and "{p}" in sentence else [""]:
            said = sentence.format(**{**slots, **({"p": place} if place else {})})
            used = {slot: types[slot] for slot in types if f"{{{slot}}}" in said}
            told = says.format(**{**slots, **({"p": place} if place else {})})
            act = (lambda given, fixed=place: does(given, fixed)) if place else does
            bench.skills.append(make_skill(bench, said, what, told, used, sources, act, holds=holds))
    return Ways("" if blind else look, take[0], put[0] if put else "")


def _add_look(rng: Random, bench: Bench, look: str, about: str, things: dict[str, Any], places: dict[str, Any]) -> None:
    name, place = next(iter(things)), next(iter(places), "")

    def told() -> dict[str, Any]:
        left = [thing for thing in bench.things if thing not in bench.at]
        found = {name: left, **({place: places[place]} if place else {})}
        return dict(reversed(found.items())) if turned else found

    turned = rng.random() < 0.15
    names = [*reversed(things | places)] if turned else [*(things | places)]
    bench.skills.append(make_skill(bench, look, about, "", {}, {}, lambda given: "", told, names))


def make_others(words: Words, rng: Random, bench: Bench) -> list[tuple[Any, str, list[str]]]:
    """Other skills, each with a sentence that can be done and how it is asked for."""
    made = []
    for said, about, ways in rng.sample(words["others"], rng.randint(1, 4)):
        if rng.random() < 0.1:
            said = " ".join(named(word, rng, 0.7, words) for word in said.split())
            ways = [f"{said} now", f"I want you to {said}"]
        made.append((make_skill(bench, said, about, "", {}, {}, lambda given: ""), said, [*ways, said]))
    for said, about, name, low, high, ways in rng.sample(words["reads"], rng.choice((0, 1, 1, 2))):
        value = rng.choice((rng.randint(low, high), round(rng.uniform(low, high), 1)))
        read = make_skill(
            bench, said, about, "", {}, {}, lambda given: "", partial(dict, [(name, value)]), [name], float
        )
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
    bench.open = bench.open or "n" in types
    made = make_skill(bench, sentence, about, "", types, {}, lambda given: "")
    return made, sentence.format(**filled), [way.format(**filled) for way in ways]


def make_skill(
    bench: Site,
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
    """Returns a skill that changes the site, and tells what is there."""

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


# Names ---------------------------------------------------------------------------------------------------


def named(name: str, rng: Random, strange: float, words: Words) -> str:
    """At times it is called by a word that nobody knows."""
    if rng.random() >= strange:
        return name
    word = "".join(rng.choices(words["syllables"], k=rng.randint(2, 3)))
    return " ".join([*name.split()[:-1], word])


def plural_of(name: str) -> str:
    return f"{name}es" if name.endswith(("x", "s", "sh", "ch")) else f"{name}s"

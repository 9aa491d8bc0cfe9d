"""Draws tasks in a home: where everything lies, the goal, and its wording."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from bt_envs.house.catalogue import Catalogue
from bt_envs.house.goals import RELATIONS
from bt_envs.house.layout import House
from bt_envs.house.phrases import article, capital, listing, number, plural, spin
from bt_runtime.language.kinds.shape import closed
from bt_runtime.skills.worlds.content import TEXT, TEXTS, Content, by_name, check_of, read_yaml, texts
from bt_runtime.types import Json, Task

_KIND = {
    "way": {"enum": ["on", "in"]}, "place": TEXT, "things": TEXTS, "then": {"enum": list(RELATIONS)}, "say": TEXTS,
}  # fmt: skip
_FIELDS = {
    "kinds": by_name({"type": "object", "$comment": "a kind of task", **closed(_KIND, ("way", "place"))}),
    "say": by_name(TEXTS),
    "ends": by_name(TEXTS),
}
CHECK = check_of("what is asked for in a home", _FIELDS, ("kinds",))
_SUBGOALS = (1, 2, 2, 3, 3, 3, 4, 4, 5, 6)  # how many parts a task has, as often as they stand here


@dataclass(frozen=True)
class Errand:
    """A kind of task: what is brought where."""

    name: str
    way: str  # "on" or "in"
    place: str
    things: tuple[str, ...]
    then: str  # "turned on", or nothing
    say: tuple[str, ...]


def read_errands(path: Path, catalogue: Catalogue) -> Mapping[str, Errand]:
    content = read_yaml(path, CHECK)
    return {name: _errand(name, entry, catalogue, content) for name, entry in content.data["kinds"].items()}


def _errand(name: str, entry: Mapping[str, Any], catalogue: Catalogue, content: Content) -> Errand:
    at, way, place, then = ("kinds", name), entry["way"], str(entry["place"]), entry.get("then", "")
    things = texts(entry.get("things", ()))
    content.known(place, catalogue.furniture, "things.yaml", *at, "place")
    for i, thing in enumerate(things):
        content.known(thing, catalogue.things, "things.yaml", *at, "things", i)
    say = [*texts(entry.get("say", ()))]
    for text in texts(content.data.get("say", {}).get(way, ())):
        say += [f"{text} {end}" for end in content.data.get("ends", {}).get(then, ())] if then else [text]
    if not say or not any(catalogue.things[t].up_to for t in things):
        message = f"kind `{name}` has no words, or no thing of which a home may have one"
        raise content.fault(message, "give `say:` and `things:`", *at)
    return Errand(name, way, place, things, then, tuple(say))


def make_task(
    errand: Errand,
    house: House,
    catalogue: Catalogue,
    rng: Random,
    name: str,
    wanted: Mapping[str, int] | None = None,
    said: str = "",
) -> Task:
    """Makes one task. `wanted` (thing: amount) and `said` (the goal's text) replace the random choice when they are
    given."""
    if wanted is None:
        wanted = _wanted(errand, max(1, rng.choice(_SUBGOALS) - bool(errand.then)), catalogue, rng)
    goal: list[dict[str, Json]] = [
        {"relation": errand.way, "thing": thing, "place": errand.place, "amount": n} for thing, n in wanted.items()
    ]
    if errand.then:
        goal.append({"relation": errand.then, "place": errand.place, "amount": 1})
    data: dict[str, Json] = {
        "house": house.name,
        "start": [rng.choice(house.rooms).name],
        "things": _strew(errand, wanted, house, catalogue, rng),
        "open": [f.name for f in house.fixtures if f.furniture.opens and rng.random() < 0.06],
        "goal": goal,
    }
    return Task(name, errand.name, said or ask(errand, wanted, rng), data)


def _wanted(errand: Errand, total: int, catalogue: Catalogue, rng: Random) -> dict[str, int]:
    """Draws the wanted things: usually one of each, sometimes two of a kind."""
    counts: dict[str, int] = {}
    while sum(counts.values()) < total:
        room = [t for t in errand.things if counts.get(t, 0) < min(2, catalogue.things[t].up_to)]
        if not room:
            break  # a home has no more of them
        fresh = [t for t in room if t not in counts]
        thing = rng.choice(fresh if fresh and rng.random() < 0.8 else room)
        counts[thing] = counts.get(thing, 0) + 1
    return counts


def _strew(
    errand: Errand, wanted: Mapping[str, int], house: House, catalogue: Catalogue, rng: Random
) -> list[list[str]]:
    """Places everything where it may be kept; nothing of the task lies at its goal already."""
    found = []
    for thing in catalogue.things.values():
        least = wanted.get(thing.name, 0)
        spots = [f for kind in thing.kept for f in house.fixtures if f.furniture.name == kind and f.furniture.holds]
        if thing.name in errand.things:
            spots = [f for f in spots if f.furniture.name != errand.place]
            spots = spots or [f for f in house.fixtures if f.furniture.holds and f.furniture.name != errand.place]
        for _ in range(rng.randint(least, max(least, thing.up_to)) if spots else 0):
            spot = rng.choice(spots)
            inside = spot.furniture.holds_in and (not spot.furniture.holds_on or rng.random() < 0.5)
            found.append([thing.name, spot.name, "in" if inside else "on"])
    rng.shuffle(found)  # so that a number tells nothing of a place
    return found


def ask(errand: Errand, wanted: Mapping[str, int], rng: Random) -> str:
    """Words the instruction as a person might."""
    style = rng.choice(("article", "number", "the"))
    parts = []
    for thing, count in rng.sample(sorted(wanted.items()), len(wanted)):
        if count > 1:
            parts.append(f"{number(count, rng)} {plural(thing)}")
        elif style == "number":
            parts.append(f"{number(1, rng)} {thing}")
        else:
            parts.append(article(thing) if style == "article" else f"the {thing}")
    things = listing(parts, rng)
    said = spin(rng.choice(errand.say), rng)
    them = "it" if sum(wanted.values()) == 1 else "them"
    return capital(said.replace("{things}", things).replace("{them}", them).replace("{place}", errand.place))


def fits(errand: Errand, house: House) -> bool:
    """True when the house has what this kind of task needs."""
    return any(f.furniture.name == errand.place for f in house.fixtures)

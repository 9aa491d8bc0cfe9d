"""Makes tasks whose thing must be hot, cold or clean at its destination: "put a hot apple on the sofa"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

from bt_envs.house.catalogue import Catalogue
from bt_envs.house.layout import House
from bt_envs.house.phrases import article, capital, filled
from bt_envs.house.rules import CHECK, PROCESSES, Rule, Rules, as_data
from bt_envs.house.tasks import Errand, make_task
from bt_runtime.skills.worlds.content import read_yaml, texts
from bt_runtime.types import Task


@dataclass(frozen=True)
class Chore:
    """A kind of task: which process (heat, cool, clean) a thing needs, and where it is wanted."""

    name: str  # heat, cool, clean
    things: tuple[str, ...]
    spots: tuple[tuple[str, str], ...]  # ("on", "kitchen table")
    say: tuple[str, ...]


def read_chores(path: Path, catalogue: Catalogue) -> Mapping[str, Chore]:
    content, kinds = read_yaml(path, CHECK), {}
    for name, entry in content.data["kinds"].items():
        for part, known in (("things", catalogue.things), ("on", catalogue.furniture), ("in", catalogue.furniture)):
            for i, each in enumerate(entry.get(part, ())):
                content.known(str(each), known, "things.yaml", "kinds", name, part, i)
        spots = tuple((way, place) for way in ("on", "in") for place in texts(entry.get(way, ())))
        kinds[name] = Chore(name, texts(entry["things"]), spots, texts(entry["say"]))
    return kinds


def make_chore(
    chore: Chore, rules: Rules, house: House, catalogue: Catalogue, rng: Random, name: str, hint: bool = False
) -> Task:
    """Makes a task. `hint`: the goal tells where one such thing lies, so that only the rules are unknown."""
    thing = rng.choice(chore.things)
    way, place = rng.choice(_spots(chore, rules.of[chore.name], house))
    state = PROCESSES[chore.name].makes
    task = make_task(
        Errand(chore.name, way, place, (thing,), "", ()), house, catalogue, rng, name, {thing: 1},
        _ask(chore, thing, way, place, state, rng),
    )  # fmt: skip
    goal = [{**wanted, "state": state} for wanted in task.data["goal"]]
    told = f"{task.goal} {_hint(task, thing, house, rng)}" if hint else task.goal
    return task._replace(goal=told, data={**task.data, "goal": goal, "rules": as_data(rules)})


def _ask(chore: Chore, thing: str, way: str, place: str, state: str, rng: Random) -> str:
    some = rng.choice((article, "the {}".format))
    slots = {"things": some(f"{state} {thing}"), "plain": some(thing), "way": way, "place": place}
    return filled(rng.choice(chore.say), slots)


def _hint(task: Task, thing: str, house: House, rng: Random) -> str:
    places = [place for kind, place, _ in task.data["things"] if kind == thing]
    i = rng.randrange(len(places))
    room = house.rooms[house.fixtures[house.index[places[i]]].room].name
    return capital(f"{thing} {i + 1} is at {places[i]} in {room}.")


# A thing begins where a run of letters and blanks does, or at a capital: nowhere else is worth a look.
_BEGIN = r"(?:(?<![A-Za-z ]) *+|(?=[A-Z]))"
_HINT = re.compile(_BEGIN + r"([A-Za-z][a-z ]*+(?<= )\d+) is at ([a-z ]+ \d+) in ([a-z ]+ \d+)\.")


def heard(goal: str) -> tuple[str, str, str] | None:
    """Parses a goal's hint: the thing, the place and the room."""
    found = _HINT.search(goal)
    return (found[1].lower(), found[2], found[3]) if found else None


def can_be_done(chore: Chore, rules: Rules, house: House) -> bool:
    """True when the house has the appliance, the thing that turns it on, and a place for the result."""
    rule = rules.of.get(chore.name)
    return rule is not None and _has(rule, house) and bool(_spots(chore, rule, house))


def _has(rule: Rule, house: House) -> bool:
    rooms = {f.room for f in house.fixtures if f.furniture.name == rule.place}
    taps = {f.room for f in house.fixtures if f.furniture.name == rule.tap}
    return bool(rooms) and (not rule.tap or rooms <= taps)


def _spots(chore: Chore, rule: Rule, house: House) -> list[tuple[str, str]]:
    """Returns the target places. The appliance itself is none: a treated thing would already be there."""
    there = {f.furniture.name for f in house.fixtures}
    return [(way, place) for way, place in chore.spots if place != rule.place and place in there]

"""ALFWorld's rules and words without its engine: lessons are given wherever Python runs.

It stands where the pool of engines stands and answers what they would; a test holds it against the engine, word for
word, where that is installed. Nothing is ever sliced here.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bt_envs.alfworld.game import KINDS, TREATED, Fact, kind_of, parts, read
from bt_envs.alfworld.suite import AlfWorldSuite
from bt_envs.alfworld.worker_pool import Plays, WorkerPool
from bt_envs.alfworld.world import AlfWorld
from bt_runtime.types import World

_ABLE = re.compile(r"\((cleanable|heatable|coolable|toggleable|pickupable|isreceptacleobject|sliceable) ([^)]+)\)")
_FITS = re.compile(r"\(cancontain (\w+)type (\w+)type\)")
_USED = {treatment.verb: treatment for treatment in TREATED.values()}
_STATES = {"ishot": "hot", "iscool": "cool", "isclean": "clean"}


class Rules(WorkerPool):
    """One game at a time for every world that asks."""

    def __init__(self) -> None:
        super().__init__(1, Plays("ALFWorld", ()))
        self.homes: dict[object, Home] = {}

    def play(self, owner: object, asked: Mapping[str, Any]) -> dict[str, Any]:
        home, done = self.homes.get(owner), list(asked["done"])
        if home is None or home.problem != asked["problem"] or home.done != done:
            home = self.homes[owner] = Home(asked["problem"])
            for command in done:
                home.do(command)
        if asked["act"] is not None:
            home.do(asked["act"])
        return home.told()

    def begin(self, owner: object, asked: Mapping[str, Any]) -> None:
        self.homes.pop(owner, None)


class WithoutEngine(AlfWorldSuite):
    """For a quick evaluation: `btr lab eval recipes/starter/alfworld/rules.py:SUITE --option source=made`."""

    def open(self, **options: Any) -> World:
        return AlfWorld(Rules(), **options)


SUITE = WithoutEngine()


class Home:
    """One game, and where in it one is."""

    def __init__(self, problem: str) -> None:
        self.problem, self.game = problem, read(problem)
        self.facts: set[Fact] = set(self.game.start)
        self.done: list[str] = []
        self.text = ""
        self.able, self.fits = _abilities(problem)

    def told(self) -> dict[str, Any]:
        met, total = parts(self.game, frozenset(self.facts))
        return {
            "text": self.text, "won": met == total and self._lit(), "commands": list(self.commands()),
            "facts": sorted(self.facts),
        }  # fmt: skip

    def _lit(self) -> bool:
        """One that is to be looked at is held where the lamp that is on stands."""
        lamps = {fact[1] for fact in self.facts if fact[0] == "istoggled"}
        here = {thing for place in self.game.at(self.facts) for thing in self._inside(place)}
        return self.game.aim.kind != KINDS[1] or any(kind_of(lamp) == self.game.aim.place for lamp in lamps & here)

    def _inside(self, place: str) -> list[str]:
        return [thing for thing in self.game.things if ("inreceptacle", thing, place) in self.facts]

    def _shut(self, place: str) -> bool:
        return place in self.game.openable and ("opened", place) not in self.facts

    def _can(self, thing: str, ability: str) -> bool:
        return kind_of(thing) in self.able[ability]

    def _held(self) -> list[str]:
        return [fact[1] for fact in self.facts if fact[0] == "holds"]

    def commands(self) -> Iterator[str]:
        """What the engine calls admissible."""
        here, held = self.game.at(self.facts), self._held()
        for place, location in self.game.places.items():
            if location and place not in here:
                yield f"go to {place}"
        for place in here:
            yield from self._here(place, held)
        yield from (f"examine {thing}" for thing in held)
        yield from ("help", "inventory", "look")

    def _here(self, place: str, held: Sequence[str]) -> Iterator[str]:
        yield f"examine {place}"
        inside = self._inside(place)
        if place in self.game.openable:
            yield f"{'open' if self._shut(place) else 'close'} {place}"
        if not self._shut(place):
            if not held:
                yield from (
                    f"take {thing} from {place}" for thing in inside if kind_of(thing) in self.able["pickupable"]
                )
            yield from (f"move {t} to {place}" for t in held if (kind_of(place), kind_of(t)) in self.fits)
        yield from (f"use {thing}" for thing in inside if self._can(thing, "toggleable"))
        for verb, treatment in _USED.items():
            if kind_of(place) == treatment.tool:
                yield from (
                    f"{verb} {thing} with {place}" for thing in held if kind_of(thing) in self.able[treatment.able]
                )

    def do(self, command: str) -> None:
        self.done.append(command)
        verb, _, rest = command.partition(" ")
        act = getattr(self, f"_{verb}", None)
        self.text = act(rest) if act is not None else "Nothing happens."

    def _go(self, rest: str) -> str:
        place = rest.removeprefix("to ")
        self.facts = {f for f in self.facts if f[0] != "atlocation"} | {("atlocation", self.game.places[place])}
        return f"You arrive at {place}. {self._seen(place)}"

    def _seen(self, place: str) -> str:
        if self._shut(place):
            return f"The {place} is closed."
        begin = f"The {place} is open. In it" if place in self.game.openable else f"On the {place}"
        return f"{begin}, you see {_listed(self._inside(place))}."

    def _open(self, place: str) -> str:
        self.facts.add(("opened", place))
        return f"You open the {place}. {self._seen(place)}"

    def _close(self, place: str) -> str:
        self.facts.discard(("opened", place))
        return f"You close the {place}."

    def _take(self, rest: str) -> str:
        thing, _, place = rest.partition(" from ")
        self.facts = self.facts - {("inreceptacle", thing, place)} | {("holds", thing)}
        return f"You pick up the {thing} from the {place}."

    def _move(self, rest: str) -> str:
        thing, _, place = rest.partition(" to ")
        self.facts = self.facts - {("holds", thing)} | {("inreceptacle", thing, place)}
        return f"You move the {thing} to the {place}."

    def _treat(self, verb: str, rest: str) -> str:
        thing, _, place = rest.partition(" with ")
        against = {"heat": "iscool", "cool": "ishot"}.get(verb, "")
        self.facts = self.facts - {(against, thing)} | {(_USED[verb].fact, thing)}
        return f"You {verb} the {thing} using the {place}."

    def _heat(self, rest: str) -> str:
        return self._treat("heat", rest)

    def _cool(self, rest: str) -> str:
        return self._treat("cool", rest)

    def _clean(self, rest: str) -> str:
        return self._treat("clean", rest)

    def _use(self, lamp: str) -> str:
        self.facts.add(("istoggled", lamp))
        return f"You turn on the {lamp}."

    def _examine(self, name: str) -> str:
        if name in self.game.places:
            return self._seen(name)
        if self._can(name, "isreceptacleobject"):
            return f"This is a normal {name}. In it, you see nothing."
        if self._can(name, "toggleable"):
            return f"This {name} is {'on' if ('istoggled', name) in self.facts else 'off'}."
        states = [word for fact, word in _STATES.items() if (fact, name) in self.facts]
        if states:
            return f"This is a {'cold' if states == ['cool'] else ' and '.join(states)} {name}."
        return f"There's nothing special about {name}."

    def _look(self, _: str) -> str:
        here = self.game.at(self.facts)
        if here:
            return f"You are facing the {_joined(here)}. Next to it, you see nothing."
        return "You are in the middle of a room. Looking quickly around you, you see nothing."  # so says the engine

    def _inventory(self, _: str) -> str:
        held = self._held()
        return f"You are carrying: {_listed(held)}." if held else "You are not carrying anything."

    def _help(self, _: str) -> str:
        return "Available commands:"


def _listed(names: Sequence[str]) -> str:
    return _joined([f"a {name}" for name in names]) or "nothing"


def _joined(said: Sequence[str]) -> str:
    return ", and ".join(filter(None, (", ".join(said[:-1]), *said[-1:])))


def _abilities(problem: str) -> tuple[dict[str, set[str]], set[tuple[str, str]]]:
    """ability → kinds of things; and which kind of furniture takes which kind of thing."""
    text = problem.lower()
    able: dict[str, set[str]] = defaultdict(set)
    for ability, name in _ABLE.findall(text):
        able[ability].add(name.partition("_bar_")[0])
    return able, set(_FITS.findall(text))

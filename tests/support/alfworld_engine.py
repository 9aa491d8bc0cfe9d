"""Stands for the engine where it is not installed: the same process and lines, with rules of a few words."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from bt_envs.alfworld.game import CHANGING, KINDS, kind_of, parts, read
from bt_envs.alfworld.worker_pool import Plays
from bt_envs.alfworld.worker_process import main

DOUBLE = Plays("ALFWorld", [sys.executable, "-P", __file__], "ALFWORLD_DATA")
_USING = {"heat": ("microwave", "ishot"), "cool": ("fridge", "iscool"), "clean": ("sinkbasin", "isclean")}


class Double:
    def __init__(self) -> None:
        self.game: Any = None  # `answer` forgets it after a fault

    def play(self, problem: str, goal: str, done: Sequence[str], act: str | None) -> dict[str, Any]:
        self.game = read(problem)
        self.facts = set(self.game.start)
        self.text = "begun"
        for command in [*done, *([act] if act is not None else [])]:
            if command == "examine shelf 99":
                raise ValueError("no such shelf")
            self.do(command)
        met, total = parts(self.game, frozenset(self.facts))
        lit = self.game.aim.kind != KINDS[1] or any(fact[0] == "istoggled" for fact in self.facts)
        won = met == total and lit
        assert all(fact[0] in CHANGING for fact in self.facts)
        return {"text": self.text, "won": won, "commands": self.commands(), "facts": sorted(self.facts)}

    def open(self, place: str) -> bool:
        return place not in self.game.openable or ("opened", place) in self.facts

    def inside(self, place: str) -> list[str]:
        return sorted(fact[1] for fact in self.facts if fact[0] == "inreceptacle" and fact[2] == place)

    def seen(self, place: str) -> str:
        lying = ", and ".join(f"a {thing}" for thing in self.inside(place)) or "nothing"
        return f"On the {place}, you see {lying}." if self.open(place) else f"The {place} is closed."

    def commands(self) -> list[str]:
        here = self.game.at(self.facts)
        held = [fact[1] for fact in self.facts if fact[0] == "holds"]
        found = ["help", "inventory", "look", "examine shelf 99"]
        found += [f"go to {place}" for place, location in self.game.places.items() if location and place not in here]
        for place in here:
            if place in self.game.openable:
                found.append(f"close {place}" if self.open(place) else f"open {place}")
            if self.open(place):
                found += [f"move {thing} to {place}" for thing in held]
                found += [f"use {t}" for t in self.inside(place) if kind_of(t) == "desklamp"]
                found += [f"take {t} from {place}" for t in self.inside(place) if not held and kind_of(t) != "desklamp"]
            found += [
                f"{verb} {t} with {place}" for verb, (k, _) in _USING.items() for t in held if k == kind_of(place)
            ]
        return sorted(found)

    def do(self, command: str) -> None:
        verb, _, rest = command.partition(" ")
        if verb == "go":
            place = rest.removeprefix("to ")
            self.facts = {f for f in self.facts if f[0] != "atlocation"} | {("atlocation", self.game.places[place])}
            self.text = f"You arrive at {place}. {self.seen(place)}"
        elif verb == "open":
            self.facts.add(("opened", rest))
            self.text = f"You open the {rest}. {self.seen(rest)}"
        elif verb == "close":
            self.facts.discard(("opened", rest))
            self.text = f"You close the {rest}."
        elif verb == "take":
            thing, _, place = rest.partition(" from ")
            self.facts = self.facts - {("inreceptacle", thing, place)} | {("holds", thing)}
            self.text = f"You pick up the {thing} from the {place}."
        elif verb == "move":
            thing, _, place = rest.partition(" to ")
            self.facts = self.facts - {("holds", thing)} | {("inreceptacle", thing, place)}
            self.text = f"You move the {thing} to the {place}."
        elif verb in _USING:
            thing, _, place = rest.partition(" with ")
            self.facts.add((_USING[verb][1], thing))
            self.text = f"You {verb} the {thing} using the {place}."
        elif verb == "use":
            self.facts.add(("istoggled", rest))
            self.text = f"You turn on the {rest}."
        else:
            self.text = "You look around."


if __name__ == "__main__":
    main(Double)

"""An expert with full knowledge of the room: turns `fetch this`, `put it there`, `heat it` into sentences of either
setting.

Every method yields sentences; the caller acts on each before requesting the next."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping
from typing import Any

from bt_envs.alfred import kinds
from bt_envs.thor.choice import choose, is_slice
from bt_envs.thor.world import Thor

Sentences = Iterator[str]
LOOKS = 12  # places to look from before giving up on seeing a thing


class ThorExpert:
    def __init__(self, world: Thor) -> None:
        self.world = world
        self.truth: Mapping[str, Any] = {}
        self.learn()

    def learn(self) -> None:
        self.truth = self.world.survey()

    @property
    def objects(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.truth.get("objects", {})
        return found

    @property
    def held(self) -> str | None:
        found: str | None = self.truth.get("held")
        return found

    def say(self, verb: str, target: str) -> Sentences:
        """Yields one sentence, then looks at its effect."""
        kind = kinds.id_kind(target)
        words = kinds.to_words(kind)
        if self.world.view == "partial":
            yield f"{verb} {kind} ({self.truth['numbers'].get(target, 0)})"
        elif verb == "go to":
            yield f"find {kinds.article(words)} {words}"
        else:
            yield f"{verb} the {words}"
        self.learn()

    def go(self, target: str) -> Sentences:
        if self.world.view == "partial":
            yield from self.sight(target)
        yield from self.say("go to", target)

    def sight(self, target: str) -> Sentences:
        """Walks past the probable places, the nearest first, until the thing was seen."""
        places = sorted(self.truth["seen"], key=lambda seen: self.far(seen, target))
        for place in places[:LOOKS]:
            if target in self.truth["seen"] and target in self.truth["numbers"]:
                return
            if place in self.objects and not self.objects[place]["isSliced"] and place != self.held:
                yield from self.say("go to", place)

    def far(self, one: str, other: str) -> float:
        if one not in self.objects or other not in self.objects:
            return math.inf
        a, b = self.objects[one]["position"], self.objects[other]["position"]
        return math.dist((a["x"], a["y"], a["z"]), (b["x"], b["y"], b["z"]))

    def door_of(self, target: str) -> str | None:
        """Returns the outermost closed container around the thing."""
        door, parents = None, self.objects[target]["parentReceptacles"]
        while parents:
            entry = self.objects[parents[0]]
            if entry["objectType"] in kinds.CLOSED_HIDES and not entry["isOpen"]:
                door = parents[0]
            parents = entry["parentReceptacles"]
        return door

    def approach(self, target: str) -> Generator[str, None, tuple[str, str | None]]:
        """Goes to an object and opens the container around it. Returns the object reached and the opened door.

        Where sentences name kinds only, a nearer object of the kind may be reached instead."""
        if self.world.view == "full":
            yield from self.say("go to", target)
            target = self.meant(target)
        door = self.door_of(target)
        if door is not None:
            if self.world.view == "partial":
                yield from self.go(door)
            yield from self.say("open", door)
        if self.world.view == "partial":
            yield from self.go(target)
        return target, door

    def meant(self, target: str) -> str:
        """Returns the object that the fully observed setting chooses for this object's kind."""
        cut = any(is_slice(entry) for entry in self.objects.values())
        found = choose(self.objects, kinds.id_kind(target), visible_first=True, slices_first=cut)
        return target if found is None else str(found["objectId"])

    def fetch(self, target: str) -> Sentences:
        target, door = yield from self.approach(target)
        yield from self.say("pick up", target)
        if door is not None and self.objects[door]["visible"]:
            yield from self.say("close", door)

    def place(self, receptacle: str) -> Sentences:
        """Puts the held thing in or on a receptacle; opens it if necessary."""
        receptacle, _ = yield from self.approach(receptacle)
        entry = self.objects[receptacle]
        if entry["objectType"] in kinds.CLOSED_HIDES and not entry["isOpen"]:
            yield from self.say("open", receptacle)
        if self.held is not None:
            yield from self.say("put down", self.held)

    def retake(self, target: str) -> Sentences:
        """Picks up the thing that was just put down here."""
        yield from self.go(target)
        yield from self.say("pick up", target)

    def slice(self, target: str) -> Sentences:
        target, _ = yield from self.approach(target)
        yield from self.say("slice", target)

    def clean(self, basin: str) -> Sentences:
        thing = self.held
        yield from self.place(basin)
        faucet = self.nearest("Faucet", basin)
        if thing is None or faucet is None:
            return
        yield from self.go(faucet)
        yield from self.say("turn on", faucet)
        yield from self.say("turn off", faucet)
        yield from self.retake(thing)

    def heat(self, microwave: str) -> Sentences:
        thing = self.held
        yield from self.place(microwave)
        for verb in ("close", "turn on", "turn off", "open"):
            yield from self.say(verb, microwave)
        if thing is not None:
            yield from self.retake(thing)
        yield from self.say("close", microwave)

    def cool(self, fridge: str) -> Sentences:
        thing = self.held
        yield from self.place(fridge)
        for verb in ("close", "open"):
            yield from self.say(verb, fridge)
        if thing is not None:
            yield from self.retake(thing)
        yield from self.say("close", fridge)

    def light(self, lamp: str) -> Sentences:
        yield from self.go(lamp)
        if not self.objects[lamp]["isToggled"]:
            yield from self.say("turn on", lamp)

    def nearest(self, kind: str, to: str) -> str | None:
        return min(self.of(kind), key=lambda i: self.far(i, to), default=None)

    def of(self, kind: str) -> list[str]:
        """Returns all objects of a kind that are whole, or slices of it."""
        return [i for i, e in self.objects.items() if kinds.whole(e["objectType"]) == kind and not e["isSliced"]]

    def slices(self, kind: str) -> list[str]:
        return [i for i in self.of(kind) if is_slice(self.objects[i])]

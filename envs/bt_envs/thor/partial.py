"""The partially observed setting of ReAcTree: objects have numbers, and only seen objects can be named."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from functools import partialmethod

from bt_envs.alfred import kinds
from bt_envs.thor.choice import Object, is_slice
from bt_envs.thor.full import possible, unknown
from bt_envs.thor.hands import Hands
from bt_envs.thor.scene import AT_FEET, FAR_END, HALF_VIEW, SIGHT
from bt_runtime.types import Observation

_SENTENCE = re.compile(
    r"(?P<verb>go to|pick up|put down|drop|open|close|turn on|turn off|slice) (?P<kind>\w+) ?\((?P<number>\d+)\)"
)
NUMBERED = re.compile(r"(\w+) ?\((\d+)\)")  # `Apple (2)`
_NEAR = ("open", "close", "turn on", "turn off", "slice")  # what is only done to an object in sight
EXAMPLES = "go to Fridge (1), pick up Apple (2), put down Apple (2), open Fridge (1), turn on Faucet (1)"


class PartialView:
    def __init__(self, hands: Hands) -> None:
        self.hands = hands
        self.scene = "room"
        self.numbers: dict[str, int] = {}  # id → its number among its kind
        self.ids: dict[tuple[str, int], str] = {}
        self.seen: set[str] = set()
        self.apart: set[str] = set()  # objects that no way to any furniture passes
        self.here = ""  # object gone to last: things are put down there

    def begin(self, scene: str, named: Container[str] = ()) -> Observation:
        """Begins an episode. `named`: the kinds of thing that the task is about."""
        self.numbers, self.ids, self.here = {}, {}, ""
        self._number_new()
        self.scene = scene
        self.apart = apart(self.hands, named)
        self.seen = {i for i, e in self.hands.objects.items() if _stands_out(e)} | self.apart
        return self.look()

    def look(self) -> Observation:
        """Describes the view from the door and the held object: enough for an agent that starts at any time."""
        objects = self.hands.objects
        fixed = [i for i, e in objects.items() if _stands_out(e) or (i in self.apart and i != self.hands.held)]
        where = f"You are in the house, and you arrive at the {self.scene}"
        return self._reply(f"{where}, Looking quickly around the room, you see {self.grouped(fixed)}.")

    def _number_new(self) -> None:
        for object_id in self.hands.objects:
            if object_id not in self.numbers:
                kind = kinds.id_kind(object_id)
                number = 1 + sum(known == kind for known, _ in self.ids)
                self.numbers[object_id] = number
                self.ids[kind, number] = object_id

    def name(self, object_id: str) -> str:
        return f"{kinds.id_kind(object_id)} ({self.numbers[object_id]})"

    def grouped(self, ids: Iterable[str]) -> str:
        """Groups ids: `Toaster (1), Drawer (1, 2)`, with the kinds from Z to A, as the setting does."""
        groups: dict[str, list[int]] = {}
        for object_id in ids:
            groups.setdefault(kinds.id_kind(object_id), []).append(self.numbers[object_id])
        return ", ".join(
            f"{kind} ({', '.join(map(str, sorted(groups[kind])))})" for kind in sorted(groups, reverse=True)
        )

    def act(self, sentence: str) -> Observation:
        found = _SENTENCE.fullmatch(" ".join(sentence.split()))
        if found is None:
            return unknown(sentence, EXAMPLES)
        verb, kind, number = found["verb"], found["kind"], int(found["number"])
        target = self.ids.get((kind, number))
        if target is None or target not in self.seen:
            why = f"You have not seen {kind} ({number})"
            return self._reply(f"{why}.", why)
        far = self._far(target) if verb in _NEAR else None
        does: Callable[[str], Observation] = getattr(self, "_" + verb.replace(" ", "_"))
        return far or does(target)

    def _reply(self, text: str, why: str = "", extra: str = "", looks: bool = False) -> Observation:
        """Builds the observation: event, objects in view, extra information, held object."""
        parts = [text]
        if looks:
            view = self._look()
            parts.append(f"You see {self.grouped(view)}." if view else "There are no visible objects.")
        parts.append(extra)
        if self.hands.held is not None:
            parts.append(f"I am holding {self.name(self.hands.held)} now.")
        return Observation(" ".join(filter(None, parts)), not why, why)

    def _done(self, done: bool, text: str, failed: str) -> Observation:
        return self._reply(text, looks=True) if done else self._reply(failed, self.hands.error)

    def _look(self) -> list[str]:
        self._number_new()
        view = [i for i, e in self.hands.objects.items() if e["visible"]]
        self.seen.update(view)
        return view

    def _far(self, target: str) -> Observation | None:
        if self.hands.objects[target]["visible"]:
            return None
        return self._reply(f"The {self.name(target)} is not close to you.", "not close")

    def _go_to(self, target: str) -> Observation:
        if not self.hands.go_to(target):
            return self._reply(f"You cannot move to {self.name(target)}.", "cannot move there")
        self.here = target
        return self._reply(f"You arrive at {self.name(target)}.", extra=self._condition(target), looks=True)

    def _condition(self, target: str) -> str:
        entry, name = self.hands.objects[target], self.name(target)
        doors = entry["openable"] and not entry["pickupable"]
        words = [f"{name} is {'open' if entry['isOpen'] else 'closed'}."] if doors else []
        if entry["toggleable"] and entry["isToggled"]:
            words.append(f"{name} is already turned on.")
        return " ".join(words)

    def _pick_up(self, target: str) -> Observation:
        if self.hands.held is not None:
            return self._reply(f"You are currently holding {self.name(self.hands.held)}.", "hand is full")
        far = self._far(target)
        if far is not None:
            return far
        return self._done(self.hands.pick_up(target), f"You pick up {self.name(target)}.",
                          f"The {self.name(target)} pick up failed.")  # fmt: skip

    def _put_down(self, target: str) -> Observation:
        if self.hands.held != target:
            return self._reply(f"You are not holding {self.name(target)}.", "not held")
        place = self.hands.basin_of(self.here) if self.here else ""
        able = bool(place) and self.hands.objects[place]["receptacle"] and place != target
        if able and self.hands.put(place):
            return self._reply(f"You put {self.name(target)} on {self.name(self.here)}.", looks=True)
        why = self.hands.error if able else "there is nothing here to put it on"
        self.hands.drop()
        return self._reply("You put down failed, drop it.", why, looks=True)

    def _drop(self, target: str) -> Observation:
        if self.hands.held != target:
            return self._reply(f"You are not holding {self.name(target)}.", "not held")
        name = self.name(target)
        return self._done(self.hands.drop(), f"You drop {name}.", f"The {name} drop failed.")

    def _open(self, target: str) -> Observation:
        name = self.name(target)
        return self._done(self.hands.open(target), f"You open {name}.", f"The {name} is open failed.")

    def _close(self, target: str) -> Observation:
        entry = self.hands.objects[target]
        if entry["openable"] and not entry["isOpen"]:
            return self._reply(f"The {self.name(target)} is already closed.", "already closed")
        failed = "Object failed to open/close successfully."
        return self._done(self.hands.close(target), f"You close {self.name(target)}.", failed)

    def _turn(self, target: str, on: bool) -> Observation:
        entry, way, name = self.hands.objects[target], "on" if on else "off", self.name(target)
        if entry["toggleable"] and entry["isToggled"] == on:
            return self._reply(f"The {name} already turn {way}.", f"already {way}")
        done = self.hands.turn_on(target) if on else self.hands.turn_off(target)
        return self._done(done, f"You turn {way} {name}.", f"The {name} turn {way} failed.")

    _turn_on, _turn_off = partialmethod(_turn, on=True), partialmethod(_turn, on=False)

    def _slice(self, target: str) -> Observation:
        if not self.hands.slice(target):
            return self._reply(f"The {self.name(target)} slice failed.", self.hands.error)
        self._look()
        kind = kinds.id_kind(target)
        pieces = [i for i, e in self.hands.objects.items() if is_slice(e) and kinds.id_kind(i) == kind]
        return self._reply(f"You slice {self.name(target)}.", extra=f"{self.grouped(pieces)} are sliced.", looks=True)

    def named(self, phrase: str) -> list[Object]:
        """Returns the objects that a phrase means: `Apple (2)` one of them, `Apple` or `the apple` any of its kind."""
        found = NUMBERED.fullmatch(phrase.strip())
        if found:
            one = self.ids.get((found[1], int(found[2])))
            return [self.hands.objects[one]] if one in self.hands.objects else []
        words = kinds.without_article(phrase)
        kind = words if words in kinds.ALL else kinds.from_words(words)
        return [e for i, e in self.hands.objects.items() if kinds.id_kind(i) == kind and not e["isSliced"]]

    def skills(self) -> list[str]:
        return list(self._sentences())

    def _sentences(self) -> Iterator[str]:
        known = sorted((kinds.id_kind(i), self.numbers[i], i) for i in self.seen if i in self.hands.objects)
        things = [(i, self.hands.objects[i]) for _, _, i in known if not self.hands.objects[i]["isSliced"]]
        for i, entry in things:
            if not entry["isPickedUp"]:
                yield f"go to {self.name(i)}"
        if self.hands.held is not None:
            yield f"put down {self.name(self.hands.held)}"
            yield f"drop {self.name(self.hands.held)}"
        for i, entry in things:
            if entry["visible"]:
                yield from (f"{verb} {self.name(i)}" for verb in possible(entry, self.hands))


def apart(hands: Hands, named: Container[str]) -> set[str]:
    """Returns the objects of the task that no piece of furniture shows, such as a ball on the bare floor.

    The first look lists them; otherwise the robot could not go to them, and the task would be unsolvable."""
    objects = hands.objects
    wanted = {i: e for i, e in objects.items() if kinds.id_kind(i) in named and not _stands_out(e)}
    if not wanted or not hands.stands:
        return set()
    views = [(_nearest(hands.stands, _place(e)), _place(e)) for e in objects.values() if _stands_out(e)]
    return {
        thing for thing, entry in wanted.items()
        if not any(_seen_from(*view, _place(entry), _wide(entry, objects)) for view in views)
    }  # fmt: skip


def _wide(entry: Object, objects: Mapping[str, Object]) -> bool:
    """True when the thing lies on a wide piece of furniture, all of which is seen from one stand."""
    return any(objects[p]["objectType"] in kinds.WIDE for p in entry["parentReceptacles"] or () if p in objects)


def _nearest(stands: Iterable[tuple[float, float, float]], at: tuple[float, float]) -> tuple[float, float]:
    return min(((x, z) for x, _, z in stands), key=lambda stand: math.dist(stand, at))


def _place(entry: Object) -> tuple[float, float]:
    return entry["position"]["x"], entry["position"]["z"]


def _seen_from(stand: tuple[float, float], facing: tuple[float, float], place: tuple[float, float], wide: bool) -> bool:
    far = math.dist(stand, place)
    if wide and far <= FAR_END:
        return True
    turn, way = (math.atan2(to[0] - stand[0], to[1] - stand[1]) for to in (facing, place))
    off = abs((math.degrees(way - turn) + 180.0) % 360.0 - 180.0)
    return far <= SIGHT and (far <= AT_FEET or off <= HALF_VIEW)


def _stands_out(entry: Object) -> bool:
    """Returns True for objects visible from the door: furniture that holds things, and floor lamps."""
    furniture = entry["receptacle"] and not entry["pickupable"] and entry["objectType"] != "Floor"
    return bool(furniture) or entry["objectType"] == "FloorLamp"

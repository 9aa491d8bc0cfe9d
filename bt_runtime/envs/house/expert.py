"""The oracle of the house: it fetches one thing after the other, and says why. Its moves come in two forms:
`react` thinks and acts in one go; `reactree` expands, and every part is an agent node of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Literal

from bt_runtime.envs.house.goals import Condition
from bt_runtime.envs.house.notes import Notes, is_a, likely_first
from bt_runtime.envs.house.speech import listed
from bt_runtime.envs.house.world import HouseWorld
from bt_runtime.envs.phrases import capital, spin
from bt_runtime.envs.trajectory import Act, Enter, Expand, Leave, Moves, Recall, Think

Form = Literal["react", "reactree"]
Knows = Literal["seen", "all"]
Part = tuple[str, Callable[[], Moves]]  # a subgoal in words, and how it is reached
_BRING = ("on", "in")
_WHICH = ("the", "a second", "a third", "a fourth", "one more")  # parts of a plan that are no duplicates


@dataclass(slots=True)
class Expert:
    world: HouseWorld
    thoughts: Mapping[str, Sequence[str]]
    form: Form = "react"
    knows: Knows = "seen"
    recall: bool = True  # asks a working memory; without one, a node of a tree knows nothing of the others
    seed: int = 0
    notes: Notes = field(default_factory=Notes)
    _rng: Random = field(default_factory=Random)

    def run(self) -> Moves:
        """From where the world stands now to its goal. True when every part came out."""
        self._rng = Random(self.seed)
        self.notes.read(self.world.look().text, "")
        if self.knows == "all":
            self.notes.learn_all(self.world)
        parts = self._parts()
        yield self._think("plan", count=str(len(parts)), parts="; ".join(text for text, _ in parts))
        if self.form == "reactree" and len(parts) > 1:
            yield Expand("parallel", tuple(text for text, _ in parts))
        came_out = True
        for text, part in parts:
            came_out &= yield from self._node(text, part) if len(parts) > 1 else part()
        if self.form == "react" and came_out:
            yield self._think("done")
        return came_out

    def _parts(self) -> list[Part]:
        """The goal in pieces: first open what will be filled, then bring one thing at a time, then the rest."""
        later = [c for c in self.world.goal if c.relation not in _BRING]
        filled = {c.place for c in self.world.goal if c.relation == "in"}
        started = [
            place for place in dict.fromkeys(c.place for c in later if c.relation == "turned on") if place in filled
        ]
        found: list[Part] = [(f"find and open the {place}", partial(self._go_and, place, "open")) for place in started]
        for wanted in self.world.goal:
            if wanted.relation in _BRING:
                found += [
                    (self._wording(wanted, _WHICH[min(i, len(_WHICH) - 1)]), partial(self._bring, wanted))
                    for i in range(wanted.amount)
                ]
        for wanted in later:
            found.append(_last(wanted, self))
        return found

    def _wording(self, wanted: Condition, which: str) -> str:
        return f"move {which} {wanted.thing} {wanted.relation} the {wanted.place}"

    def _node(self, goal: str, part: Callable[[], Moves]) -> Moves:
        """In a tree, an agent node of its own; otherwise just the part."""
        if self.form == "react":
            return (yield from part())
        yield Enter(goal)
        self.notes.read(self.world.look().text, "")  # it is told where it begins, not what the others stood before
        came_out = yield from part()
        yield Leave("success" if came_out else "failure")
        return came_out

    # bring ---------------------------------------------------------------------------------------

    def _bring(self, wanted: Condition) -> Moves:
        first = f"find and pick up the {wanted.thing}"
        second = f"find the {wanted.place} and put down the {wanted.thing}"
        if self.form == "reactree":
            yield self._think("steps", first=first, second=second)
            yield Expand("sequence", (first, second))
        if not (yield from self._node(first, partial(self._find, wanted.thing))):
            return False
        return (yield from self._node(second, partial(self._put, wanted)))

    def _find(self, kind: str) -> Moves:
        name = None
        if self.recall and self.form == "reactree":
            yield self._think("recall", thing=kind)
        if self.recall:
            yield Recall(f"recall location of {kind}", self.notes.sightings(kind))
        if self.recall or self.form == "react" or self.knows == "all":
            name = self.notes.choose(kind)
        if name:
            return (yield from self._fetch(name))
        return (yield from self._search(kind))

    def _fetch(self, name: str) -> Moves:
        place, room = self.notes.saw[name]
        yield self._think("known", name=name, place=place, room=room)
        yield from self._be_in(room)
        if self.notes.place != place:
            yield from self._go(place)
        if name not in self.notes.sight:
            yield from self._open(place)
        return (yield from self._take(name))

    def _search(self, kind: str) -> Moves:
        """Room by room, likeliest first; the one where one stands comes early."""
        rooms = self._rooms_for()
        yield self._think("rooms", thing=kind, rooms=", ".join(rooms))
        if self.form == "reactree":
            yield Expand("fallback", tuple(f"find and pick up the {kind} in {room}" for room in rooms))
        for room in rooms:
            goal = f"find and pick up the {kind} in {room}"
            if (yield from self._node(goal, partial(self._search_room, kind, room))):
                return True
        yield self._think("nowhere", thing=kind)
        return False

    def _rooms_for(self) -> list[str]:
        catalogue, here = self.world.catalogue, self.notes.room
        rank = {room: catalogue.rank_of_room(room.rpartition(" ")[0]) for room in self.notes.rooms}
        return sorted(self.notes.rooms, key=lambda room: (room != here and rank[room] > 0, rank[room]))

    def _search_room(self, kind: str, room: str) -> Moves:
        if self.notes.room != room:
            yield self._think("enter", here=self.notes.room, room=room)
            yield from self._be_in(room)
        known = self.world.catalogue.things.get(kind.rstrip("0123456789 "))
        holds = [name for name, f in self.world.catalogue.furniture.items() if f.holds]
        places = likely_first(self.notes.fixtures.get(room, ()), known.kept if known else (), holds)
        if self.form == "react":  # a node of a tree is not told where others have looked
            places = [p for p in places if p not in self.notes.looked]
        if not places:
            yield self._think("none", thing=kind, room=room)
            return False
        yield self._think("places", thing=kind, room=room, places=_grouped(places))
        for place in places:
            yield from self._go(place)
            name = self._visible(kind)
            if name is None and self.notes.open.get(place) is False:
                yield from self._open(place)
                name = self._visible(kind)
            if name:
                return (yield from self._take(name))
        yield self._think("lost", thing=kind, room=room)
        return False

    def _visible(self, kind: str) -> str | None:
        seen = (n for n in sorted(self.notes.sight) if is_a(n, kind))
        return next((n for n in seen if n not in self.notes.placed and n not in self.notes.held), None)

    def _take(self, name: str) -> Moves:
        yield self._think("found", name=name)
        yield from self._act("pick up", name)
        if self.form == "reactree":
            yield self._think("done")
        return name in self.notes.held

    def _put(self, wanted: Condition) -> Moves:
        name = next((n for n in self.notes.held if is_a(n, wanted.thing)), "")
        yield self._think("carry", name=name, place=wanted.place)
        if not (yield from self._reach(wanted.place)):
            return False
        if self.notes.open.get(self.notes.place) is False and wanted.relation == "in":
            yield from self._open(self.notes.place)
        yield self._think("put", name=name, place=self.notes.place)
        yield from self._act("put down", name)
        self.notes.placed.add(name)
        self.notes.held = [n for n in self.notes.held if n != name]
        if self.form == "reactree":
            yield self._think("done")
        return True

    # places and switches -------------------------------------------------------------------------

    def _go_and(self, kind: str, verb: str) -> Moves:
        """Go to a place of that kind and do this to it, unless it is so already."""
        if not (yield from self._reach(kind)):
            return False
        place = self.notes.place
        if verb == "turn on":
            yield self._think("start", place=place)
            if self.notes.open.get(place) and self.world.catalogue.furniture[place.rpartition(" ")[0]].guarded:
                yield from self._act("close", place)
        if verb == "open":
            yield from self._open(place)
        elif verb != "close" or self.notes.open.get(place):
            yield from self._act(verb, place)
        if self.form == "reactree":
            yield self._think("done")
        return True

    def _reach(self, kind: str) -> Moves:
        """Stand at a fixture of that kind, looking for one if none was seen yet."""
        for room in [None, *self._rooms_for()]:
            if room is not None:
                yield self._think("seek", place=kind, room=room)
                yield from self._be_in(room)
            found = self.notes.where_is(kind)
            if found:
                if room is None and found[1] != self.notes.room:
                    yield self._think("seek", place=kind, room=found[1])
                yield from self._be_in(found[1])
                if self.notes.place != found[0]:
                    yield from self._go(found[0])
                return True
        return False

    def _be_in(self, room: str) -> Moves:
        if self.notes.room != room:
            yield from self._act("go to", room)
        return True

    def _go(self, place: str) -> Moves:
        return (yield from self._act("go to", place))

    def _open(self, place: str) -> Moves:
        if self.notes.open.get(place) is False:
            yield self._think("opens", place=place)
            yield from self._act("open", place)
        return True

    def _act(self, verb: str, name: str) -> Moves:
        yield Act(f"{verb} {name}")
        self.notes.read(self.world.last.text, name)
        return True

    def _think(self, key: str, **slots: str) -> Think:
        text = spin(self._rng.choice(self.thoughts[key]), self._rng)
        for slot, value in slots.items():
            text = text.replace(f"{{{slot}}}", value)
        return Think(capital(text))


def _grouped(places: Sequence[str]) -> str:
    """`desk 1, shelf 1, shelf 2` → desk (1), shelf (1, 2); the order stays."""
    numbers: dict[str, list[int]] = {}
    for place in places:
        kind, _, number = place.rpartition(" ")
        numbers.setdefault(kind, []).append(int(number))
    return listed((kind, tuple(own)) for kind, own in numbers.items())


def _last(wanted: Condition, expert: Expert) -> Part:
    """What is done when everything was brought."""
    place, thing = wanted.place, wanted.thing
    if wanted.relation == "held":
        return f"find and pick up the {thing}", partial(expert._find, thing)
    verb = {"turned on": "turn on", "turned off": "turn off", "closed": "close", "open": "open", "sat on": "sit on"}
    text = (
        f"close and turn on the {place}" if wanted.relation == "turned on" else f"{verb[wanted.relation]} the {place}"
    )
    return text, partial(expert._go_and, place, verb[wanted.relation])

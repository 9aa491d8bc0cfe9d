"""The house's oracle: it yields sentences that fetch one thing after the other."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from bt_envs.house.goals import Condition
from bt_envs.house.notes import Notes, is_a, likely_first
from bt_envs.house.world import HouseWorld

Knows = Literal["seen", "all"]
Acts = Generator[str, None, bool]  # sentences, each of which is acted before the next is asked for; did it come out?
_BRING = ("on", "in")
_VERBS = {"turned on": "turn on", "turned off": "turn off", "closed": "close", "open": "open", "sat on": "sit on"}


@dataclass(slots=True)
class Expert:
    world: HouseWorld
    knows: Knows = "seen"
    notes: Notes = field(default_factory=Notes)

    def run(self) -> Acts:
        """Acts from the present state to the goal; returns True when every part succeeded."""
        self.notes.read(self.world.look().text, "")
        if self.knows == "all":
            self.notes.learn_all(self.world)
        came_out = True
        for part in self._parts():
            came_out &= yield from part()
        return came_out

    def _parts(self) -> list[Callable[[], Acts]]:
        """Splits the goal: opens containers first, then brings one thing at a time, then does the rest."""
        later = [c for c in self.world.goal if c.relation not in _BRING]
        filled = {c.place for c in self.world.goal if c.relation == "in"}
        started = [
            place for place in dict.fromkeys(c.place for c in later if c.relation == "turned on") if place in filled
        ]
        found: list[Callable[[], Acts]] = [partial(self._go_and, place, "open") for place in started]
        for wanted in self.world.goal:
            if wanted.relation in _BRING:
                found += [partial(self._bring, wanted)] * wanted.amount
        return [*found, *(partial(self._finish, wanted) for wanted in later)]

    def _finish(self, wanted: Condition) -> Acts:
        """Yields the acts that complete a condition after every thing was brought."""
        if wanted.relation == "held":
            return (yield from self._find(wanted.thing))
        return (yield from self._go_and(wanted.place, _VERBS[wanted.relation]))

    # bring ---------------------------------------------------------------------------------------

    def _bring(self, wanted: Condition) -> Acts:
        return (yield from self._find(wanted.thing)) and (yield from self._put(wanted))

    def _find(self, kind: str) -> Acts:
        name = self.notes.choose(kind)
        return (yield from self._fetch(name) if name else self._search(kind))

    def _fetch(self, name: str) -> Acts:
        place, room = self.notes.saw[name]
        yield from self._be_in(room)
        if self.notes.place != place:
            yield from self._go(place)
        if name not in self.notes.sight:
            yield from self._open(place)
        return (yield from self._take(name))

    def _search(self, kind: str) -> Acts:
        """Searches the rooms for a kind, most likely room first; the current room comes early."""
        for room in self._rooms_for():
            if (yield from self._search_room(kind, room)):
                return True
        return False

    def _rooms_for(self) -> list[str]:
        catalogue, here = self.world.catalogue, self.notes.room
        rank = {room: catalogue.rank_of_room(room.rpartition(" ")[0]) for room in self.notes.rooms}
        return sorted(self.notes.rooms, key=lambda room: (room != here and rank[room] > 0, rank[room]))

    def _search_room(self, kind: str, room: str) -> Acts:
        yield from self._be_in(room)
        known = self.world.catalogue.things.get(kind.rstrip("0123456789 "))
        holds = [name for name, f in self.world.catalogue.furniture.items() if f.holds]
        places = likely_first(self.notes.fixtures.get(room, ()), known.kept if known else (), holds)
        for place in [p for p in places if p not in self.notes.looked]:
            yield from self._go(place)
            name = self._visible(kind)
            if name is None and self.notes.open.get(place) is False:
                yield from self._open(place)
                name = self._visible(kind)
            if name:
                return (yield from self._take(name))
        return False

    def _visible(self, kind: str) -> str | None:
        seen = (n for n in sorted(self.notes.sight) if is_a(n, kind))
        return next((n for n in seen if n not in self.notes.placed and n not in self.notes.held), None)

    def _take(self, name: str) -> Acts:
        yield from self._act("pick up", name)
        return name in self.notes.held

    def _put(self, wanted: Condition) -> Acts:
        name = next((n for n in self.notes.held if is_a(n, wanted.thing)), "")
        if not (yield from self._reach(wanted.place)):
            return False
        if wanted.relation == "in":
            yield from self._open(self.notes.place)
        yield from self._act("put down", name)
        self.notes.placed.add(name)
        self.notes.held = [n for n in self.notes.held if n != name]
        return True

    # places and switches -------------------------------------------------------------------------

    def _go_and(self, kind: str, verb: str) -> Acts:
        """Goes to a place of this kind and applies the verb, unless its state is right already."""
        if not (yield from self._reach(kind)):
            return False
        place = self.notes.place
        guarded = self.world.catalogue.furniture[place.rpartition(" ")[0]].guarded
        if verb == "turn on" and self.notes.open.get(place) and guarded:
            yield from self._act("close", place)
        if verb == "open":
            yield from self._open(place)
        elif verb != "close" or self.notes.open.get(place):
            yield from self._act(verb, place)
        return True

    def _reach(self, kind: str) -> Acts:
        """Goes to a fixture of this kind; searches for one if none was seen yet."""
        for room in [None, *self._rooms_for()]:
            if room is not None:
                yield from self._be_in(room)
            found = self.notes.where_is(kind)
            if found:
                yield from self._be_in(found[1])
                if self.notes.place != found[0]:
                    yield from self._go(found[0])
                return True
        return False

    def _be_in(self, room: str) -> Acts:
        if self.notes.room != room:
            yield from self._act("go to", room)
        return True

    def _go(self, place: str) -> Acts:
        return (yield from self._act("go to", place))

    def _open(self, place: str) -> Acts:
        if self.notes.open.get(place) is False:
            yield from self._act("open", place)
        return True

    def _act(self, verb: str, name: str) -> Acts:
        yield f"{verb} {name}"
        self.notes.read(self.world.last.text, name)
        return True

"""Holds an expert's knowledge of a house: what observations have told, or everything."""

from __future__ import annotations

from collections.abc import Sequence

from bt_envs.house.speech import Said, hear
from bt_envs.house.world import HouseWorld


class Notes:
    """What an agent knows of the house: from observations alone, unless `learn_all` is called."""

    def __init__(self) -> None:
        self.rooms: list[str] = []
        self.room = ""
        self.place = ""  # gone to last; "" in the middle of a room
        self.fixtures: dict[str, list[str]] = {}  # room → what a glance showed
        self.saw: dict[str, tuple[str, str]] = {}  # thing → (place, room)
        self.looked: set[str] = set()  # places whose contents have been seen
        self.open: dict[str, bool] = {}
        self.held: list[str] = []
        self.placed: set[str] = set()  # things that are where they should be
        self.sight: set[str] = set()  # things that the last observation listed

    def read(self, text: str, place: str) -> None:
        """Reads an observation; `place` is the place that the acted sentence named."""
        said = hear(text)
        if said is None:
            return
        self._where(said, place)
        names = [f"{kind} {n}" for kind, numbers in said.seen or () for n in numbers]
        self.held = [f"{kind} {n}" for kind, numbers in said.held for n in numbers]
        if said.head in ("start", "room"):
            self.fixtures[self.room] = names
            self.sight = set()
        elif said.seen is not None:
            self.sight = set(names)
            for name in names:
                if name not in self.held:
                    self.saw[name] = (self.place, self.room)
            if self.open.get(self.place, True):
                self.looked.add(self.place)

    def _where(self, said: Said, place: str) -> None:
        if said.head == "start":
            self.rooms = [f"{kind} {n}" for kind, n in _pairs(said.slots["rooms"])]
        if said.head in ("start", "room"):
            self.room, self.place = f"{said.slots['t']} {said.slots['n']}", ""
        elif said.head.startswith("arrive"):
            self.place = place
            if said.head != "arrive":
                self.open[place] = said.head == "arrive open"
        elif said.head in ("open", "close"):
            self.open[place] = said.head == "open"

    def learn_all(self, world: HouseWorld) -> None:
        """Adds full knowledge: the view of every room, and the position of each thing."""
        house, state = world.house, world.state
        for i, room in enumerate(house.rooms):
            self.fixtures[room.name] = [house.fixtures[f].name for f in house.glance[i]]
        for thing, place in enumerate(state.place):
            if place >= 0:
                fixture = house.fixtures[place]
                self.saw[state.name(thing)] = (fixture.name, house.rooms[fixture.room].name)

    def choose(self, kind: str) -> str | None:
        """Returns a seen thing of this kind that is still available, the nearest first."""
        known = [n for n in self.saw if is_a(n, kind) and n not in self.placed and n not in self.held]
        return min(known, key=self._distance, default=None)

    def _distance(self, name: str) -> int:
        place, room = self.saw[name]
        return 0 if place == self.place and room == self.room else 1 if room == self.room else 2

    def where_is(self, kind: str) -> tuple[str, str] | None:
        """Returns (fixture, room) of a fixture of this kind or name, preferably in the current room."""
        found = [(f, room) for room, names in self.fixtures.items() for f in names if is_a(f, kind)]
        return min(found, key=lambda f: f[1] != self.room, default=None)


def is_a(name: str, kind: str) -> bool:
    """True when `name` is of the kind, as `cup 1` is a `cup`, or is that very thing."""
    return name == kind or name.rpartition(" ")[0] == kind


def _pairs(rooms: str) -> list[tuple[str, int]]:
    said = hear(f"You move to the x (1). Looking quickly around the room, you see {rooms}.")
    return [(kind, n) for kind, numbers in (said.seen or () if said else ()) for n in numbers]


def likely_first(places: Sequence[str], kept: Sequence[str], holds: Sequence[str]) -> list[str]:
    """Orders receptacles: those where the thing is usually kept come first."""
    rank = {kind: i for i, kind in enumerate(kept)}
    usable = [p for p in places if p.rpartition(" ")[0] in holds]
    return sorted(usable, key=lambda p: rank.get(p.rpartition(" ")[0], len(rank)))

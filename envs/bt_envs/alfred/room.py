"""A symbolic room as data: where things are, and where the robot can stand. The player receives it as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import NamedTuple

from bt_envs.alfred import kinds
from bt_runtime.types import Json

GRID = 0.25
CLEARANCE = 0.4  # how near to the middle of a piece of furniture one can stand


class Point(NamedTuple):
    x: float
    y: float  # height
    z: float

    def flat(self, other: Point) -> float:
        """The distance on the floor, without height."""
        return math.hypot(self.x - other.x, self.z - other.z)


@dataclass(frozen=True, slots=True)
class RoomThing:
    id: str
    kind: str
    at: Point
    parent: str | None = None  # the receptacle that it lies in or on
    open: bool = False
    on: bool = False
    dirty: bool = False


@dataclass(frozen=True, slots=True)
class Room:
    name: str
    scene: str  # kitchen, living room, bedroom, bathroom
    things: tuple[RoomThing, ...]
    stands: tuple[tuple[float, float], ...]  # x, z of every place where the robot can stand
    start: tuple[float, float, float] = (0.0, 0.0, 0.0)  # x, z, turn in degrees
    about: str = field(default="", compare=False)

    def thing(self, thing_id: str) -> RoomThing | None:
        return next((t for t in self.things if t.id == thing_id), None)

    def contents(self, thing_id: str) -> list[RoomThing]:
        return [t for t in self.things if t.parent == thing_id]

    def to_json(self) -> dict[str, Json]:
        things = [{name: getattr(thing, name) for name in _THING} for thing in self.things]
        rest = {"name": self.name, "scene": self.scene, "about": self.about}
        return {**rest, "things": things, "stands": self.stands, "start": self.start}


_THING = tuple(f.name for f in fields(RoomThing))


def from_json(data: Mapping[str, Json]) -> Room:
    things = tuple(RoomThing(**{**thing, "at": Point(*thing["at"])}) for thing in data["things"])
    check_containment(things)
    stands = tuple((float(x), float(z)) for x, z in data["stands"])
    x, z, turn = data["start"]
    return Room(data["name"], data["scene"], things, stands, (x, z, turn), data.get("about", ""))


def check_containment(things: Sequence[RoomThing]) -> None:
    """Raises for a thing inside itself, because a search for it would not end."""
    parents = {thing.id: thing.parent for thing in things}
    if len(parents) < len(things):
        raise ValueError("two things have one id")
    sound: set[str | None] = {None}
    for thing in things:
        way: list[str] = []
        inside: str | None = thing.id
        while inside not in sound:
            if inside is None or inside in way:
                raise ValueError(f"{inside} is inside itself")
            way.append(inside)
            inside = parents[inside]
        sound.update(way)


def make_id(kind: str, at: Point) -> str:
    """An id as the simulator writes it: `Apple|+01.41|+01.20|-01.00`."""
    basin = kinds.INHERITED.get(kind)
    numbers = (f"{value:+06.2f}" for value in at)
    place = "|".join("00.00" if float(number) == 0 else number for number in numbers)
    return f"{basin}|{place}|{kind}" if basin else f"{kind}|{place}"


def spread(parent: Point, index: int) -> Point:
    """The place of the nth thing on a receptacle: a small spiral around its middle."""
    radius, angle = 0.08 * math.sqrt(index + 1), 2.4 * index
    x, z = parent.x + radius * math.cos(angle), parent.z + radius * math.sin(angle)
    return Point(round(x, 3), round(parent.y + 0.05, 3), round(z, 3))


def stands_of(size: tuple[float, float], things: Sequence[RoomThing]) -> tuple[tuple[float, float], ...]:
    """Returns every grid point of the floor that no furniture occupies."""
    solid = [t.at for t in things if t.parent is None and t.kind in kinds.FURNITURE]
    columns, rows = int(size[0] / GRID), int(size[1] / GRID)
    points = [Point(i * GRID, 0.0, j * GRID) for i in range(1, columns) for j in range(1, rows)]
    return tuple((p.x, p.z) for p in points if all(p.flat(s) >= CLEARANCE for s in solid))


def place(room: Room, where: Mapping[str, str]) -> Room:
    """Returns the room with some things moved. `where` maps a thing's id to its new receptacle's."""
    at = {t.id: t.at for t in room.things}
    taken: dict[str, int] = {}
    moved = []
    for thing in room.things:
        parent = where.get(thing.id, thing.parent)
        if parent is not None and (thing.id in where or parent in where.values()):
            taken[parent] = taken.get(parent, -1) + 1
            thing = replace(thing, parent=parent, at=spread(at[parent], taken[parent]))
        moved.append(thing)
    return replace(room, things=tuple(moved))

"""Describes a house before the first act: rooms, furniture with positions, and pairs of furniture that stand close
together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bt_envs.house.catalogue import Furniture

NEAR = 1.2  # metres between boxes; the apartments' own CLOSE edges agree with this best (F1 0.93)


class Box(NamedTuple):
    """Centre and size, in metres."""

    centre: tuple[float, float, float]
    size: tuple[float, float, float]

    def gap(self, other: Box) -> float:
        """The distance between two boxes in metres."""
        total = 0.0
        for a, b, p, q in zip(self.centre, other.centre, self.size, other.size, strict=True):
            total += max(0.0, abs(a - b) - (p + q) / 2) ** 2
        return float(total**0.5)


@dataclass(frozen=True, slots=True)
class Fixture:
    """A piece of furniture, such as `fridge 1`."""

    furniture: Furniture
    number: int
    room: int
    box: Box

    @property
    def name(self) -> str:
        return f"{self.furniture.name} {self.number}"


class HouseRoom(NamedTuple):
    kind: str  # "bedroom"
    number: int

    @property
    def name(self) -> str:
        return f"{self.kind} {self.number}"


@dataclass(frozen=True)
class House:
    name: str
    rooms: tuple[HouseRoom, ...]
    fixtures: tuple[Fixture, ...]
    near: tuple[tuple[int, ...], ...]  # for each fixture: itself and what is close to it in the same room
    glance: tuple[tuple[int, ...], ...]  # for each room: what is seen from its middle
    room_of: Mapping[str, int]
    index: Mapping[str, int]  # "fridge 1" → its place in `fixtures`

    def of_class(self, name: str) -> list[int]:
        """Returns every fixture of a class, or the one that is named with its number."""
        if name in self.index:
            return [self.index[name]]
        return [i for i, f in enumerate(self.fixtures) if f.furniture.name == name]


def build(
    name: str, rooms: Sequence[HouseRoom], fixtures: Iterable[Fixture], close: Iterable[Sequence[int]] | None = None
) -> House:
    """Builds a house. `close` lists pairs of close fixtures, for a house without positions."""
    placed = tuple(fixtures)
    by_room: list[list[int]] = [[] for _ in rooms]
    for i, fixture in enumerate(placed):
        by_room[fixture.room].append(i)
    told = None if close is None else {frozenset(pair) for pair in close}

    def beside(i: int, j: int) -> bool:
        return placed[i].box.gap(placed[j].box) <= NEAR if told is None else frozenset((i, j)) in told

    near = tuple(tuple(j for j in by_room[f.room] if j == i or beside(i, j)) for i, f in enumerate(placed))
    glance = tuple(tuple(i for i in own if placed[i].furniture.seen) for own in by_room)
    return House(
        name,
        tuple(rooms),
        placed,
        near,
        glance,
        {room.name: i for i, room in enumerate(rooms)},
        {fixture.name: i for i, fixture in enumerate(placed)},
    )


def along_walls(widths: Sequence[float], origin: tuple[float, float]) -> Iterator[Box]:
    """Places boxes side by side along the walls of a room, in order, with a small gap between them."""
    lengths = [w + 0.15 for w in widths]
    side = max(2.4, sum(lengths) / 4 + 0.8)
    walked = 0.0
    for width, length in zip(widths, lengths, strict=True):
        yield Box(_on_square(walked + length / 2, side, origin), (width, 1.0, 0.8))
        walked += length


def _on_square(walked: float, side: float, origin: tuple[float, float]) -> tuple[float, float, float]:
    wall, along = divmod(walked, side)
    x, z = ((along, 0.0), (side, along), (side - along, side), (0.0, side - along))[int(wall) % 4]
    return origin[0] + x, 0.5, origin[1] + z

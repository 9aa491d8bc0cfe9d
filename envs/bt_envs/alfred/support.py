"""Finds the furniture below a thing when only the thing's position is known: the nearest piece that takes such a
thing."""

from __future__ import annotations

from collections.abc import Iterable

from bt_envs.alfred import kinds
from bt_envs.alfred.room import Point

REACH = 0.6  # metres; farther from everything, it lies on the floor
# Furniture whose own height is given at the floor.
LOW_PIVOT = {*kinds.WIDE, "SideTable", "CoffeeTable", "Fridge", "ArmChair", "Toilet"} - {"CounterTop"}


def support(kind: str, at: Point, furniture: Iterable[tuple[str, str, Point]]) -> str | None:
    """Returns the id of the nearest piece of furniture that takes such a thing, or None when the thing lies on the
    floor. `furniture` lists the id, kind and position of each piece."""
    near = [(_gap(at, place, piece), piece_id) for piece_id, piece, place in furniture if kinds.fits(kind, piece)]
    gap, found = min(near, default=(REACH, ""))
    return found if gap < REACH else None


def _gap(at: Point, place: Point, piece: str) -> float:
    across = max(0.0, at.flat(place) - kinds.WIDE.get(piece, 0.15))
    up = at.y - place.y
    return across + (0.0 if piece in LOW_PIVOT and -0.1 <= up <= 1.6 else abs(up))

"""Rooms for lessons in ALFRED's tasks: furniture along the walls, things on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from bt_envs.alfred import kinds
from bt_envs.alfred.room import Room
from bt_envs.thor.rooms import parse
from recipes.starter import data

_MANY = 16  # pieces of one kind in a long room
_PARTS = {"SinkBasin": ("Sink", "Faucet"), "BathtubBasin": ("Bathtub",)}


def make_room(name: str, rng: Random, wanted: str = "", sort: str = "") -> Room:
    """Furniture along the walls, things on it. Where a task of a type is wanted it is a room for that, and small; one
    that is `full` has little furniture and much on it, and a `long` one has much of a kind and little on it."""
    words = data.read("thor/lessons")
    scene = rng.choice(words["where"].get(wanted) or [*words["rooms"], "kitchen", "kitchen"])
    wide, deep = (rng.choice((4.5, 5.0, 5.5, 6.0)) + (0.0 if wanted or sort == "full" else 2.0) for _ in range(2))
    spots = [(x / 2 + 0.5, z) for x in range(int(wide * 2) - 1) for z in (0.3, deep - 0.3)]
    spots += [(x, z / 2 + 1.0) for z in range(int(deep * 2) - 3) for x in (0.3, wide - 0.3)]
    rng.shuffle(spots)
    lines = [f"version: 1\nroom: {name}\nscene: {scene}\nsize: [{wide}, {deep}]"]
    lines.append(f"start: {{at: [{wide / 2}, {deep / 2}], turn: {rng.choice((0, 90, 180, 270))}}}\nfurniture:")
    pieces = _pieces(words["rooms"][scene]["furniture"], rng, wanted, sort)[: len(spots)]
    held = _laid(pieces, words["rooms"][scene]["things"], rng, sort)
    for piece, things in zip(pieces, held, strict=True):
        lines += _stood(piece, spots.pop(), things)
    for other in rng.sample(words["beside"], rng.randint(0, min(3, len(spots)))):
        lines += _stood(other, spots.pop(), [])
    return parse("\n".join(lines))


def _pieces(furniture: Mapping[str, list[int]], rng: Random, wanted: str, sort: str) -> list[str]:
    found: list[str] = []
    many = rng.choice([piece for piece, (least, most) in furniture.items() if most - least > 2])
    for piece, (least, most) in furniture.items():
        leaning = 1.0 if most - least < 2 else 2.5 if wanted else 1.2
        count = least + int((most + 1 - least) * rng.random() ** leaning)
        if sort == "full":
            count = rng.choice((0, 0, 1, 1, 2)) if count > 1 else count * rng.randint(0, 1)
        elif sort == "long":
            count = rng.randint(9, _MANY) if piece == many else min(count, rng.choice((0, 0, 1, 2)))
        found += [piece] * count
    if sort == "full":
        found = sorted(rng.sample(found, min(len(found), rng.randint(2, 6))), key=found.index)
    return found or [many]


def _laid(pieces: Sequence[str], things: Sequence[str], rng: Random, sort: str) -> list[list[str]]:
    """What lies on each: a garbage can has as much as all cabinets, since who looks into it must not pass by."""
    held: list[list[str]] = [[] for _ in pieces]
    often = {"full": (1, 1, 2, 3), "long": (0, 0, 0, 1)}.get(sort, (0, 1, 1, 2))
    for thing in rng.sample(things, len(things)):
        for _ in range(rng.choice(often)):
            fit = [
                i for i, piece in enumerate(pieces)
                if piece in kinds.FURNITURE and kinds.fits(thing, piece)
                and len(held[i]) < min(kinds.room_for(piece), 9)
            ]  # fmt: skip
            if fit:
                kind = rng.choice(sorted({pieces[i] for i in fit}))
                held[rng.choice([i for i in fit if pieces[i] == kind])].append(thing)
    return held


def _stood(piece: str, at: tuple[float, float], held: Sequence[str]) -> list[str]:
    """A piece of furniture, and what lies there. A basin is a part of something."""
    spot = f"at: [{at[0]}, {at[1]}]"
    beside = [f"- {kind}: {{{spot}}}" for kind in _PARTS.get(piece, ())]
    return [f"- {piece}: {{{spot}{', holds: [' + ', '.join(held) + ']' if held else ''}}}", *beside]

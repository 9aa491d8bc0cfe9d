"""A house of our own: YAML with one line a room, furniture in the order in which it stands along the walls."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bt_runtime.envs.content import read_yaml, words
from bt_runtime.envs.house.catalogue import Catalogue, Furniture
from bt_runtime.envs.house.layout import Fixture, House, Room, along_walls, build
from bt_runtime.faults.diagnostic import BtError, nearest

_ROOM = re.compile(r"(.+) (\d{1,6})")
_MANY = re.compile(r"(.+?) x(\d{1,2})")


def read_home(path: Path, catalogue: Catalogue) -> tuple[House, str]:
    """The house in that file, and the split whose tasks it serves."""
    found = read_yaml(path)
    rooms: list[Room] = []
    fixtures: list[Fixture] = []
    numbers: Counter[str] = Counter()
    for text, line in words(found, "rooms", path).items():
        rooms.append(_room(text, path))
        pieces = list(_pieces(line, catalogue, path))
        boxes = along_walls([p.width for p in pieces], (100.0 * len(rooms), 0.0))
        for piece, box in zip(pieces, boxes, strict=True):
            numbers[piece.name] += 1
            fixtures.append(Fixture(piece, numbers[piece.name], len(rooms) - 1, box))
    if not rooms:
        raise BtError(f"{path}: a house needs a room", "give `rooms:` such as `kitchen 1: fridge, sink`")
    return build(str(found.get("house", path.stem)), rooms, fixtures), str(found.get("split", "train"))


def _room(text: str, path: Path) -> Room:
    named = _ROOM.fullmatch(text.strip())
    if named is None:
        raise BtError(f"{path}: room `{text}` has no number", f"write `{text} 1`")
    return Room(named[1], int(named[2]))


def _pieces(line: str, catalogue: Catalogue, path: Path) -> Iterator[Furniture]:
    """`chair x2, sofa` → chair, chair, sofa."""
    for word in filter(None, (w.strip() for w in line.split(","))):
        many = _MANY.fullmatch(word)
        name, count = (many[1], int(many[2])) if many else (word, 1)
        if name not in catalogue.furniture:
            guess = nearest(name, catalogue.furniture)
            hint = f"did you mean `{guess}`?" if guess else "describe it under `fixtures` in things.yaml"
            raise BtError(f"{path}: no furniture is called `{name}`", hint)
        yield from [catalogue.furniture[name]] * count

"""Reads a house of ours: YAML with one line a room; furniture in its order along the walls."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bt_envs.house.catalogue import Catalogue, Furniture
from bt_envs.house.layout import Fixture, House, HouseRoom, along_walls, build
from bt_runtime.language.faults.diagnostic import did_you_mean
from bt_runtime.skills.worlds.content import OPEN, TEXT, Content, by_name, check_of, read_yaml

_ROOM = re.compile(r"(.+) (\d{1,6})")
_MANY = re.compile(r"(.+?) x(\d{1,2})")
_ROOMS = {**by_name(OPEN), "minProperties": 1,
          "errorMessage": "A house has rooms, such as `rooms: {kitchen 1: fridge, sink}`"}  # fmt: skip
_SPLIT = {"enum": ["train", "eval"]}
CHECK = check_of("a house", {"house": TEXT, "split": _SPLIT, "rooms": _ROOMS}, ("rooms",))


def read_home(path: Path, catalogue: Catalogue) -> tuple[House, str]:
    """Reads the house in a file and the split whose tasks the house serves."""
    content = read_yaml(path, CHECK)
    found = content.data
    rooms: list[HouseRoom] = []
    fixtures: list[Fixture] = []
    numbers: Counter[str] = Counter()
    for text, line in found["rooms"].items():
        rooms.append(_room(text, content))
        pieces = list(_pieces(text, str(line or ""), catalogue, content))
        boxes = along_walls([p.width for p in pieces], (100.0 * len(rooms), 0.0))
        for piece, box in zip(pieces, boxes, strict=True):
            numbers[piece.name] += 1
            fixtures.append(Fixture(piece, numbers[piece.name], len(rooms) - 1, box))
    return build(str(found.get("house", path.stem)), rooms, fixtures), str(found.get("split", "train"))


def _room(text: str, content: Content) -> HouseRoom:
    named = _ROOM.fullmatch(text.strip())
    if named is None:
        raise content.fault(f"room `{text}` has no number", f"write `{text} 1`", "rooms", text)
    return HouseRoom(named[1], int(named[2]))


def _pieces(room: str, line: str, catalogue: Catalogue, content: Content) -> Iterator[Furniture]:
    """`chair x2, sofa` → chair, chair, sofa."""
    for word in filter(None, (w.strip() for w in line.split(","))):
        many = _MANY.fullmatch(word)
        name, count = (many[1], int(many[2])) if many else (word, 1)
        if name not in catalogue.furniture:
            hint = did_you_mean(name, catalogue.furniture, "describe it under `fixtures` in things.yaml")
            raise content.fault(f"no furniture is called `{name}`", hint, "rooms", room)
        yield from [catalogue.furniture[name]] * count

"""Builds a house and its state from a task's data, which is pure JSON and therefore portable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from bt_envs.house.catalogue import Catalogue, described
from bt_envs.house.layout import Box, Fixture, House, HouseRoom, build
from bt_envs.house.state import InitialThing, State, begin
from bt_runtime.language.faults.diagnostic import BtError


def house_of(data: Mapping[str, Any], catalogue: Catalogue) -> House:
    """Builds the house stored in a task's data.

    `rooms` lists names; `fixtures` lists class, room, centre and size. `described` defines classes that the
    catalogue lacks. `close` lists pairs of neighbouring fixtures, for data without positions."""
    rooms = [HouseRoom(name.rpartition(" ")[0], int(name.rpartition(" ")[2])) for name in data["rooms"]]
    numbers: Counter[str] = Counter()
    fixtures = []
    unknown = data.get("described", {})
    for kind, room, centre, size in data["fixtures"]:
        numbers[kind] += 1
        furniture = catalogue.furniture.get(kind) or described(kind, unknown.get(kind, ""), "this task")
        fixtures.append(Fixture(furniture, numbers[kind], int(room), Box(tuple(centre), tuple(size))))
    return build(str(data.get("name", "")), rooms, fixtures, data.get("close"))


def state_of(data: Mapping[str, Any], house: House) -> State:
    """Builds the state. `things` lists (class, place, on | in | by); `open` and `running` list places; `start` lists
    one room for each body."""
    things = [InitialThing(str(kind), _place(place, house), _way(how)) for kind, place, how in data.get("things", ())]
    rooms = [_room(name, house) for name in data.get("start", ())] or [0]
    opened = [_place(name, house) for name in data.get("open", ())]
    running = [_place(name, house) for name in data.get("running", ())]
    return begin(house, things, rooms, opened, running)


def _place(name: str, house: House) -> int:
    if name not in house.index:
        raise BtError(f"the house `{house.name}` has no `{name}`", "a task names places of its own house only")
    return house.index[name]


def _way(how: str) -> str:
    if how not in ("on", "in", "by"):
        raise ValueError(f"a thing lies on, in or by a place, not {how!r}")
    return how


def _room(name: str, house: House) -> int:
    if name not in house.room_of:
        raise BtError(f"the house `{house.name}` has no room `{name}`", f"rooms: {', '.join(house.room_of)}")
    return house.room_of[name]

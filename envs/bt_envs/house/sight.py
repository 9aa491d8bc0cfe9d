"""Collects the things that a body sees and holds, in the form that `speech` turns into text."""

from __future__ import annotations

from bt_envs.house.layout import House
from bt_envs.house.speech import Group, Said, groups
from bt_envs.house.state import Body, State


def glance(house: House, state: State, body: Body, head: str) -> Said:
    """Describes a look round the room. `head` is "room" on entering a room, and "start" for an agent that begins
    there."""
    room = house.rooms[body.room]
    seen = groups((house.fixtures[i].furniture.name, house.fixtures[i].number) for i in house.glance[body.room])
    slots = {"t": room.kind, "n": str(room.number)}
    if head == "start":
        rooms = groups((r.kind, r.number) for r in house.rooms)
        slots["count"] = str(len(house.rooms))
        slots["rooms"] = ", ".join(f"{kind} ({', '.join(map(str, numbers))})" for kind, numbers in rooms)
    return Said(head, slots, seen, held(state, body))


def arrival(house: House, state: State, body: Body, name: str, is_open: bool | None) -> Said:
    """Describes an arrival. `is_open` is None for furniture without a door."""
    head = "arrive" if is_open is None else "arrive open" if is_open else "arrive closed"
    kind, _, number = name.rpartition(" ")
    return Said(head, {"t": kind, "n": number}, near(house, state, body), held(state, body))


def near(house: House, state: State, body: Body) -> tuple[Group, ...]:
    """Lists the furniture and things nearby."""
    found = [(house.fixtures[i].furniture.name, house.fixtures[i].number) for i in state.in_reach(house, body)]
    found += [(state.kinds[thing], state.numbers[thing]) for thing in state.in_sight(house, body)]
    return groups(found)


def held(state: State, body: Body) -> tuple[Group, ...]:
    return groups((state.kinds[thing], state.numbers[thing]) for thing in body.hands) if body.hands else ()

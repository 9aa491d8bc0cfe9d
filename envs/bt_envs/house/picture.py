"""The house as the page draws it."""

from __future__ import annotations

from typing import Any

from bt_envs.house.layout import House
from bt_envs.house.state import State
from bt_runtime.types import Json


def picture(house: House, state: State) -> Json:
    """Returns the page's picture: rooms, furniture, things and hands: `{"is": "house", …}`."""
    body = state.bodies[0]
    rooms: list[dict[str, Any]] = [
        {"name": room.name, "here": body.room == i, "places": []} for i, room in enumerate(house.rooms)
    ]
    for i, fixture in enumerate(house.fixtures):
        shut = fixture.furniture.opens and i not in state.open
        things = [_thing(state, thing, shut) for thing in state.contents[i]]
        place = {"name": fixture.name, "here": body.at == i, "things": things}
        if fixture.furniture.opens:
            place["open"] = i in state.open
        if i in state.running:
            place["on"] = True
        rooms[fixture.room]["places"].append(place)
    hands = [state.name(thing) for thing in body.hands]
    return {"is": "house", "name": house.name, "rooms": rooms, "hands": hands}


def _thing(state: State, thing: int, shut: bool) -> Json:
    said, made = state.name(thing), state.made.get(thing)
    said += f" ({', '.join(sorted(made))})" if made else ""
    return {"name": said, "hidden": bool(shut and state.how[thing] == "in")}

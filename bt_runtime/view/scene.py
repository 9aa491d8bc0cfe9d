"""A picture of a world as it stands now, as data that the page draws. A world may give its own: `picture()`.

`{"is": "house", rooms, at, hands}`, `{"is": "bag", goal, bag, recipes}`, `{"is": "image", png, text}` or
`{"is": "text", text}`. Anything unknown is shown as text.
"""

from __future__ import annotations

import base64
import json
import struct
import zlib
from typing import Any

from bt_runtime.types import Json
from bt_runtime.view.plain import clipped, plain


def picture(world: Any) -> Json:
    """None when there is nothing to see. A world that breaks while it is looked at is shown as that."""
    if world is None:
        return None
    try:
        if hasattr(world, "picture"):
            return plain(world.picture())
        if hasattr(world, "house") and hasattr(world, "state"):
            return _house(world)
        if hasattr(world, "book"):
            return _bag(world)
        return _seen(world)
    except Exception as error:
        return {"is": "text", "text": f"The world cannot be looked at: {type(error).__name__}: {error}"}


def _house(world: Any) -> Json:
    house, state = world.house, world.state
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


def _thing(state: Any, thing: int, shut: bool) -> Json:
    said, made = state.name(thing), state.made.get(thing)
    said += f" ({', '.join(sorted(made))})" if made else ""
    return {"name": said, "hidden": bool(shut and state.how[thing] == "in")}


def _bag(world: Any) -> Json:
    """TextCraft, as its own snapshot tells it."""
    found = json.loads(world.snapshot())
    data = (found["task"] or {}).get("data", {})
    bag = {"is": "bag", "goal": data.get("goal", ""), "bag": found["bag"], "crafted": found["crafted"]}
    return plain({**bag, "recipes": list(data.get("commands", ()))})


def _seen(world: Any) -> Json:
    frame = world.frame() if hasattr(world, "frame") else None
    look = world.look() if hasattr(world, "look") else None
    text = clipped(str(getattr(look, "text", "") or ""))
    if frame is not None and hasattr(frame, "rgb"):
        drawn = base64.b64encode(png(frame.width, frame.height, frame.rgb)).decode("ascii")
        return {"is": "image", "png": drawn, "text": text}
    return {"is": "text", "text": text} if text else None


def png(width: int, height: int, rgb: bytes) -> bytes:
    """Rows from the top, three bytes a pixel."""
    rows = b"".join(b"\0" + rgb[i : i + 3 * width] for i in range(0, 3 * width * height, 3 * width))
    parts = (
        (b"IHDR", struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in parts
    )

"""The state of one symbolic room during an episode: things, robot and visibility, in the simulator's own terms.

Positions, containment and states are kept; physics, collisions and occlusion by walls are not.
"""

from __future__ import annotations

import math
from typing import Any

from bt_envs.alfred import kinds
from bt_envs.alfred.room import Point, Room, spread

SIGHT = 1.5  # metres, as ALFRED sets it
FAR_END = 2.5  # metres to the end of a bed or a counter that one stands at
AT_FEET = 0.3  # metres: what is so near is seen whichever way one faces
HALF_VIEW = 60.0  # degrees to either side
HEIGHT = 0.9
Object = dict[str, Any]  # one entry of metadata["objects"]


class Refusal(Exception):
    """Raised when an action is impossible; the simulator goes on."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


class Scene:
    def __init__(self, room: Room) -> None:
        self.room = room
        self.stands = set(room.stands)
        self.objects: dict[str, Object] = {}
        for thing in room.things:
            self.add(thing.id, thing.kind, thing.at, isOpen=thing.open, isToggled=thing.on, isDirty=thing.dirty)
        for thing in room.things:
            if thing.parent is not None:
                self.attach(self.objects[thing.id], thing.parent)
        x, z, turn = room.start
        nearest = min(self.stands, key=lambda s: math.hypot(s[0] - x, s[1] - z), default=(x, z))
        self.at = Point(nearest[0], HEIGHT, nearest[1])
        self.turn = turn
        self.horizon = 0.0
        self.held: str | None = None
        self.look()

    def add(self, object_id: str, kind: str, at: Point, **state: Any) -> Object:
        facts = kinds.kind(kind)
        entry: Object = {
            "objectId": object_id,
            "name": object_id.replace("|", "_"),
            "objectType": kind,
            "position": {"x": at.x, "y": at.y, "z": at.z},
            "rotation": {"x": 0.0, "y": 0.0, "z": 0.0},
            "visible": False,
            "distance": 0.0,
            "pickupable": facts.pickupable,
            "isPickedUp": False,
            "receptacle": facts.receptacle,
            "receptacleObjectIds": [] if facts.receptacle else None,
            "parentReceptacles": None,
            "openable": facts.openable,
            "isOpen": False,
            "toggleable": facts.toggleable,
            "isToggled": False,
            "sliceable": facts.sliceable,
            "isSliced": False,
            "isDirty": False,
            "moveable": False,
        }
        entry.update(state)
        self.objects[object_id] = entry
        return entry

    def attach(self, entry: Object, receptacle_id: str) -> None:
        self.objects[receptacle_id]["receptacleObjectIds"].append(entry["objectId"])
        entry["parentReceptacles"] = [receptacle_id]

    def detach(self, entry: Object) -> None:
        for parent in entry["parentReceptacles"] or ():
            self.objects[parent]["receptacleObjectIds"].remove(entry["objectId"])
        entry["parentReceptacles"] = None

    def move(self, entry: Object, to: Point) -> None:
        """Moves a thing and everything in it."""
        entry["position"] = {"x": to.x, "y": to.y, "z": to.z}
        for index, inner in enumerate(entry["receptacleObjectIds"] or ()):
            self.move(self.objects[inner], spread(to, index))

    def hidden(self, entry: Object) -> bool:
        """True when a closed door hides the thing, at any depth."""
        while entry["parentReceptacles"]:
            entry = self.objects[entry["parentReceptacles"][0]]
            if entry["objectType"] in kinds.CLOSED_HIDES and not entry["isOpen"]:
                return True
        return False

    def within(self, entry: Object, other: str) -> bool:
        """True when the thing is the other one, or lies inside it at any depth."""
        parents = entry["parentReceptacles"]
        return entry["objectId"] == other or bool(parents and self.within(self.objects[parents[0]], other))

    def on_wide(self, entry: Object) -> bool:
        """True for a thing on a wide piece of furniture at which the robot stands and which it sees."""
        parents = entry["parentReceptacles"]
        support = self.objects[parents[0]] if parents else None
        return support is not None and support["objectType"] in kinds.WIDE and support["visible"]

    def hand(self) -> Point:
        angle = math.radians(self.turn)
        x, z = self.at.x + 0.3 * math.sin(angle), self.at.z + 0.3 * math.cos(angle)
        return Point(round(x, 3), 1.1, round(z, 3))

    def look(self) -> None:
        """Updates distances and visibility after something has moved or opened."""
        if self.held is not None:
            self.move(self.objects[self.held], self.hand())
        x, z, turn = self.at.x, self.at.z, self.turn
        for entry in self.objects.values():
            place = entry["position"]
            dx, dz = place["x"] - x, place["z"] - z
            distance = math.hypot(dx, dz)
            entry["distance"] = distance
            along = distance <= FAR_END and self.on_wide(entry)
            near = distance <= SIGHT or along
            if near and distance > AT_FEET and not along:
                off = (math.degrees(math.atan2(dx, dz)) - turn + 180.0) % 360.0 - 180.0
                near = abs(off) <= HALF_VIEW
            entry["visible"] = near and not entry["isSliced"] and not self.hidden(entry)

    def metadata(self) -> dict[str, Any]:
        """Returns the simulator's metadata about robot and room."""
        held = [] if self.held is None else [self.held]
        position = {"x": self.at.x, "y": self.at.y, "z": self.at.z}
        return {
            "sceneName": self.room.name,
            "agentId": 0,
            "agent": {
                "name": "agent",
                "position": position,
                "rotation": {"x": 0.0, "y": self.turn, "z": 0.0},
                "cameraHorizon": self.horizon,
                "isStanding": True,
                "inHighFrictionArea": False,
            },
            "inventoryObjects": [{"objectId": i, "objectType": self.objects[i]["objectType"]} for i in held],
            "objects": list(self.objects.values()),
            "isSceneAtRest": True,
            "colors": None,
            "colorBounds": None,
        }

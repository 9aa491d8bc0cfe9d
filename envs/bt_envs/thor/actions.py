"""Applies the simulator's actions to a scene. An impossible action raises Refusal and changes nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from bt_envs.alfred import kinds
from bt_envs.alfred.room import GRID, Point, make_id
from bt_envs.alfred.support import support
from bt_envs.thor.scene import HEIGHT, Object, Refusal, Scene

Action = Mapping[str, Any]


def act(scene: Scene, action: Action) -> Any:
    """Does one action; returns the simulator's `actionReturn`."""
    name = action.get("action")
    handler = HANDLERS.get(str(name))
    if handler is None:
        raise Refusal(f"Invalid action: {name} is not one of {', '.join(sorted(HANDLERS))}", "InvalidAction")
    try:
        answer = handler(scene, action)
    except (KeyError, TypeError, ValueError) as fault:
        raise Refusal(f"{name} was asked for with unfit arguments: {fault!r}", "InvalidArgument") from fault
    scene.look()
    return answer


def _target(scene: Scene, action: Action) -> Object:
    found = scene.objects.get(str(action.get("objectId", "")))
    if found is None:
        raise Refusal(f"no object has the id {action.get('objectId')!r}")
    if not found["visible"] and not action.get("forceAction"):
        raise Refusal(f"{found['objectId']} is not visible from here")
    return found


def _need(held: bool, message: str) -> None:
    if not held:
        raise Refusal(message)


def _pick_up(scene: Scene, action: Action) -> None:
    entry = _target(scene, action)
    _need(scene.held is None, "the hand is already full")
    _need(entry["pickupable"], f"{entry['objectId']} cannot be picked up")
    _need(not scene.hidden(entry), f"{entry['objectId']} is behind a closed door")
    scene.detach(entry)
    entry["isPickedUp"] = True
    scene.held = entry["objectId"]


def _release(scene: Scene) -> Object:
    _need(scene.held is not None, "the hand is empty")
    entry = scene.objects[str(scene.held)]
    scene.held = None
    entry["isPickedUp"] = False
    return entry


def _put(scene: Scene, action: Action) -> None:
    _need(scene.held is not None, "the hand is empty")
    receptacle = _target(scene, action)
    held = scene.objects[str(scene.held)]
    where = receptacle["objectId"]
    _need(receptacle["receptacle"], f"{where} is no receptacle")
    _need(not scene.within(receptacle, str(scene.held)), f"{where} is in the hand")
    _need(not scene.hidden(receptacle), f"{where} is behind a closed door")
    closed = receptacle["objectType"] in kinds.CLOSED_HIDES and not receptacle["isOpen"]
    _need(not closed, f"{where} is closed")
    _need(kinds.fits(held["objectType"], receptacle["objectType"]), f"{where} does not take {held['objectType']}")
    taken = len(receptacle["receptacleObjectIds"])
    _need(taken < kinds.room_for(receptacle["objectType"]), f"{where} is full")
    _release(scene)
    scene.attach(held, where)
    scene.move(held, _on(receptacle, scene.at, taken))


def _on(receptacle: Object, robot: Point, index: int) -> Point:
    """Returns the landing point on a receptacle; on a wide one, at the robot's side."""
    middle = receptacle["position"]
    dx, dz = robot.x - middle["x"], robot.z - middle["z"]
    away = math.hypot(dx, dz) or 1.0
    reach = max(0.0, min(away - 0.5, 1.0)) + 0.03 * (index % 5)
    x, z = middle["x"] + reach * dx / away, middle["z"] + reach * dz / away
    return Point(round(x, 3), round(middle["y"] + 0.05, 3), round(z, 3))


def _drop(scene: Scene, action: Action) -> None:
    entry = _release(scene)
    place = scene.hand()
    scene.move(entry, Point(place.x, 0.05, place.z))


def _openable(scene: Scene, action: Action, opens: bool) -> Object:
    entry = _target(scene, action)
    _need(entry["openable"], f"{entry['objectId']} cannot be opened or closed")
    _need(entry["isOpen"] != opens, f"{entry['objectId']} is {'open' if opens else 'closed'} already")
    return entry


def _open(scene: Scene, action: Action) -> None:
    entry = _openable(scene, action, opens=True)
    _need(not (entry["toggleable"] and entry["isToggled"]), f"{entry['objectId']} is on; turn it off first")
    entry["isOpen"] = True


def _close(scene: Scene, action: Action) -> None:
    _openable(scene, action, opens=False)["isOpen"] = False


def _toggle(scene: Scene, action: Action) -> None:
    on = action["action"] == "ToggleObjectOn"
    entry = _target(scene, action)
    _need(entry["toggleable"], f"{entry['objectId']} cannot be turned on or off")
    _need(entry["isToggled"] != on, f"{entry['objectId']} is {'on' if on else 'off'} already")
    _need(not (on and entry["openable"] and entry["isOpen"]), f"{entry['objectId']} is open; close it first")
    entry["isToggled"] = on


def _slice(scene: Scene, action: Action) -> None:
    entry = _target(scene, action)
    _need(entry["sliceable"] and not entry["isSliced"], f"{entry['objectId']} cannot be sliced")
    _need(scene.held != entry["objectId"], "what is held cannot be sliced")
    parents, place, kind = entry["parentReceptacles"], entry["position"], entry["objectType"]
    scene.detach(entry)
    entry.update(isSliced=True, pickupable=False, sliceable=False)
    for number in range(1, kinds.SLICES[kind] + 1):
        sliced = kinds.slice_of(kind)
        at = Point(round(place["x"] + 0.02 * number, 3), place["y"], place["z"])
        piece = scene.add(f"{entry['objectId']}|{sliced}_{number}", sliced, at)
        if parents:
            scene.attach(piece, parents[0])


def _turn_of(action: Action, present: float) -> float:
    rotation = action.get("rotation", present)
    return float(rotation["y"] if isinstance(rotation, Mapping) else rotation) % 360.0


def _teleport(scene: Scene, action: Action) -> None:
    x, z = float(action.get("x", scene.at.x)), float(action.get("z", scene.at.z))
    nearest = min(scene.stands, key=lambda s: math.hypot(s[0] - x, s[1] - z))
    _need(math.hypot(nearest[0] - x, nearest[1] - z) < GRID / 2, f"nothing can stand at x {x:g}, z {z:g}")
    turn, horizon = _turn_of(action, scene.turn), float(action.get("horizon", scene.horizon))
    scene.at, scene.turn, scene.horizon = Point(x, HEIGHT, z), turn, horizon


_WAYS = {"MoveAhead": 0.0, "MoveRight": 90.0, "MoveBack": 180.0, "MoveLeft": 270.0}


def _walk(scene: Scene, action: Action) -> None:
    way = math.radians(scene.turn + _WAYS[action["action"]])
    step = float(action.get("moveMagnitude") or GRID)
    _teleport(scene, {"x": scene.at.x + step * math.sin(way), "z": scene.at.z + step * math.cos(way)})


def _rotate(scene: Scene, action: Action) -> None:
    degrees = float(action.get("degrees") or 90.0)
    scene.turn = (scene.turn + (degrees if action["action"] == "RotateRight" else -degrees)) % 360.0


def _tilt(scene: Scene, action: Action) -> None:
    degrees = float(action.get("degrees") or 30.0)
    horizon = scene.horizon + (degrees if action["action"] == "LookDown" else -degrees)
    _need(-30.0 <= horizon <= 60.0, "the camera does not tilt further")
    scene.horizon = horizon


def reachable(scene: Scene, action: Action | None = None) -> list[dict[str, float]]:
    return [{"x": x, "y": HEIGHT, "z": z} for x, z in sorted(scene.stands)]


def _pose(scene: Scene, action: Action) -> None:
    """Places every carriable object at its pose; removes objects without a pose."""
    poses = [(p["objectName"].split("_")[0], Point(**p["position"])) for p in action["objectPoses"]]
    furniture = [(i, e["objectType"], Point(**e["position"])) for i, e in scene.objects.items() if not e["pickupable"]]
    carried = [i for i, e in scene.objects.items() if e["pickupable"] or e["isSliced"]]
    for gone in carried:
        scene.detach(scene.objects[gone])
    for gone in carried:
        scene.objects.pop(gone)
    scene.held = None
    for kind, at in poses:
        if kinds.kind(kind).pickupable and make_id(kind, at) not in scene.objects:
            entry = scene.add(make_id(kind, at), kind, at)
            parent = support(kind, at, furniture)
            if parent is not None:
                scene.attach(entry, parent)


_STATES = {"toggleable": "isToggled", "openable": "isOpen", "dirtyable": "isDirty"}


def _set_states(scene: Scene, action: Action) -> None:
    wanted = action["SetObjectStates"]
    state = _STATES.get(wanted["stateChange"])
    for entry in scene.objects.values():
        if state is not None and entry["objectType"] == wanted["objectType"]:
            entry[state] = bool(wanted[state])


def _nothing(scene: Scene, action: Action) -> None:
    return None


HANDLERS: dict[str, Callable[[Scene, Action], Any]] = {
    "CloseObject": _close,
    "Done": _nothing,
    "DropHandObject": _drop,
    "GetReachablePositions": reachable,
    "Initialize": _nothing,
    "LookDown": _tilt,
    "LookUp": _tilt,
    "OpenObject": _open,
    "Pass": _nothing,
    "PickupObject": _pick_up,
    "PutObject": _put,
    "RotateLeft": _rotate,
    "RotateRight": _rotate,
    "SetObjectPoses": _pose,
    "SetObjectStates": _set_states,
    "SliceObject": _slice,
    "Teleport": _teleport,
    "TeleportFull": _teleport,
    "ToggleObjectOff": _toggle,
    "ToggleObjectOn": _toggle,
    **dict.fromkeys(_WAYS, _walk),
}

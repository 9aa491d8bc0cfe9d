"""Chooses one of several objects of a kind as LoTa-Bench does: the nearest, with penalties."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bt_envs.alfred import kinds

BEHIND_A_DOOR = 100_000.0
OCCUPIED = 10_000.0
OUT_OF_SIGHT = 1_000.0
SLICE_BONUS = 100.0
Object = Mapping[str, Any]


def same_kind(entry: Object, kind: str) -> bool:
    """Returns True when the object's kind or basin matches: `Sink` and `SinkBasin` both name a basin."""
    wanted = kind.casefold()
    object_id: str = entry["objectId"]
    return object_id.partition("|")[0].casefold() == wanted or kinds.id_kind(object_id).casefold() == wanted


def is_slice(entry: Object) -> bool:
    return "Sliced" in entry["objectType"] or "Cracked" in entry["objectType"]


def is_basin(entry: Object) -> bool:
    return kinds.id_kind(entry["objectId"]) in kinds.INHERITED


def choose(
    objects: Mapping[str, Object],
    kind: str,
    *,
    wanting: str = "",
    basin: bool = False,
    slices_first: bool = False,
    visible_first: bool = False,
    without: Iterable[str] = (),
) -> Object | None:
    """Chooses an object of a kind. `wanting` names a required property (pickupable, toggleable, …); None when there is
    none."""

    def cost(entry: Object) -> float:
        total: float = entry["distance"]
        if behind_a_door(objects, entry):
            total += BEHIND_A_DOOR
        if entry["objectType"] == "StoveBurner" and entry["receptacleObjectIds"]:
            total += OCCUPIED
        if visible_first and not entry["visible"]:
            total += OUT_OF_SIGHT
        if slices_first and is_slice(entry):
            total -= SLICE_BONUS
        return total

    fit = [
        entry
        for entry in objects.values()
        if same_kind(entry, kind)
        and entry["objectId"] not in without
        and (not wanting or entry[wanting])
        and (not basin or is_basin(entry))
        and not entry["isSliced"]
    ]
    return min(fit, key=cost, default=None)


def behind_a_door(objects: Mapping[str, Object], entry: Object) -> bool:
    """True when the thing lies directly in something that is closed."""
    parents = (objects.get(p) for p in entry["parentReceptacles"] or ())
    return any(p is not None and p["openable"] and not p["isOpen"] for p in parents)

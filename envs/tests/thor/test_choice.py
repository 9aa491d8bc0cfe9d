"""Which of several things is meant."""

from __future__ import annotations

from typing import Any

from bt_envs.thor.choice import choose


def thing(object_id: str, distance: float, **more: Any) -> dict[str, Any]:
    kind = object_id.split("|")[0]
    given = {"objectType": kind, "visible": True, "pickupable": True, "parentReceptacles": None, "isSliced": False}
    return {"objectId": object_id, "distance": distance, "receptacleObjectIds": [], "openable": False, **given, **more}


def chosen(*things: dict[str, Any], kind: str, **how: Any) -> str | None:
    found = choose({entry["objectId"]: entry for entry in things}, kind, **how)
    return found and found["objectId"]


FAR, NEAR = thing("Apple|1|1|1", 3.0), thing("Apple|2|2|2", 1.0)


def test_the_nearest_of_the_kind_is_meant() -> None:
    assert chosen(FAR, NEAR, kind="Apple") == NEAR["objectId"]
    assert chosen(FAR, NEAR, kind="Pear") is None


def test_a_thing_behind_a_closed_door_comes_last() -> None:
    fridge = thing("Fridge|0|0|0", 1.0, openable=True, isOpen=False)
    inside = {**NEAR, "parentReceptacles": [fridge["objectId"]]}
    assert chosen(FAR, inside, fridge, kind="Apple") == FAR["objectId"]
    assert chosen(FAR, inside, {**fridge, "isOpen": True}, kind="Apple") == NEAR["objectId"]


def test_a_free_burner_is_meant_before_a_nearer_one_with_a_pot_on_it() -> None:
    used = thing("StoveBurner|1|1|1", 0.5, receptacleObjectIds=["Pot|1|1|1"])
    free = thing("StoveBurner|2|2|2", 2.0)
    assert chosen(used, free, kind="StoveBurner") == free["objectId"]


def test_what_is_seen_is_meant_before_what_is_not_when_asked_so() -> None:
    unseen = {**NEAR, "visible": False}
    assert chosen(FAR, unseen, kind="Apple", visible_first=True) == FAR["objectId"]
    assert chosen(FAR, unseen, kind="Apple") == NEAR["objectId"]


def test_once_something_was_sliced_a_slice_is_meant_before_a_nearer_whole() -> None:
    piece = thing("Apple|1|1|1|AppleSliced_1", 3.0, objectType="AppleSliced")
    assert chosen(piece, NEAR, kind="Apple", slices_first=True) == piece["objectId"]
    assert chosen(piece, NEAR, kind="Apple") == NEAR["objectId"]


def test_a_sink_is_also_its_basin() -> None:
    basin = thing("Sink|1|1|1|SinkBasin", 1.0, objectType="SinkBasin")
    assert chosen(basin, kind="Sink") == chosen(basin, kind="SinkBasin") == basin["objectId"]

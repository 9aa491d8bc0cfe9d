"""A symbolic scene stays possible whatever is done to it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bt_envs.alfred.room import Point, Room, RoomThing, from_json
from bt_envs.thor.actions import HANDLERS, act
from bt_envs.thor.rooms import read_room
from bt_envs.thor.scene import Refusal, Scene

KITCHEN = read_room("galley_kitchen")
IDS = [thing.id for thing in KITCHEN.things]
DEEDS = ["PickupObject", "PutObject", "OpenObject", "CloseObject", "ToggleObjectOn", "ToggleObjectOff", "SliceObject"]


def find(scene: Scene, kind: str) -> str:
    return next(i for i, e in scene.objects.items() if e["objectType"] == kind)


def do(scene: Scene, action: str, kind: str = "", **more: Any) -> str:
    """The refusal, or nothing."""
    target = {"objectId": find(scene, kind)} if kind else {}
    try:
        act(scene, {"action": action, "forceAction": True, **target, **more})
    except Refusal as refusal:
        return str(refusal)
    return ""


steps = st.one_of(
    st.tuples(st.sampled_from(DEEDS), st.sampled_from(IDS)),
    st.tuples(st.sampled_from(sorted(set(HANDLERS) - set(DEEDS))), st.just("")),
)


@settings(max_examples=60, derandomize=True)
@given(st.lists(steps, max_size=25))
def test_containment_is_told_the_same_from_both_sides_and_what_is_hidden_is_not_seen(
    deeds: list[tuple[str, str]],
) -> None:
    scene = Scene(KITCHEN)
    for action, target in deeds:
        before = [dict(entry) for entry in scene.objects.values()]
        try:
            act(scene, {"action": action, "objectId": target, "forceAction": True})
        except Refusal:
            assert [dict(e) for e in scene.objects.values()] == before, f"a refused {action} changed something"
    for object_id, entry in scene.objects.items():
        for parent in entry["parentReceptacles"] or ():
            assert object_id in scene.objects[parent]["receptacleObjectIds"]
        for inner in entry["receptacleObjectIds"] or ():
            assert scene.objects[inner]["parentReceptacles"] == [object_id]
        assert not (entry["visible"] and scene.hidden(entry))
        assert entry["isPickedUp"] == (scene.held == object_id)
    assert (scene.at.x, scene.at.z) in scene.stands


def test_what_is_in_a_closed_fridge_is_seen_only_after_it_is_opened() -> None:
    scene = Scene(KITCHEN)
    fridge, egg = find(scene, "Fridge"), find(scene, "Egg")
    act(scene, {"action": "TeleportFull", "x": 0.75, "z": 2.25, "rotation": {"y": 270.0}, "horizon": 0.0})
    assert scene.objects[fridge]["visible"]
    assert not scene.objects[egg]["visible"]
    act(scene, {"action": "OpenObject", "objectId": fridge})
    assert scene.objects[egg]["visible"]


def test_a_microwave_is_neither_opened_while_on_nor_turned_on_while_open() -> None:
    scene = Scene(KITCHEN)
    assert do(scene, "OpenObject", "Microwave") == ""
    assert "close it first" in do(scene, "ToggleObjectOn", "Microwave")
    assert do(scene, "CloseObject", "Microwave") == ""
    assert do(scene, "ToggleObjectOn", "Microwave") == ""
    assert "turn it off first" in do(scene, "OpenObject", "Microwave")


def test_one_hand_holds_one_thing() -> None:
    scene = Scene(KITCHEN)
    assert do(scene, "PickupObject", "Apple") == ""
    assert "full" in do(scene, "PickupObject", "Knife")
    assert do(scene, "DropHandObject") == ""
    assert "empty" in do(scene, "DropHandObject")


def test_nothing_can_be_put_into_what_is_in_the_hand_or_into_itself() -> None:
    scene = Scene(KITCHEN)
    do(scene, "PickupObject", "Apple")
    assert do(scene, "PutObject", "Pan") == ""
    do(scene, "PickupObject", "Pan")
    assert "in the hand" in do(scene, "PutObject", "Pan")
    assert do(scene, "PutObject", "DiningTable") == ""


def test_slices_lie_where_the_whole_lay_and_the_whole_is_no_more() -> None:
    scene = Scene(KITCHEN)
    tomato = find(scene, "Tomato")
    parents = scene.objects[tomato]["parentReceptacles"]
    assert do(scene, "SliceObject", "Tomato") == ""
    pieces = [e for i, e in scene.objects.items() if i.startswith(f"{tomato}|TomatoSliced_")]
    assert len(pieces) == 7
    assert all(piece["parentReceptacles"] == parents for piece in pieces)
    assert "cannot be" in do(scene, "PickupObject", "Tomato")


def test_posing_replaces_all_that_can_be_carried_and_finds_what_it_lies_on() -> None:
    scene = Scene(KITCHEN)
    do(scene, "PickupObject", "Apple")
    do(scene, "PutObject", "Pan")
    pose = {"objectName": "Egg_12ab", "position": {"x": 3.5, "y": 0.8, "z": 0.5}}
    act(scene, {"action": "SetObjectPoses", "objectPoses": [pose]})
    carried = {i: e["parentReceptacles"] for i, e in scene.objects.items() if e["pickupable"]}
    assert carried == {"Egg|+03.50|+00.80|+00.50": [find(scene, "DiningTable")]}
    assert all(set(e["receptacleObjectIds"] or ()) <= set(carried) for e in scene.objects.values())


MALFORMED: list[dict[str, Any]] = [
    {},
    {"action": None},
    {"action": "Fly"},
    {"action": "TeleportFull", "x": "left"},
    {"action": "PutObject"},
    {"action": "SetObjectPoses", "objectPoses": [{}]},
    {"action": "SetObjectStates"},
]


@pytest.mark.parametrize("action", MALFORMED)
def test_a_malformed_action_is_refused(action: dict[str, Any]) -> None:
    with pytest.raises(Refusal):
        act(Scene(KITCHEN), action)


def test_a_room_where_a_thing_is_inside_itself_is_refused() -> None:
    """It would be looked for without end."""
    things = tuple(RoomThing(i, "Box", Point(0, 0, 0), parent) for i, parent in (("a", "b"), ("b", "a")))
    with pytest.raises(ValueError, match="inside itself"):
        from_json(Room("loop", "kitchen", things, ((0, 0),)).to_json())

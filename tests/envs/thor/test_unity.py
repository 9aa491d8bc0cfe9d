"""The way of a Unity build: floor plans by name, things posed by actions. Our player stands in for the build."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bt_runtime.diagnose import BtError
from bt_runtime.envs.thor.library import object_states
from bt_runtime.envs.thor.oracle import solve
from bt_runtime.envs.thor.player import launcher
from bt_runtime.envs.thor.rooms import read_room
from bt_runtime.envs.thor.world import Thor
from bt_runtime.types import Task

KITCHEN = read_room("galley_kitchen")


def alfred_scene() -> dict[str, Any]:
    """What ALFRED would say about our kitchen, were it a floor plan."""
    carried = [t for t in KITCHEN.things if t.parent is not None]
    poses = [{"objectName": f"{t.kind}_1234", "position": t.at._asdict()} for t in carried]
    start = {"x": 2.25, "y": 0.9, "z": 1.5, "rotation": 90, "horizon": 30}
    toggles = [{"objectType": "Faucet", "isOn": True}]
    return {"floor_plan": "FloorPlan1", "object_poses": poses, "object_toggles": toggles, "init_action": start}


@pytest.fixture
def build(tmp_path: Path) -> str:
    bare = replace(KITCHEN, name="FloorPlan1_physics", things=tuple(t for t in KITCHEN.things if t.parent is None))
    return str(launcher(tmp_path / "my build", {bare.name: bare}))


@pytest.mark.thor
def test_a_build_of_ones_own_plays_alfreds_tasks_with_nothing_else_changed(
    library: Callable[..., Thor], build: str, egg_task: Task
) -> None:
    task = egg_task._replace(data={**egg_task.data, "scene": alfred_scene()})
    world = library(build=build)
    assert world.reset(task).ok
    assert world.holds("the faucet is on")
    assert world.holds("Egg (1) in Fridge (1)")
    for sentence in solve(world, task):
        assert world.act(sentence).ok, sentence
    assert world.verdict() == (3, 3)


@pytest.mark.thor
def test_a_symbolic_task_says_that_it_is_none_for_a_build(
    library: Callable[..., Thor], build: str, egg_task: Task
) -> None:
    with pytest.raises(BtError, match="symbolic room"):
        library(build=build).reset(egg_task)


def test_dirty_and_toggled_are_asked_for_in_the_librarys_present_terms() -> None:
    scene = {**alfred_scene(), "dirty_and_empty": True}
    states = object_states(scene)
    assert states[0] == {"objectType": "Faucet", "stateChange": "toggleable", "isToggled": True}
    assert {"objectType": "Mug", "stateChange": "dirtyable", "isDirty": True} in states
    json.dumps(states)

"""The way of a Unity build: floor plans by name, things posed by actions. Our player stands in for the build."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bt_envs.thor.library import object_states
from bt_envs.thor.oracle import solve
from bt_envs.thor.world import Thor
from bt_runtime import BtError
from bt_runtime.types import Task


@pytest.mark.thor
def test_a_build_of_ones_own_plays_alfreds_tasks_with_nothing_else_changed(
    library: Callable[..., Thor], build: Path, posed_task: Task
) -> None:
    task = posed_task
    world = library(build=build)
    assert world.reset(task).ok
    assert world.holds("the faucet is on")
    assert world.holds("Egg (1) in Fridge (1)")
    for sentence in solve(world, task):
        assert world.act(sentence).ok, sentence
    assert world.verdict() == (3, 3)


@pytest.mark.thor
def test_a_symbolic_task_says_that_it_is_none_for_a_build(
    library: Callable[..., Thor], build: Path, egg_task: Task
) -> None:
    with pytest.raises(BtError, match="symbolic room"):
        library(build=build).reset(egg_task)


@pytest.mark.thor
def test_a_build_without_the_floor_plan_says_so(library: Callable[..., Thor], build: Path, posed_task: Task) -> None:
    scene = {**posed_task.data["scene"], "floor_plan": "FloorPlan77"}
    with pytest.raises(BtError, match="shows no FloorPlan77"):
        library(build=build).reset(posed_task._replace(data={**posed_task.data, "scene": scene}))


@pytest.mark.thor
def test_a_scene_with_something_missing_is_an_error_and_the_simulator_lives_on(
    library: Callable[..., Thor], build: Path, posed_task: Task
) -> None:
    world = library(build=build)
    with pytest.raises(BtError, match="init_action"):
        world.reset(
            posed_task._replace(data={**posed_task.data, "scene": {"floor_plan": "FloorPlan1", "object_poses": []}})
        )
    assert world.reset(posed_task).ok


def test_dirty_and_toggled_are_asked_for_in_the_librarys_present_terms(posed_task: Task) -> None:
    scene = {**posed_task.data["scene"], "dirty_and_empty": True}
    states = object_states(scene)
    assert states[0] == {"objectType": "Faucet", "stateChange": "toggleable", "isToggled": True}
    assert {"objectType": "Mug", "stateChange": "dirtyable", "isDirty": True} in states
    json.dumps(states)

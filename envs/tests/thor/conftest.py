"""What the thor tests share: an episode in this process, tasks, a Unity that is not there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bt_envs.thor.episode import Episode
from bt_envs.thor.player import launcher
from bt_envs.thor.rooms import read_room
from bt_envs.thor.stage import SceneStage
from bt_envs.thor.suite import SUITE
from bt_envs.thor.world import Thor
from bt_runtime.types import Task


@pytest.fixture
def play() -> Callable[..., Episode]:
    """`play("full", "galley_kitchen", goal)`: an episode on a scene, no library."""

    def start(view: Any = "partial", room: str = "galley_kitchen", **goal: Any) -> Episode:
        episode = Episode(SceneStage(), view)
        given = read_room(room)
        episode.reset({"room": given.to_json(), "kind": given.scene, "goal": goal or None})
        return episode

    return start


@pytest.fixture
def egg_task() -> Task:
    goal = {"type": "pick_heat_then_place_in_recep", "object": "Egg", "parent": "DiningTable"}
    data = {"room": "galley_kitchen", "goal": goal}
    return Task("egg", "pick_heat_then_place_in_recep", "put a hot egg on the dining table", data)


@pytest.fixture
def posed_task(egg_task: Task) -> Task:
    """The same as ALFRED would pose it, were our kitchen a floor plan of Unity's."""
    carried = [t for t in read_room("galley_kitchen").things if t.parent is not None]
    scene = {
        "floor_plan": "FloorPlan1",
        "object_poses": [{"objectName": f"{t.kind}_1234", "position": t.at._asdict()} for t in carried],
        "object_toggles": [{"objectType": "Faucet", "isOn": True}],
        "init_action": {"x": 2.25, "y": 0.9, "z": 1.5, "rotation": 90, "horizon": 30},
    }
    return egg_task._replace(data={**egg_task.data, "scene": scene})


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """An executable in the place of Unity: our player, with our kitchen as an empty floor plan."""
    kitchen = read_room("galley_kitchen")
    bare = tuple(thing for thing in kitchen.things if thing.parent is None)
    room = replace(kitchen, name="FloorPlan1_physics", things=bare)
    return launcher(tmp_path / "my build", {room.name: room})


@pytest.fixture
def library() -> Iterator[Callable[..., Thor]]:
    """Worlds in the real library; none of them outlives its test."""
    pytest.importorskip("ai2thor")
    opened: list[Thor] = []

    def start(**options: Any) -> Thor:
        world = SUITE.open(**options)
        assert isinstance(world, Thor)
        opened.append(world)
        return world

    yield start
    for world in opened:
        world.close()


@pytest.fixture
def data() -> Path:
    """The outside data, or a skip with the reason."""
    folder = Path(os.environ.get("BTR_DATA") or Path(__file__).parents[3] / "../shared/data")
    if not (folder / "alfred").is_dir():
        pytest.skip(f"no ALFRED data at {folder} (BTR_DATA)")
    return folder

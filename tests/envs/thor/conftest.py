"""What the thor tests share: an episode in this process, tasks, a Unity that is not there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bt_runtime.envs.thor.episode import Episode
from bt_runtime.envs.thor.rooms import read_room
from bt_runtime.envs.thor.stage import SceneStage
from bt_runtime.envs.thor.suite import SUITE
from bt_runtime.envs.thor.world import Thor
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

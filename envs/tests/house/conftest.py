"""A small house in which every rule can be met."""

from __future__ import annotations

from typing import Any

import pytest

from bt_envs.house.suite import SUITE
from bt_envs.house.world import HouseWorld
from bt_runtime.types import Task

DATA: dict[str, Any] = {
    "house": "flat",
    "start": ["living room 1"],
    "things": [
        ["apple", "kitchen cabinet 1", "in"],
        ["apple", "coffee table 1", "on"],
        ["wine", "fridge 1", "in"],
        ["plate", "kitchen table 1", "on"],
        ["book", "bookshelf 1", "in"],
        ["mug", "nightstand 1", "on"],
    ],
    "goal": [{"relation": "in", "thing": "apple", "place": "fridge", "amount": 2}],
}


def a_task(**changes: Any) -> Task:
    return Task("t", "put_fridge", "put two apples in the fridge", {**DATA, **changes})


@pytest.fixture
def world() -> HouseWorld:
    world = SUITE.open(sitting=True)
    assert isinstance(world, HouseWorld)
    world.reset(a_task())
    return world

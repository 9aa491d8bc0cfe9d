"""What models have learned from stays as it is: tasks, and what the world says and offers."""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import sha256

import pytest

from bt_envs.house.suite import SUITE
from bt_runtime.skills.worlds.registry import Split

TASKS = {"train": "d4cb222f528fa400", "eval": "da36be6146b37cc9"}
TOLD = {"train": "206b3b88afdfe775", "eval": "9529ac5bb93acaf2"}


def digest(texts: Iterable[str]) -> str:
    return sha256("\n".join(texts).encode()).hexdigest()[:16]


@pytest.mark.parametrize("split", ["train", "eval"])
def test_the_five_kinds_give_the_same_tasks_as_ever(split: Split) -> None:
    """Byte for byte, for several seeds and counts, all kinds or one of them."""
    found = [SUITE.tasks(seed, count, split) for seed, count in ((0, 40), (7, 25), (17, 60), (1234, 10))]
    found += [SUITE.tasks(3, 15, split, [kind]) for kind in SUITE.kinds]
    assert digest(json.dumps(task) for tasks in found for task in tasks) == TASKS[split]


@pytest.mark.parametrize("split", ["train", "eval"])
def test_the_world_says_and_offers_what_it_always_did(split: Split) -> None:
    """Every observation and every list of sentences along the oracle's way, and refusals, in both kinds of feedback."""
    told: list[str] = []
    for feedback in ("full", "terse"):
        world = SUITE.open(feedback=feedback)
        for task in SUITE.tasks(29, 15, split):
            told.append(world.reset(task).text)
            for said in SUITE.oracle(world, task):
                told += [said, world.act(said).text, *world.skills(), world.digest()]
            for said in ("open", "heat apple 1 with stove 1", "turn on fridge 1", "put down pie 1", "go to apple"):
                told += list(map(str, world.act(said)))
    assert digest(told) == TOLD[split]

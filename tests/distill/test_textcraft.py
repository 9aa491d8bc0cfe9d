"""The teacher of TextCraft solves what it teaches, in every strategy."""

from __future__ import annotations

from typing import Any

import pytest

from bt_runtime.distill.lesson import teach
from bt_runtime.distill.textcraft import teacher
from bt_runtime.envs.textcraft.suite import SUITE

STRATEGIES: dict[str, dict[str, Any]] = {
    "react": {}, "reactree": {}, "adapt": {"max_depth": 4}, "plan_and_execute": {}, "lota": {},
}  # fmt: skip


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("depth", (2, 3, 4))
def test_the_teacher_crafts_every_goal_of_the_game(strategy: str, depth: int) -> None:
    world = SUITE.open()
    for task in SUITE.tasks(3, 10, "eval", [f"depth {depth}"]):
        taught = teach(strategy, world, task, teacher, inputs=STRATEGIES[strategy])
        assert taught.verdict.met == taught.verdict.total, task.goal

"""Worlds with a task at hand, and runs of the shipped strategies in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from bt_envs.alfworld.worker_pool import WorkerPool
from bt_envs.alfworld.world import AlfWorld
from bt_runtime import Run, load
from bt_runtime.agents import ScriptedModel
from bt_runtime.clock import Manual
from bt_runtime.events import AGENT_EVENTS, NAMES, body
from bt_runtime.plugins import open_suite
from bt_runtime.types import Task, World
from tests.support.alfworld_engine import DOUBLE


@pytest.fixture
def start():
    """`start("react", script, world=…, goal=…)`: a run with a scripted model and a clock that jumps."""
    runs: list[Run] = []

    def begin(tree: str, script: Any, *, world: Any = None, polls: int = 0, services: Any = None, **inputs: Any) -> Run:
        model = ScriptedModel(script, polls)
        clock = Manual() if getattr(world, "instant", True) else None  # a world in a thread takes real time
        run = Run(
            load(tree),
            inputs=inputs,
            world=world,
            services={"model": model, **(services or {})},
            clock=clock,
            recall=False,
        )
        run.model = model  # type: ignore[attr-defined]
        run.told = []  # type: ignore[attr-defined]
        run.listen(lambda event: run.told.append((NAMES[type(event)], body(event))), *AGENT_EVENTS)  # type: ignore[attr-defined]
        runs.append(run)
        return run

    yield begin
    for run in runs:
        run.close()


class Errand(NamedTuple):
    suite: Any
    task: Task
    world: World  # set up for the task
    sentences: list[str]  # what the oracle acts, all of it


@pytest.fixture(params=["textcraft", "house", "hotpotqa", "webshop", "alfworld", "thor"])
def errand(request: pytest.FixtureRequest) -> Iterator[Errand]:
    """One task of each suite."""
    if request.param == "thor":
        pytest.importorskip("ai2thor")
        pytest.importorskip("msgpack")
    if request.param == "webshop":
        pytest.importorskip("snowballstemmer")
        pytest.importorskip("rapidfuzz")
    suite = open_suite(request.param)
    task = suite.tasks(7, 1)[0]
    pool = WorkerPool(1, DOUBLE)  # starts nothing until it is asked
    world = suite.open() if request.param != "alfworld" else AlfWorld(pool)
    world.reset(task)
    sentences = []
    for sentence in suite.oracle(world, task):
        sentences.append(sentence)
        world.act(sentence)
    world.reset(task)
    yield Errand(suite, task, world, sentences)
    world.close()
    pool.close()

"""AutoPlan in the papers' other worlds: the same tree and nodes, nothing of it knows which world it is."""

from __future__ import annotations

import pytest

from bt_envs.alfworld import pool
from bt_envs.alfworld.worker_pool import WorkerPool
from bt_lab.optimise.held_out import measure
from bt_lab.optimise.loop import optimise
from bt_lab.optimise.setup import OptimiseSetup, draw
from bt_runtime.agents import ScriptedModel
from bt_runtime.plugins import open_suite
from packages.lab.tests.bench.optimise.learner import KNOWS, Learner
from tests.support.alfworld_engine import DOUBLE

HOTPOT = OptimiseSetup("hotpotqa", batch=2, validation=2, seed=1, world={"wording": "autoplan"}, steps=10)
DETAILED = {"feedback": "detailed"}
ALFWORLD = OptimiseSetup("alfworld", "pick_and_place_simple", batch=2, validation=2, seed=1, world=DETAILED, steps=35)


@pytest.fixture
def engine(monkeypatch):
    made = WorkerPool(2, DOUBLE)
    monkeypatch.setattr(pool, "shared", lambda workers: made)
    yield made
    made.close()


@pytest.mark.parametrize("setup", [HOTPOT, ALFWORLD], ids=lambda setup: setup.suite)
def test_a_plan_is_learnt_scored_and_tried_on_tasks_of_the_other_split(tmp_path, engine, setup):
    """What the paper tells after an attempt in HotpotQA, the answer and its pages, stands in what is reflected on."""
    aside, batches = draw(setup, 2)
    tests = open_suite(setup.suite).tasks(0, 2, "eval", [setup.kind] if setup.kind else None)
    learner = Learner([*aside, *batches[0], *batches[1], *tests], setup.suite)
    model = ScriptedModel(learner)
    kept, whole = optimise(setup, tmp_path / "p", 2, model=model)
    assert whole and [v.rate() for v in kept] == [0.0, 1.0] and KNOWS in kept[1].guide.text
    tried = measure(setup, tmp_path / "p", 2, {"default": model}, 2, lambda outcome, left: None)
    assert [v.rate("test") for v in tried] == [0.0, 1.0]
    summaries = [prompt for prompt in learner.prompts if prompt.endswith("Summary:")]
    revealed = [p for p in summaries if "The answer is " in p and "It stands on these pages: " in p]
    assert summaries and len(revealed) == (len(summaries) if setup is HOTPOT else 0)

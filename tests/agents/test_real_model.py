"""Agents over real llama.cpp: a random model knows nothing, and still all it can answer is what can be used."""

from __future__ import annotations

import pytest

from bt_runtime.envs.registry import open_suite
from bt_runtime.events import AGENT_EVENTS, NAMES, body
from bt_runtime.run.run import Run
from bt_runtime.testing import RUNNING

pytest.importorskip("llama_cpp")
pytest.importorskip("llguidance")
pytest.importorskip("gguf")

PLAN = """
version: 1
tree: t
skills: [house]
inputs: {goal: string}
root:
  plan: {goal: "{goal}", leaf: react, temperature: 1, max_width: 4, max_levels: 2, max_invalid: 1}
"""
AGENT = """
version: 1
tree: t
inputs: {goal: string}
root:
  agent: {goal: "{goal}", moves: [think, act, expand], leaf: react, choose: greedy, think_tokens: 12, max_decisions: 12}
"""


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    from bt_runtime.llm import open_model
    from bt_runtime.llm.testing import Shape, make_gguf

    opened = []
    for seed in (1, 2):
        path = make_gguf(
            tmp_path_factory.mktemp("gguf") / f"random-{seed}.gguf", Shape(context=4096, seed=seed, peak=0.2)
        )
        opened.append(open_model(str(path)).ready(120))
    yield opened
    for model in opened:
        model.close()


def run_one(text, model, seed):
    suite = open_suite("house")
    task = suite.tasks(seed, 1)[0]
    world = suite.open()
    world.reset(task)
    told = []
    acts = []
    act = world.act

    def acted(sentence):
        acts.append((sentence, sentence in world.skills()))
        return act(sentence)

    world.act = acted
    with Run(text, inputs={"goal": task.goal}, world=world, model=model, seed=seed) as run:
        run.listen(lambda event: told.append((NAMES[type(event)], body(event))), *AGENT_EVENTS)
        status = run.spin(seconds=60)
        crashes = list(run.context.crashes)
    return status, told, acts, crashes


def test_every_plan_of_a_random_model_is_one_that_grows(models):
    for seed, model in enumerate(models * 3):
        status, told, _, crashes = run_one(PLAN, model, seed)
        assert status is not RUNNING and not crashes
        refused = [w for e, w in told if e == "refused"]
        assert not refused or all(
            set(w["codes"]) <= {"lone child", "duplicates", "control flow", "same goal"} for w in refused
        )
        assert [e for e, _ in told].count("expand") + len(refused) == 1


def test_a_random_model_never_acts_what_cannot_be_done_and_decides_the_same_for_a_seed(models):
    for seed, model in enumerate(models):
        first = run_one(AGENT, model, seed)
        again = run_one(AGENT, model, seed)
        assert all(possible for _, possible in first[2])
        decided = [[(e, w.get("sentence"), w.get("text")) for e, w in told] for _, told, _, _ in (first, again)]
        assert decided[0] == decided[1] and not first[3]

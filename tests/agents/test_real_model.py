"""Agents over real llama.cpp: a random model knows nothing, and still all it can answer is what can be used."""

from __future__ import annotations

from random import Random
from typing import Literal

import pytest

from bt_runtime import Run, load, skill
from bt_runtime.events import AGENT_EVENTS, NAMES, Expanded, PlanRefused, Stepped, body
from bt_runtime.plugins import open_suite
from bt_runtime.testing import RUNNING
from bt_runtime.types import Model

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
    from tests.support.random_models import Shape, make_gguf

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
    with Run(load(text), inputs={"goal": task.goal}, world=world, model=model, seed=seed) as run:
        run.listen(lambda event: told.append((NAMES[type(event)], body(event))), *AGENT_EVENTS)
        status = run.spin(seconds=60)
        crashes = list(run.parts.context.crashes)
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


SKILLED = """
version: 1
tree: t
blackboard: {things: {type: list, default: [cup, plate]}}
root:
  sequence:
    - try:
        do: {agent: {goal: tidy up, moves: [act], think_tokens: 40, max_decisions: 20, max_steps: 8, temperature: 1}}
        catch: {succeed: {}}
    - agent: {goal: tidy up, moves: [expand], temperature: 1, max_width: 3, max_levels: 2, max_invalid: 3}
"""


class Restless(Model):
    """A model that may not end before it has done something, and chooses among two; it expands where it may."""

    def __init__(self, inner, seed):
        self.inner, self.dice = inner, Random(seed)

    def ask(self, question):
        if question.kind == "choose":
            kept = [o for o in question.options if o not in (" done", " failure")]
            question = question._replace(options=tuple(self.dice.sample(kept, 2)))
        elif question.kind == "decide":
            question = question._replace(moves={"Expand:": ()})
        return self.inner.ask(question)


def test_whatever_a_model_answers_a_skills_slots_hold_values_of_their_types(models):
    """Sentences, beginnings that are written on, and plans with skills as nodes, under their grammars."""
    taken, plans = [], []

    @skill("take {thing}", sources={"thing": "things"}, on_resume="repeat")
    def take(thing: str) -> None:
        taken.append(("take", thing))

    @skill("shift {thing} by {cm} cm to the {side}", sources={"thing": "things"}, on_resume="repeat")
    def shift(thing: str, cm: float, side: Literal["left", "right"]) -> None:
        taken.append(("shift", thing, cm, side))

    for seed in range(4):
        with Run(load(SKILLED, skills=[take, shift]), model=Restless(models[seed % 2], seed), seed=seed) as run:
            run.listen(plans.append, Expanded, PlanRefused)
            run.listen(lambda e: plans.append(e) if "cannot be read" in e.observation else None, Stepped)
            run.spin(seconds=60, ticks=400)
            assert not run.parts.context.crashes
    assert {t[0] for t in taken} == {"take", "shift"}
    for _, thing, *rest in taken:
        assert thing in ("cup", "plate")
        assert not rest or (isinstance(rest[0], int | float) and rest[1] in ("left", "right"))
    assert plans and not [p for p in plans if not isinstance(p, Expanded) and not hasattr(p, "codes")]

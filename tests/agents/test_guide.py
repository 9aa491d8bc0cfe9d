"""The guide: a plan in the prompt of agents and planners; without one nothing of a prompt changes."""

from __future__ import annotations

import pytest

from bt_runtime.agents.prompt import guided, system_text
from bt_runtime.language.guide import Guide
from bt_runtime.testing import FAILURE, SUCCESS
from tests.support.room import Room

rule = pytest.mark.rule
PLAN = "1. Look around.\n2. Leave by the door."


@pytest.mark.parametrize("empty", ["", " \n"])
def test_without_a_guide_the_system_text_is_the_very_same(empty):
    system = system_text("agent", {"moves": ["think", "act"], "recall": False})
    assert guided(system, empty) is system


@rule("agent", 5)
def test_a_guide_stands_before_the_task_and_asks_for_its_step_a_faithful_thought_and_one_action(start):
    run = start("react", ["Act: done"], goal="get out", guide=PLAN, world=Room())
    assert run.spin() is SUCCESS
    prompt = run.model.asked[0].prompt
    plain = start("react", ["Act: done"], goal="get out", world=Room())
    plain.spin()
    bare = plain.model.asked[0].prompt
    system, _, rest = bare.partition("\n\n")
    assert prompt.startswith(system) and prompt.endswith(rest) and "plan" not in bare
    added = prompt[len(system) : len(prompt) - len(rest)]
    assert PLAN in added and added.index(PLAN) < added.index("Identify which step of the plan you are at.")
    assert "faithful to that step" in added and "one action" in added


@rule("agent", 5)
def test_an_agent_that_is_a_part_of_an_expansion_follows_the_guide_of_the_agent_above(start):
    script = ["Expand:\nsequence: [go left, jump]", "Act: done", "Act: done"]
    run = start("reactree", script, goal="get out", guide=PLAN, world=Room())
    assert run.spin(ticks=50) is SUCCESS
    prompts = [a.prompt for a in run.model.asked]
    assert len(prompts) > 3 and all(PLAN in p for p in prompts)


@rule("plan", 3)
def test_who_carries_out_the_parts_of_a_plan_follows_its_guide(start):
    script = [" two steps.\nStep 1: go left\nStep 2: jump", "Act: failure"]
    run = start("plan_and_execute", script, goal="get out", guide=PLAN, world=Room())
    assert run.spin(ticks=50) is FAILURE
    assert [PLAN in a.prompt for a in run.model.asked] == [True, True]


@rule("agent", 5)
def test_a_guide_of_its_own_comes_before_that_of_whoever_is_above(start, tmp_path, monkeypatch):
    monkeypatch.setenv("BTR_PROJECT", str(tmp_path))
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "walker.yaml").write_text(
        'version: 1\ntree: walker\ninputs: {goal: string}\nroot:\n  agent: {goal: "{goal}", guide: "Walk."}\n'
    )
    text = 'version: 1\ntree: t\nroot:\n  plan: {goal: get out, guide: "Run.", leaf: walker}\n'
    run = start(text, ["sequence: [go left, jump]", "Act: done", "Act: done"], world=Room())
    assert run.spin(ticks=50) is SUCCESS
    assert "Walk." in run.model.asked[-1].prompt and "Run." not in run.model.asked[-1].prompt


def test_a_guide_may_be_a_file_of_plans_and_a_missing_one_ends_the_agent_not_the_run(start, tmp_path, monkeypatch):
    monkeypatch.setenv("BTR_PROJECT", str(tmp_path))
    (tmp_path / "guides").mkdir()
    (tmp_path / "guides" / "out.md").write_text(Guide(PLAN, {"version": 1}).written())
    run = start("react", ["Act: done"], goal="get out", guide="out.md", world=Room())
    assert run.spin() is SUCCESS
    assert PLAN in run.model.asked[0].prompt
    missing = start("react", ["Act: done"], goal="get out", guide="in.md", world=Room())
    assert missing.spin() is FAILURE
    assert "there is no plan `in.md`" in missing.parts.context.crashes[-1].message

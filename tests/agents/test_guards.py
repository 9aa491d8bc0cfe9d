"""The guards, by the failure types of ReAcTree's table 7 that they close."""

from __future__ import annotations

import math

import pytest

from bt_runtime import Budget
from bt_runtime.agents.expansion import Situation, objections
from bt_runtime.agents.loops import cycle, is_search, same_goal
from bt_runtime.agents.plan_text import read_plan
from bt_runtime.agents.services import agent_services
from bt_runtime.testing import FAILURE, SUCCESS
from tests.support.room import Room, ending

AT = Situation("tidy the kitchen", ("tidy the kitchen", "tidy the house"), 2, 0, Budget())

rule = pytest.mark.rule


def codes(text: str, at: Situation = AT) -> list[str]:
    return [o.code for o in objections(read_plan(text), at)]


# Expand-level: task decomposition ------------------------------------------------------------------


def test_task_decomposition_a_list_with_duplicates_is_refused():
    assert codes("fallback: [find the cup, find a cup]") == ["duplicates"]
    assert codes("sequence: [find the cup, find the cup]") == ["duplicates"]


def test_task_decomposition_doing_the_same_twice_with_something_between_is_no_duplicate():
    assert codes("sequence: [open the door, go through, open the door]") == []


def test_task_decomposition_a_lone_child_is_objected_to_once():
    assert codes("fallback: [find the cup]") == ["lone child"]
    assert codes("fallback: [find the cup]", AT._replace(warned=frozenset({"lone child"}))) == []


# Expand-level: control-flow selection ----------------------------------------------------------------


@pytest.mark.parametrize("control", ["sequence", "parallel"])
def test_control_flow_selection_a_search_in_several_places_must_be_a_fallback(control):
    assert codes(f"{control}: [find the cup in the kitchen, find the cup in the hall]") == ["control flow"]
    assert codes("fallback: [find the cup in the kitchen, find the cup in the hall]") == []


def test_control_flow_selection_different_things_in_different_places_are_no_search():
    assert not is_search(["find the cup in the kitchen", "find the plate in the hall"])


# Expand-level: infinite loop -------------------------------------------------------------------------


def test_expand_level_infinite_loop_the_goal_of_an_ancestor_again_is_refused():
    assert codes("sequence: [tidy up, tidy the house]") == ["same goal"]
    assert codes("sequence: [Tidy a kitchen!, sweep]") == ["same goal"]


def test_a_planner_may_name_its_own_goal_once_beside_others_but_not_alone():
    """What could not be done at once may well be, once something else is done: ADaPT's natural plan."""
    planner = AT._replace(beside=True)
    assert codes("sequence: [get the mop, tidy the kitchen]", planner) == []
    assert "same goal" in codes("sequence: [tidy the kitchen]", planner)
    assert "same goal" in codes("sequence: [tidy the kitchen, sweep, tidy the house]", planner)


def test_expand_level_infinite_loop_a_number_makes_another_goal():
    assert not same_goal("wash cup 1", "wash cup 2")


def test_expand_level_infinite_loop_the_same_plan_again_with_nothing_learnt_is_refused():
    plan = read_plan("sequence: [sweep, mop]")
    assert codes("sequence: [sweep, mop]", AT._replace(earlier=(plan,))) == ["same plan"]


@pytest.mark.parametrize(
    ("text", "at", "code"),
    [
        ("sequence: [a1, b2]", AT._replace(depth=20), "depth"),
        ("sequence: [" + ", ".join(f"part {i}" for i in range(13)) + "]", AT, "width"),
        ("sequence: [{sequence: [{sequence: [{sequence: [{sequence: [a1, b2]}, c3]}, d4]}, e5]}, f6]", AT, "levels"),
        ("sequence: [a1, b2]", AT._replace(nodes=1999), "nodes"),
        ("sequence: [" + "x" * 300 + ", b2]", AT, "length"),
    ],
)
def test_expand_level_infinite_loop_depth_width_levels_nodes_and_length_are_bounded(text, at, code):
    assert code in codes(text, at)


# Agent-level -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("period", [1, 2, 3])
def test_agent_level_infinite_loop_a_cycle_of_any_period_ends_the_agent(period, start):
    acts = ["Act: go left", "Act: go right", "Act: jump"][:period] * 100
    run = start("react", acts, world=Room(), goal="get out")
    assert run.spin(ticks=500) is FAILURE
    assert ending(run).startswith(f"loop: the last {period} steps")


def test_agent_level_infinite_loop_an_action_that_changes_the_world_each_time_is_no_loop(start):
    world = Room()
    world.digest = lambda: str(len(world.acts))
    run = start("react", ["Act: jump"] * 20 + ["Act: done"], world=world, goal="count to twenty")
    assert run.spin(ticks=500) is SUCCESS


def test_agent_level_infinite_loop_the_same_thought_again_and_again_counts():
    assert cycle([("think", "hm")] * 3) == 1
    assert cycle(["a", "b", "a", "b"]) == 0
    assert cycle(["x", "a", "b", "a", "b", "a", "b"]) == 2


@pytest.mark.parametrize(
    ("field", "line"), [("max_steps", ""), ("max_decisions", "Think: {}"), ("max_tokens", "Think: {} a b")]
)
def test_max_step_budgets_end_the_agent_and_name_themselves(field, line, start):
    count = iter(range(1000))
    run = start(
        AGENT.format(field=field), lambda ask: line.format(next(count)) if line else turn(next(count)), world=Room()
    )
    assert run.spin(ticks=500) is FAILURE
    assert ending(run).startswith(f"budget: {field.removeprefix('max_')} 6")


AGENT = """
version: 1
tree: t
root:
  agent: {{goal: get out, moves: [think, act], {field}: 6}}
"""


def turn(number):
    """Never the same cycle: the Thue-Morse sequence."""
    return "Act: go left" if number.bit_count() % 2 else "Act: go right"


def test_max_step_the_budget_of_the_run_counts_all_agents_together(start):
    run = start("react", lambda ask: "Act: go left" if len(run.told) % 3 else "Act: jump", world=Room(), goal="get out",
                services={"budget": Budget(steps=2)})  # fmt: skip
    assert run.spin(ticks=100) is FAILURE
    assert ending(run) == "budget: steps 2 of the run"


def test_seconds_are_those_of_the_runs_clock(start):
    run = start(AGENT.format(field="seconds"), lambda ask: f"Think: {len(run.told)}", world=Room(), polls=100)
    assert run.spin(ticks=5000) is FAILURE
    assert ending(run) == "budget: seconds 6"


def test_invalid_expansions_come_back_as_observations_and_end_the_agent_after_three(start):
    plans = ["Expand:\nbogus: [a]", "Expand:\nsequence: []", "Expand:\nfallback: [x, x]", "Expand:\nsequence: [y]"]
    run = start("reactree", plans, goal="get out", world=Room())
    assert run.spin(ticks=100) is FAILURE
    assert ending(run).startswith("invalid: This plan cannot be used")
    observed = [w["observation"] for e, w in run.told if e == "step"]
    assert len(observed) == 3 and "no `bogus`" in observed[0]


@rule("verify", 1, 3)
def test_termination_reasoning_verify_asks_the_world_before_the_model(start):
    world = Room()
    world.holds = lambda fact: {"the door is open": True, "the lamp is on": False}.get(fact)
    text = "version: 1\ntree: t\nroot:\n  verify: {}\n"
    assert start(text.format("the door is open"), [], world=world).spin(ticks=5) is SUCCESS
    assert start(text.format("the lamp is on"), [], world=world).spin(ticks=5) is FAILURE
    assert start(text.format("all is well"), ["yes"], world=world).spin(ticks=5) is SUCCESS
    assert start(text.format("all is well"), ["no"], world=world).spin(ticks=5) is FAILURE


@rule("verify", 2, 4)
def test_verify_tells_the_model_what_agents_did_and_leaves_its_thought_for_the_next_attempt(start):
    text = """
version: 1
tree: t
root:
  sequence:
    - set: {missing: []}
    - agent: {goal: get out, moves: [act]}
    - verify: {goal: get out, think: 50, into: missing}
"""
    asked = []

    def script(ask):
        asked.append(ask)
        if ask.kind == "write":
            return " The lamp is still on."
        return " no" if ask.prompt.endswith("Is the goal met?") else f"Act: {next(acts)}"

    acts = iter(["jump", "done"])
    run = start(text, script, world=Room())
    assert run.spin(ticks=20) is FAILURE
    thought, answer = asked[-2:]
    assert "What was done, in this order:\n- jump: Nothing new.\n" in thought.prompt and thought.prompt.endswith(
        "Think:"
    )
    assert answer.prompt == f"{thought.prompt} The lamp is still on.\nIs the goal met?"
    assert run.blackboard["missing"] == ["The lamp is still on."]
    assert agent_services(run.parts.context).stories["get out"][1] == "done; it is not met. The lamp is still on"


def test_a_missing_model_is_a_failure_that_says_how_to_name_one(start):
    run = start("react", [], goal="get out", world=Room())
    agent_services(run.parts.context).models.clear()
    assert run.spin(ticks=10) is FAILURE
    assert "--model" in next(iter(run.parts.context.crashes)).traceback


@pytest.mark.parametrize("kind", ["agent", "plan"])
def test_an_agent_that_names_no_time_has_one(kind):
    from bt_runtime.agents.kinds import deciding as agents

    (found,) = [k for k in vars(agents).values() if getattr(k, "name", "") == kind]
    assert 0 < found.field("seconds").default < math.inf

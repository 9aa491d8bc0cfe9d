from __future__ import annotations

import json

import pytest

from bt_runtime.envs.registry import open_suite
from bt_runtime.envs.trajectory import Agent, Step, as_react, as_reactree


def leaf(goal: str, ended: str, *steps: Step) -> Agent:
    return Agent(goal, "You are here.", list(steps), ended=ended)  # type: ignore[arg-type]


TREE = Agent(
    "tidy up",
    "You are here.",
    [Step("think", "Two parts."), Step("expand", "sequence")],
    control="sequence",
    subgoals=["find the cup", "put it away"],
    children=[
        leaf("find the cup", "success", Step("act", "go to sink 1", "You arrive.")),
        leaf("put it away", "failure", Step("think", "No cupboard.")),
    ],
    ended="failure",
)


def test_a_tree_is_written_one_text_for_each_agent_node() -> None:
    """A child is told its parent's goal and its siblings; a node that expanded does not end itself."""
    root, first, second = as_reactree(TREE)
    assert root.splitlines()[-3:] == ["Expand:", "- control flow: sequence", "- subgoals: find the cup, put it away"]
    assert first.splitlines() == [
        "Your primary goal is to: tidy up",
        "To achieve this, you should perform your sibling tasks in sequence. At this level, your sibling tasks are: "
        "find the cup, and put it away.",
        "Your task is to: find the cup",
        "You are here.",
        "Act: go to sink 1",
        "You arrive.",
        "Act: done",
    ]
    assert second.splitlines()[-3:] == ["Think: No cupboard.", "OK.", "Act: failure"]


def test_a_flat_text_ends_with_how_it_ended() -> None:
    """ReAct form: the task, the opening, then thoughts, acts and observations, and `done` or `failure`."""
    assert as_react(TREE.children[0]).splitlines()[-1] == "Act: done"


def test_a_trajectory_survives_json() -> None:
    """What is written down comes back the same, children and all."""
    assert Agent.from_json(json.loads(json.dumps(TREE.to_json()))) == TREE
    assert [agent.goal for agent in TREE.walk()] == ["tidy up", "find the cup", "put it away"]


@pytest.mark.parametrize("name", ["textcraft", "house"])
@pytest.mark.parametrize("form", ["react", "reactree"])
def test_trajectories_reach_the_goal_in_both_forms(name: str, form: str) -> None:
    """Each form solves every task, and no act in it is refused."""
    suite = open_suite(name)
    world = suite.open()
    for task in suite.tasks(21, 60):
        told = suite.trajectory(world, task, form)  # type: ignore[attr-defined]
        met, total = world.verdict()
        assert (met, told.ended) == (total, "success")
        acts = [step for agent in told.walk() for step in agent.steps if step.kind == "act"]
        assert acts and not [s for s in acts if s.observation.startswith(("Could", "Nothing", "There is no"))]
        assert form == "reactree" or not told.children


def test_an_expansion_lists_only_subgoals_that_split_cleanly() -> None:
    """A comma inside a subgoal would break ReAcTree's own reading of the list."""
    for name in ("textcraft", "house"):
        suite = open_suite(name)
        world = suite.open()
        for task in suite.tasks(22, 20):
            told = suite.trajectory(world, task, "reactree")  # type: ignore[attr-defined]
            assert not [goal for agent in told.walk() for goal in agent.subgoals if "," in goal]


def test_children_are_the_subgoals_in_order() -> None:
    """A node's children are what it expanded into, as far as they were reached; a fallback stops at a success."""
    suite = open_suite("house")
    world = suite.open()
    for task in suite.tasks(23, 20):
        for agent in suite.trajectory(world, task, "reactree").walk():  # type: ignore[attr-defined]
            assert [child.goal for child in agent.children] == agent.subgoals[: len(agent.children)]
            ends = [child.ended for child in agent.children]
            if agent.control == "fallback":
                assert ends[:-1] == ["failure"] * len(ends[:-1])
                assert ends[-1] == "success"

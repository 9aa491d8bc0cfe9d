"""Each of ReAcTree's ten types is told from a story that shows it, and from no story that does not."""

from __future__ import annotations

from typing import Any

import pytest

from bt_lab.run import failure
from bt_lab.run.episode_log import Told
from bt_lab.run.failure import Account, culprit, label
from bt_runtime.events import AgentEnded, Expanded, PlanRefused, Stepped
from bt_runtime.plugins import open_suite
from bt_runtime.skills.worlds.registry import goal_things

GOAL = "Put the apple and the juice on the kitchen table."
THINGS = {"apple": 1, "juice": 1}
ROOMS = ["find the juice in kitchen 1", "find the juice in bedroom 1"]


def end(path: str, why: str, goal: str = GOAL, detail: str = "", kind: str = "agent") -> AgentEnded:
    return AgentEnded(path, why, detail, goal, kind)


def act(path: str, sentence: str, observation: str = "You arrive.") -> Stepped:
    return Stepped(path, "act", sentence, observation)


def plan(path: str, control: str, *parts: str) -> Expanded:
    return Expanded(path, "\n".join([f"{control}:", *(f"- {part}" for part in parts)]), "")


def refused(path: str, *codes: str) -> list[Told]:
    """As an agent tells it: the objection, then the step with its words."""
    step = Stepped(path, "expand", "sequence: …", "This plan cannot be used: …")
    return [PlanRefused(path, list(codes), "…"), step]


def account(*events: Told, status: str = "FAILURE", met: int = 1, goal: str = GOAL, **more: Any) -> Account:
    return Account(goal, more.pop("things", THINGS), met, more.pop("total", 2), status, events, **more)


BOTH = ("move the apple to the kitchen table", "move the juice to the kitchen table")

WORKED, FAILED = (end("/t", "expanded", detail=how) for how in ("succeeded", "failed"))

STORIES = {
    "a thing of the goal stands in no part of the plan, all of which was done": (
        failure.DECOMPOSITION,
        account(plan("/t", "sequence", BOTH[0]), end("/t/0/0", "done", BOTH[0]), WORKED, status="SUCCESS"),
    ),
    "no plan that was written could be used": (
        failure.DECOMPOSITION,
        account(*refused("/t", "lone child"), *refused("/t", "width"), end("/t", "invalid", detail="This plan …")),
    ),
    "a planner wrote nothing that is a plan": (
        failure.DECOMPOSITION, account(end("/t", "invalid", kind="plan"), met=0)
    ),
    "free text that was no plan at all, until nobody asked again": (
        failure.DECOMPOSITION,
        account(refused("/t")[1], end("/t", "invalid")),
    ),
    "a sequence of places in which the same thing is looked for": (
        failure.CONTROL_FLOW,
        account(plan("/t", "sequence", *ROOMS), end("/t/0/0", "failure", ROOMS[0]), FAILED),
    ),
    "a fallback of parts that were all needed: the first was done, the second never begun": (
        failure.CONTROL_FLOW,
        account(plan("/t", "fallback", *BOTH), end("/t/0/0", "done", BOTH[0]), WORKED, status="SUCCESS"),
    ),
    "the objection to the last plan was its control flow": (
        failure.CONTROL_FLOW, account(*refused("/t", "control flow"), end("/t", "invalid"))
    ),
    "the same goal was expanded into again and again": (
        failure.EXPAND_LOOP, account(*refused("/t/0/0", "same goal"), end("/t/0/0", "invalid", BOTH[0]))
    ),
    "expansions until no agent may stand above another": (
        failure.EXPAND_LOOP, account(*refused("/t/0/0", "depth"), end("/t/0/0", "budget", BOTH[0], "decisions 9"))
    ),
    "every place was searched, and none had it": (
        failure.SEARCH,
        account(plan("/t", "fallback", *ROOMS), end("/t/0/0", "failure", ROOMS[0]), end("/t/0/1", "failure", ROOMS[1]),
                FAILED),
    ),
    "one agent did it all, and gave up with the thought that it cannot find something": (
        failure.SEARCH, account(end("/t", "failure", detail="I cannot find the juice in this house."))
    ),
    "an agent gave up on something that was no search": (
        failure.PLANNING,
        account(plan("/t", "sequence", *BOTH), end("/t/0/0", "done", BOTH[0]),
                end("/t/0/1", "failure", BOTH[1], "The table is full."), FAILED),
    ),
    "an agent said nothing that could be used, without a plan": (
        failure.PLANNING, account(act("/t", "go to fridge 1"), end("/t", "invalid"))
    ),
    "the same steps again and again": (failure.AGENT_LOOP, account(end("/t", "loop", detail="the last 2 steps"))),
    "one agent said done, and it was not": (failure.TERMINATION, account(end("/t", "done"), status="SUCCESS")),
    "all parts name all things and said done, and it was not": (
        failure.TERMINATION,
        account(plan("/t", "sequence", *BOTH), end("/t/0/0", "done", BOTH[0]), end("/t/0/1", "done", BOTH[1]),
                WORKED, status="SUCCESS"),
    ),
    "after all was searched it went round again, until the budget was spent": (
        failure.TERMINATION,
        account(*[act("/t", f"go to shelf {i % 3}", f"shelf {i % 3} is empty") for i in range(9)], end("/t", "budget")),
    ),
    "it was still doing new things when the budget was spent": (
        failure.MAX_STEP,
        account(*[act("/t", f"go to shelf {i}", f"shelf {i} is empty") for i in range(9)], end("/t", "budget")),
    ),
    "its time ran out": (failure.TIME, account(end("/t", "cancelled"), status="")),
    "a prompt had become longer than the model can read": (
        failure.MAX_STEP, account(end("/t", "too long", detail="a prompt of 5000 tokens"), too_long=True)
    ),
    "what the instruction names is done, and one thing that it leaves out is missing": (
        failure.INCORRECT,
        account(end("/t", "done"), status="SUCCESS", met=2, total=3, things={**THINGS, "cutlery fork": 1}),
    ),
    "the instruction says everything, and names nothing": (
        failure.AMBIGUOUS,
        account(end("/t", "done"), status="SUCCESS", met=1, total=3, goal="Put everything in the dishwasher.",
                things={"plate": 1, "water glass": 1}),
    ),
    "an agent broke": (failure.UNLABELLED, account(end("/t", "error", detail="RuntimeError: …"))),
    "nothing was told": (failure.UNLABELLED, account()),
}  # fmt: skip


@pytest.mark.parametrize("story", STORIES)
def test_a_story_is_labelled_by_what_it_shows(story: str) -> None:
    expected, told = STORIES[story]
    assert label(told) == expected


def test_each_of_the_ten_types_is_told_by_some_story() -> None:
    assert {expected for expected, _ in STORIES.values()} == {*failure.LABELS, failure.UNLABELLED}
    assert len({*failure.LABELS} - {failure.TIME}) == 10


def test_a_search_that_found_it_in_the_second_room_is_no_reason_to_fail() -> None:
    """The parallel part that gave up later is."""
    events = [
        plan("/t", "parallel", "find the juice", BOTH[0]),
        plan("/t/0/0", "fallback", *ROOMS),
        end("/t/0/0/0/0", "failure", ROOMS[0]), end("/t/0/0/0/1", "done", ROOMS[1]),
        end("/t/0/0", "expanded", "find the juice", "succeeded"),
        end("/t/0/1", "budget", BOTH[0], "steps 40"),
        end("/t", "expanded", detail="failed"),
    ]  # fmt: skip
    found = culprit(events)
    assert found is not None and found.path == "/t/0/1"
    assert label(account(*events)) == failure.MAX_STEP
    turned = [*events[:2], events[5], *events[2:5], events[6]]  # it had gone before the search
    assert label(account(*turned)) == failure.MAX_STEP


@pytest.mark.parametrize(("suite", "sample"), [("house", "fork"), ("thor", "bread"), ("textcraft", "terracotta")])
def test_what_a_goal_is_about_is_read_from_every_worlds_tasks(suite: str, sample: str) -> None:
    tasks = open_suite(suite).tasks(0, 8, "eval")
    things = [goal_things(suite, task) for task in tasks]
    assert all(things)
    assert any(sample in name for found in things for name in found)
    unnamed = [
        t.goal for t, found in zip(tasks, things, strict=True) if not any(failure._names(t.goal, n) for n in found)
    ]
    assert unnamed == []  # our own instructions name what they want

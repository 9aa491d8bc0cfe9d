"""Reading a prompt back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bt_runtime.agents.prompt import agent_prompt, system_text
from bt_runtime.agents.story import Family, StoryStep
from recipes.starter.seen import read, role

WORDS = st.text("abc xyz(),1", min_size=1, max_size=20).map(str.strip).filter(bool)
STEPS = st.one_of(
    st.builds(StoryStep, st.just("think"), WORDS, st.just("")),
    st.builds(StoryStep, st.just("act"), WORDS, WORDS),
    st.builds(StoryStep, st.just("expand"), st.just("sequence:\n- one part\n- another part"), st.just("")),
)


@given(
    goal=WORDS,
    opening=WORDS,
    steps=st.lists(STEPS, max_size=5),
    family=st.booleans(),
    notes=st.lists(WORDS, max_size=2),
)
def test_what_a_prompt_was_made_of_is_what_is_read_from_it(goal, opening, steps, family, notes) -> None:
    above = Family("have it all", (goal, "another thing"), "sequence") if family else None
    prompt = agent_prompt("You are it.\nDo it.", goal, opening, steps, family=above, notes=notes)
    seen = read(prompt.text())
    assert (seen.system, seen.goal, seen.opening, seen.steps) == ("You are it.\nDo it.", goal, opening, tuple(steps))
    assert seen.primary == ("have it all" if family else "")
    assert [" ".join(n.split()) for n in notes] == list(seen.notes)


def test_examples_before_the_task_are_not_the_task() -> None:
    prompt = agent_prompt("You are it.", "the goal", "You see.", examples=("Your task is to: old\nAct: done",))
    assert read(prompt.text()).goal == "the goal"


def test_an_opening_that_waits_for_its_text_is_no_step() -> None:
    prompt = agent_prompt("You are it.", "the goal", "You see.", [StoryStep("act", "go", "You go.")])
    assert read(prompt.text() + "Think:").steps == (StoryStep("act", "go", "You go."),)


@pytest.mark.parametrize("register", ["starter", "instruct"])
def test_whose_prompt_it_is_is_told_in_both_registers(register: str) -> None:
    told = {"recall": False, "world": "", "skills": "", "openings": "Act:", "plan": "", "width": 8, "judged": False}
    wanted = {
        ("agent", "think", "act"): "react",
        ("agent", "act"): "acts",
        ("agent", "think", "act", "expand"): "reactree",
        ("executor", "think", "act"): "executor",
        ("plan_steps", "expand"): "planner",
        ("reflect",): None,
    }
    for (name, *moves), who in wanted.items():
        assert role(system_text(name, {**told, "moves": moves}, register)) == who


def test_what_a_planner_is_told_of_an_attempt_is_no_step_of_its_own() -> None:
    tried = "You see.\nIt was tried and failed.\nThe last that was done:\nAct: go to fridge 1"
    assert read(agent_prompt("You are it.", "the goal", tried).text() + "# Think:").opening == "You see."

"""The teacher of TextCraft solves what it teaches, in every strategy, and says what the prompt lets one say."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bt_envs.textcraft.suite import SUITE
from bt_runtime.agents.prompt import agent_prompt, system_text
from bt_runtime.agents.story import StoryStep
from recipes.starter.lesson import Slips, Taught, teach
from recipes.starter.seen import read
from recipes.starter.textcraft.crafting import MIXTURE
from recipes.starter.textcraft.scene import read_scene
from recipes.starter.textcraft.teacher import teacher

INPUTS = {share.strategy: share.inputs for share in MIXTURE}
SHOWN = """Crafting commands:
craft 3 birch boat using 5 birch planks
craft 4 birch planks using 1 birch log
craft 4 oak planks using 1 oak log
craft 1 rod using 3 stick, 2 string
craft 4 stick using 2 planks
craft 8 lime glass using 8 glass, 1 lime dye
craft 8 pink glass using 8 glass, 1 pink dye

Inventory: {held}"""
NOTHING = "You are not carrying anything."


STRAY = st.sampled_from(
    [
        StoryStep("think", "I do not know."),
        StoryStep("think", "Made 1 of 2."),
        StoryStep("act", "inventory", "Inventory: [stick] (4)"),
        StoryStep("act", "get 2 oak log", "Got 2 oak log"),
        StoryStep("act", "craft 4 oak planks using 1 oak log", "Crafted 4 minecraft:oak_planks"),
        StoryStep("expand", "sequence:\n- a\n- b", "This plan cannot be used: too vague"),
    ]
)


def solved(strategy: str, tasks: list, often: float = 0.0) -> list[Taught]:
    world = SUITE.open()
    return [
        teach(strategy, world, task, teacher, slips=Slips(often, Random(i)), inputs=INPUTS[strategy])
        for i, task in enumerate(tasks)
    ]


def says(role: str, goal: str, steps: list[StoryStep], held: str = NOTHING, sentences: tuple[str, ...] = ()) -> str:
    """What the teacher says next in that place."""
    moves = {"agent": ["think", "act"], "executor": ["think", "act"], "plan_steps": ["expand"]}[role]
    prompt = agent_prompt(system_text(role, {"moves": moves, "recall": False}), goal, SHOWN.format(held=held), steps)
    return teacher(read(prompt.text()), sentences)


@pytest.mark.parametrize("strategy", INPUTS)
@pytest.mark.parametrize("depth", (2, 3, 4))
def test_every_goal_of_the_game_but_the_longest_is_crafted_within_the_strategys_budget(
    strategy: str, depth: int
) -> None:
    tasks = SUITE.tasks(3, 8, "eval", [f"depth {depth}"])
    if strategy == "lota" and depth > 2:
        pytest.skip("who fetches for one time after another has not steps enough there")
    missed = [
        task.goal
        for task, taught in zip(tasks, solved(strategy, tasks), strict=True)
        if taught.verdict.met < taught.verdict.total
    ]
    assert len(missed) <= (depth == 4), missed


@pytest.mark.parametrize("strategy", ("adapt", "reactree"))
def test_nearly_every_goal_is_crafted_when_one_act_in_ten_is_a_slip(strategy: str) -> None:
    tasks = SUITE.tasks(4, 34, "eval", ["depth 2", "depth 3"])
    met = [taught.verdict.met for taught in solved(strategy, tasks, 0.1)]
    assert sum(met) / len(met) >= 0.97


def test_a_thought_copies_the_recipe_and_judges_each_ingredient_in_turn() -> None:
    said = says("agent", "craft rod", [])
    assert said == "Think: rod using 3 stick, 2 string. Wants 1. stick: craft 3 stick. string: get 2 string."


def test_a_kind_is_made_by_the_first_recipe_whose_products_name_ends_with_it_and_a_plain_thing_is_no_kind() -> None:
    assert says("agent", "craft 6 stick", []) == "Think: stick using 2 planks. Wants 6. planks: craft 12 planks."
    said = says("executor", "craft 12 planks", [])
    assert said == "Think: planks using 1 birch log. Wants 12. birch log: get 1 birch log."
    told = [StoryStep("think", said.removeprefix("Think: ")), StoryStep("act", "get 1 birch log", "Got 1 birch log")]
    craft = "craft 4 birch planks using 1 birch log"
    assert says("executor", "craft 12 planks", told, sentences=(craft,)) == f"Act: {craft}"
    assert "glass: get 8 glass." in says("agent", "craft lime glass", [])


def test_of_a_kind_that_was_made_what_is_held_is_taken() -> None:
    goal, held = "craft 6 stick using 2 planks", "[birch planks] (1) [oak planks] (12)"
    said = says("executor", goal, [], held)
    assert said == "Think: stick using 2 planks. Wants 6. planks: have."
    told, craft = [StoryStep("think", said.removeprefix("Think: "))], "craft 4 stick using 2 oak planks"
    assert says("executor", goal, told, held, sentences=("done", craft)) == f"Act: {craft}"


def test_an_executor_fetches_what_it_can_and_hands_on_a_part_that_is_to_be_crafted_which_the_planner_names() -> None:
    thought = says("executor", "craft rod", [])
    told = [StoryStep("think", thought.removeprefix("Think: "))]
    assert says("executor", "craft rod", told, sentences=("get 2 string",)) == "Act: get 2 string"
    told += [StoryStep("act", "get 2 string", "Got 2 string")]
    assert says("executor", "craft rod", told, sentences=("failure",)) == "Act: failure"
    assert says("plan_steps", "craft rod", []).splitlines()[1:] == [
        "Step 1: craft 3 stick",
        "Step 2: craft 1 rod using 3 stick, 2 string",
        "Execution Order: (Step 1 AND Step 2)",
    ]


def test_a_part_that_finishes_uses_what_is_held_and_another_part_does_not() -> None:
    held = "[stick] (4) [oak planks] (2)"
    assert "stick: have. string: get 2 string." in says("executor", "craft 1 rod using 3 stick, 2 string", [], held)
    assert "planks: craft 4 planks." in says("executor", "craft 2 stick", [], held)


def test_what_is_made_several_times_is_counted_aloud() -> None:
    thought = says("executor", "craft 5 oak planks", []).removeprefix("Think: ")
    craft = "craft 4 oak planks using 1 oak log"
    made = StoryStep("act", craft, "Crafted 4 minecraft:oak_planks")
    steps = [StoryStep("think", thought), StoryStep("act", "get 1 oak log", "Got 1 oak log"), made]
    assert says("executor", "craft 5 oak planks", steps) == "Think: Made 4 of 5."
    steps += [StoryStep("think", "Made 4 of 5."), StoryStep("act", "get 1 oak log", "Got 1 oak log")]
    assert says("executor", "craft 5 oak planks", steps, sentences=(craft,)) == f"Act: {craft}"
    steps += [made, StoryStep("think", "Made 8 of 5.")]
    assert says("executor", "craft 5 oak planks", steps, sentences=("done",)) == "Act: done"


def test_after_a_craft_that_was_not_meant_the_bag_is_looked_into_and_what_is_missing_got_anew() -> None:
    thought = says("executor", "craft oak planks", []).removeprefix("Think: ")
    steps = [
        StoryStep("think", thought),
        StoryStep("act", "craft 1 torch using 1 oak log", "Crafted 1 minecraft:torch"),
    ]
    assert says("executor", "craft oak planks", steps, sentences=("inventory",)) == "Act: inventory"
    steps += [StoryStep("act", "inventory", "Inventory: [torch] (1)")]
    assert says("executor", "craft oak planks", steps).endswith("Wants 1. oak log: get 1 oak log.")


def test_what_no_recipe_makes_is_a_failure() -> None:
    assert says("agent", "craft moon", []) == "Think: No recipe makes moon."
    told = [StoryStep("think", "No recipe makes moon.")]
    assert says("agent", "craft moon", told, sentences=("failure",)) == "Act: failure"
    assert says("agent", "make me happy", []) == "Think: No recipe makes make me happy."


def test_of_two_ways_the_one_is_taken_whose_ingredients_lie_around() -> None:
    shown = "craft 2 dye using 1 ink\ncraft 1 ink using 1 sac\ncraft 1 dye using 1 bone"
    recipe = read_scene(shown).recipe("dye")
    assert recipe is not None and [need.item for need in recipe.needs] == ["bone"]


@given(
    role=st.sampled_from(("agent", "executor", "plan_steps")),
    goal=st.sampled_from(
        ("craft rod", "craft 99999999 stick", "get 3 string", "craft moon", "craft 2 rod using 1 x", "go")
    ),
    steps=st.lists(STRAY, max_size=8),
)
def test_whatever_was_done_before_the_teacher_goes_on(role: str, goal: str, steps: list[StoryStep]) -> None:
    said = says(role, goal, steps, sentences=("inventory", "done", "failure"))
    assert said in {"Act: inventory", "Act: done", "Act: failure"} or said.startswith(("Think: ", " "))

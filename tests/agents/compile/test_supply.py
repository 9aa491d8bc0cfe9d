"""TextCraft: recipes are told, and what they need is got or made first."""

from __future__ import annotations

from pathlib import Path

import pytest

import bt_runtime as bt
from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.compile.lexicon import Lexicon
from bt_runtime.agents.compile.supply import supply_of
from bt_runtime.agents.compile.trace import Act, Life, Trace
from bt_runtime.plugins import open_suite
from tests.agents.compile.pantry import Nobody

TREES = Path(__file__).parents[3] / "trees"
LOOK = "Crafting commands:\ncraft 2 stick using 1 plank\ncraft 1 plank using 1 log\n"
STEPS = ("get 1 log", "craft 1 plank using 1 log", "craft 2 stick using 1 plank")


def traces(count: int, steps: tuple[str, ...], look: str = LOOK) -> list[Trace]:
    acts = [Act(step, "", True) for step in steps]
    lives = [Life("/a", "craft stick", list(acts), "done")]
    return [Trace(f"run-{n}", "", "", "craft stick", True, "adapt", 3, lives, look=look) for n in range(count)]


def test_told_work_is_seen() -> None:
    """The parts of a told action that were got, and those that were made."""
    found = supply_of(traces(8, STEPS), Lexicon(["textcraft"]))
    assert found is not None
    assert (found.make, found.get, found.parts) == ("craft", "get", "ingredients")
    assert (found.told, found.made, found.got, found.built) == (16, 16, 8, 8)


@pytest.mark.parametrize(
    ("steps", "look"), [(STEPS, ""), (STEPS[1:2] * 2, LOOK)], ids=["nothing is told", "nothing is got before"]
)
def test_what_the_runs_do_not_show_is_not_made_up(steps: tuple[str, ...], look: str) -> None:
    """Without the recipes in what the world showed, or without parts that were got, there is no such case."""
    assert supply_of(traces(8, steps, look), Lexicon(["textcraft"])) is None


def test_the_shipped_tree_crafts_deep_things_without_a_model() -> None:
    """Items of four levels in recipe books that no run had. Recipes that name a kind of item stay the agent's."""
    suite = open_suite("textcraft")
    reached = 0
    for task in suite.tasks(seed=4711, count=12, split="train", kinds=("depth 4",)):
        world = suite.open()
        world.reset(task)
        model = ScriptedModel(lambda question: "Act: failure")
        tree = bt.load(str(TREES / "craft.yaml"))
        with bt.Run(tree, inputs={"goal": task.goal}, world=world, task=task, model=model) as run:
            run.spin()
        assert world.verdict().reached or model.asked
        reached += world.verdict().reached
    assert reached == 7


def test_the_shipped_tree_does_parts_of_errands_without_a_model() -> None:
    """Parts as agents word them, in homes that no run had."""
    suite = open_suite("house")
    for task in suite.tasks(seed=4711, count=3, split="eval", kinds=("put_fridge",)):
        world = suite.open()
        world.reset(task)
        wanted = next(each for each in task.data["goal"] if each["relation"] == "in")  # type: ignore[index,union-attr]
        goal = f"move the {wanted['thing']} in the {wanted['place']}"  # type: ignore[index,call-overload]
        with bt.Run(
            bt.load(str(TREES / "errands.yaml")), inputs={"goal": goal}, world=world, task=task, model=Nobody()
        ) as run:
            assert run.spin() is bt.Status.SUCCESS
        assert world.verdict().met >= 1


def test_a_call_keeps_the_words_of_its_form() -> None:
    """What is moved into something is put down in it: the agent, where it is asked, reads the same words."""
    text = (TREES / "errands.yaml").read_text("utf-8")
    into = text.partition("                move_in:\n")[2].partition("                close_and")[0]
    assert "put down the {it.thing} in it" in into
    assert "on it" not in into

"""Lessons with made-up skills that each do something."""

from __future__ import annotations

import re
from random import Random

import pytest
import yaml

from recipes.results import own
from recipes.starter import data
from recipes.starter.own_skills.panel_goals import make_panel
from recipes.starter.own_skills.panel_lessons import lessons, panel_exercises
from recipes.starter.own_skills.panels import Panel


def panels(seed: int, count: int, held: bool = False) -> list[tuple[Panel, str]]:
    """Each panel, gone through by its teacher, and the text of the lesson."""
    found: list[tuple[Panel, str]] = []
    for made, _ in panel_exercises(seed, count, 0, ("react",), held):
        taught = made.taught()
        assert isinstance(made.world, Panel)
        assert taught.verdict.met == 1, made.world.goal
        found.append((made.world, taught.documents[0].text))
    return found


@pytest.mark.parametrize("held", [False, True])
def test_the_teacher_reaches_its_goal_in_each_shape(held: bool) -> None:
    """The teacher does exactly what is asked for, in each shape of a goal, in all trades."""
    shapes = {panel.shape for panel, _ in panels(1, 90, held)}
    assert len(shapes) == 11


def test_nothing_is_said_to_be_done_with_a_part_open() -> None:
    """The thought before `done` says that nothing is left, and the acts before it are all that is wanted."""
    for panel, text in panels(2, 60):
        told = text.rpartition("\nThink: ")[2]
        assert re.match(r".*(left|so to do): nothing\.\nOK\.\nAct: done\n$", told), told
        for said in [said for stage in panel.wanted for said in stage]:
            assert f"\nAct: {said}\n" in text


def test_a_panel_on_which_a_part_is_open_is_not_met() -> None:
    """A verdict needs all that is wanted, in its order, and nothing besides."""
    panel = Panel(wanted=[["open it"], ["ring", "wave"]], reads=["look"], harmless={"look"})
    for done, met in (
        (["look", "open it", "wave", "ring"], 1), (["open it", "wave", "ring"], 0),
        (["look", "ring", "open it", "wave"], 0),
        (["look", "open it", "ring"], 0), (["look", "open it", "ring", "wave", "stop"], 0),
    ):  # fmt: skip
        panel.done = done
        assert panel.verdict().met == met, done


def test_a_condition_holds_about_as_often_as_not() -> None:
    """Of the conditions between 40 and 60 in 100 hold."""
    made = [make_panel(Random(number)).outcome for number in range(700)]
    told = [outcome for outcome in made if outcome is not None]
    assert len(told) > 100 and 0.4 < sum(told) / len(told) < 0.6


def test_trades_that_are_kept_apart_are_many_enough() -> None:
    """At least 25 trades are in lessons, and each shape is asked for in many ways."""
    words = data.read("own_skills/panel_words")
    assert len(words["trades"]) - len(words["held"]) >= 25
    assert {*words["held"]} <= {*words["trades"]}
    assert min(len(words[form]) for form in ("one", "then", "both", "many", "if", "else", "find", "tell", "ask")) >= 15


def test_no_act_on_one_of_a_kind_is_a_check() -> None:
    """What treats a thing is called otherwise than what looks at it."""
    words = data.read("own_skills/panel_words")
    treats = {which[0] for trade in words["trades"].values() for which in trade["treat"]}
    assert not treats & {*words["check"]}


def test_the_same_numbers_give_the_same_lessons() -> None:
    """A seed and a number give the same lesson each time."""
    first, again = ([taught.documents for taught in lessons(4, 4)] for _ in range(2))
    assert first == again and first


def test_no_skill_and_no_goal_of_the_projects_that_are_measured_is_in_a_lesson() -> None:
    """What measures skills that no lesson has is held apart, sentence by sentence."""
    texts = "\n".join(text for _, text in panels(3, 300)).lower()
    for folder in sorted(own.FOLDER.glob("*/")):
        for path in folder.glob("skills/*.yaml"):
            for kind in yaml.safe_load(path.read_text("utf-8"))["kinds"].values():
                assert f"- {kind['sentence'].lower()}:" not in texts
        for task in yaml.safe_load((folder / "tasks.yaml").read_text("utf-8"))["tasks"]:
            assert task["goal"].lower() not in texts

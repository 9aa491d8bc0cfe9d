"""The teacher of ALFRED's tasks on THOR, and its lessons."""

from __future__ import annotations

from functools import partial
from random import Random

import pytest

from bt_runtime.envs.registry import open_world
from bt_runtime.envs.thor import kinds
from bt_runtime.envs.thor.goals import TYPES, Goal
from bt_runtime.envs.thor.rooms import read_rooms
from bt_runtime.envs.thor.tasks import SAYINGS, say
from bt_runtime.run.run import load
from recipes.starter import data
from recipes.starter.lesson import teach
from recipes.starter.thor import teacher
from recipes.starter.thor_rooms import lesson_task, lessons, opening_task, sheet
from recipes.starter.thor_sentences import said


@pytest.mark.parametrize("strategy", ["react", "reactree"])
def test_a_teacher_that_reads_prompts_reaches_nearly_every_goal(strategy: str) -> None:
    tree, world, reached = load(strategy), open_world("thor", through="scene"), 0
    for number in range(14):
        task, told = lesson_task(5, number)
        verdict = teach(tree, world, task, partial(teacher, told={task.goal: told})).verdict
        reached += verdict.met == verdict.total
    assert reached >= 13


def test_rooms_and_sentences_of_lessons_are_none_of_the_suite() -> None:
    ways = {way for ways in data.read("thor_words")["said"].values() for way in ways}
    assert not ways & {way for theirs in SAYINGS.values() for way in theirs}
    assert not {lesson_task(5, number)[0].data["room"]["name"] for number in range(7)} & set(read_rooms())


def test_no_sentence_of_a_lesson_is_one_that_the_suite_says() -> None:
    rng, goals = (
        Random(5),
        [Goal("pick_and_place_simple", "Mug", "Desk"), Goal("look_at_obj_in_light", "Pen", "", "DeskLamp")],
    )
    goals += [Goal(type_, "Apple", "Fridge", sliced=sliced) for type_ in TYPES[3:6] for sliced in (False, True)]
    goals += [Goal(TYPES[1], "Potato", "Shelf"), Goal(TYPES[6], "Fork", "CounterTop", movable="Bowl")]
    for goal in goals:
        theirs = {say(goal, rng) for _ in range(30)}
        ours = {said(goal, {"Desk", "DeskLamp"}, rng)[0].removesuffix(".") for _ in range(300)}
        assert not {text.lower() for text in ours} & theirs
        assert len(ours) > 150


def test_every_thing_and_piece_of_furniture_has_names_and_what_is_quoted_stands_in_the_sentence() -> None:
    words = data.read("thor_words")
    assert set(words["things"]) == kinds.PICKUPABLE
    assert set(words["furniture"]) == kinds.FURNITURE - {"Sink", "Bathtub"}
    for number in range(40):
        task, told = opening_task(5, number)
        assert told.words
        for quoted in told.words.values():
            assert quoted.lower() in task.goal.lower()


def test_a_name_that_may_mean_two_pieces_of_furniture_is_said_only_where_there_is_one_of_them() -> None:
    rng, goal = Random(5), Goal("pick_and_place_simple", "Mug", "SideTable")
    alone, beside = (
        {said(goal, here, rng)[1].words["parent"] for _ in range(300)}
        for here in ({"SideTable"}, {"SideTable", "DiningTable"})
    )
    assert "table" in alone and "table" not in beside


def test_a_sheet_teaches_what_sentences_mean_by_the_names_of_its_room() -> None:
    text, learn = (paper := sheet(5, 1)).text, paper.learn
    answers = [text[begin:end] for begin, end in learn]
    assert sum(" means " in answer for answer in answers) == text.count("Your task is to: ") - 1
    assert " may be at " in answers[-1]


def test_lessons_are_of_all_types_and_come_again() -> None:
    assert {lesson_task(5, number)[0].kind for number in range(7)} == set(TYPES)
    first, again = ([t.documents for t in lessons(4, 2)] for _ in range(2))
    assert first == again and first

"""The teacher of ALFRED's tasks on THOR, and its lessons."""

from __future__ import annotations

from functools import partial

import pytest

from bt_runtime.envs.registry import open_world
from bt_runtime.envs.thor.goals import TYPES, Goal
from bt_runtime.envs.thor.rooms import read_rooms
from bt_runtime.envs.thor.tasks import SAYINGS
from bt_runtime.run.run import load
from recipes.starter import data
from recipes.starter.lesson import teach
from recipes.starter.thor import teacher
from recipes.starter.thor_rooms import lesson_task, lessons


@pytest.mark.parametrize("strategy", ["react", "reactree"])
def test_a_teacher_that_reads_prompts_reaches_nearly_every_goal(strategy: str) -> None:
    tree, world, reached = load(strategy), open_world("thor", through="scene"), 0
    for number in range(14):
        task = lesson_task(5, number)
        knowing = partial(teacher, told={task.goal: Goal(**task.data["goal"])})
        verdict = teach(tree, world, task, knowing).verdict
        reached += verdict.met == verdict.total
    assert reached >= 13


def test_rooms_and_sentences_of_lessons_are_none_of_the_suite() -> None:
    said = {way for ways in data.read("thor_lessons")["said"].values() for way in ways}
    theirs = {way.replace("on the {p}", "{on} the {p}") for ways in SAYINGS.values() for way in ways}
    assert not said & theirs
    assert not {lesson_task(5, number).data["room"]["name"] for number in range(7)} & set(read_rooms())


def test_lessons_are_of_all_types_and_come_again() -> None:
    assert {lesson_task(5, number).kind for number in range(7)} == set(TYPES)
    first, again = ([t.documents for t in lessons(4, 3)] for _ in range(2))
    assert first == again and first

"""Lessons with skills that are nobody's."""

from __future__ import annotations

from functools import partial
from random import Random

import yaml

from bt_runtime.project import init
from bt_runtime.types import Task
from recipes.starter import data
from recipes.starter.bench import _tree, lessons, make_bench, teacher
from recipes.starter.lesson import teach


def test_a_teacher_does_what_is_asked_for_with_whatever_skills_there_are() -> None:
    for number in range(20):
        bench = make_bench(Random(number))
        knowing = partial(teacher, bench=bench)
        taught = teach(_tree("reactree", bench), bench, Task("t", "bench", bench.goal, {}), knowing)
        assert taught.verdict.met == 1, bench.goal
        assert all("What you can do:" in document.text for document in taught.documents)


def test_no_lesson_has_the_things_or_a_sentence_of_the_example() -> None:
    words = data.read("bench_words")
    assert "cube" not in words["nouns"]
    files = {place.as_posix() if hasattr(place, "as_posix") else place: told for place, told in init.files("arm")}
    tasks = yaml.safe_load(files["tasks.yaml"])["tasks"]
    goals = {task["goal"] for task in tasks if "data" in task}
    assert goals and not goals & {make_bench(Random(number)).goal for number in range(300)}


def test_the_same_numbers_give_the_same_lessons() -> None:
    first, again = ([t.documents for t in lessons(4, 3)] for _ in range(2))
    assert first == again and first

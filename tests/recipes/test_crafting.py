"""Lessons in TextCraft are made of made-up books only, and of the prompts of run time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from bt_runtime.envs.textcraft.invent import invent
from bt_runtime.envs.textcraft.recipes import NAMESPACE, Book
from bt_runtime.envs.textcraft.suite import SUITE, books
from recipes.starter.books import imagine, imagined, reserved
from recipes.starter.crafting import exercises, lessons
from recipes.starter.seen import read
from recipes.starter.textcraft import teacher

GAME = books(None)["game"]


@pytest.fixture(scope="module")
def taught() -> list:
    return list(lessons(1, 40))


def test_the_same_numbers_give_the_same_lessons_and_later_ones_can_be_had_alone(taught: list) -> None:
    assert list(lessons(1, 3, first=7)) == taught[7:10]


def test_what_is_learnt_is_what_the_teacher_answers_to_the_prompt_before_it(taught: list) -> None:
    for document in (document for lesson in taught for document in lesson.documents):
        for start, end in document.learn:
            prompt, answer = document.text[:start], document.text[start:end]
            sentence = answer.removeprefix("Act:").strip()
            said = teacher(read(prompt), [sentence])
            assert said.removeprefix("# Think:").rstrip("\n") == answer.rstrip("\n")


def test_names_of_the_game_and_of_invented_books_for_evaluation_are_reserved() -> None:
    assert all(map(reserved, GAME.items | GAME.kinds.keys()))
    assert all(reserved(f"{name}s") for name in GAME.items) and reserved("oak log")
    assert all(
        map(reserved, ("grindstone", "basalt", "soul torch", "charcoal", "netherite sword", "red glazed terracotta"))
    )
    for seed in range(30):
        book = invent(seed, "eval")
        assert all(map(reserved, book.items | book.kinds.keys()))


@pytest.mark.data
def test_every_name_in_the_game_s_own_recipe_files_is_reserved(data: Path) -> None:
    """Those that a table crafts with, and those that an oven, a saw or a smith knows."""
    found = json.loads((data / "textcraft" / "recipes_1.16.5.json").read_text(encoding="utf-8"))
    entries = [entry for entry in found.values() if not entry["type"].startswith("minecraft:crafting_special")]
    names = {name for entry in entries for name in _names({**entry, "type": "", "group": ""})}
    assert len(names) > 700
    assert not [name for name in sorted(names) if not reserved(name)]


def _names(given: object) -> Iterator[str]:
    if isinstance(given, str) and given.startswith(NAMESPACE):
        yield given.removeprefix(NAMESPACE).replace("_", " ")
    inner = given.values() if isinstance(given, dict) else given if isinstance(given, list) else ()
    for each in inner:
        yield from _names(each)


def test_made_up_books_have_no_reserved_name() -> None:
    for seed in range(40):
        book = imagine(Random(seed), wide=seed % 2 == 0)
        assert not [name for name in (*book.items, *book.kinds) if reserved(name)]


def test_no_lesson_shows_a_recipe_or_names_a_goal_of_the_game(taught: list) -> None:
    made = {f"{recipe.item} using " for recipe in GAME.recipes}
    for document in (document for lesson in taught for document in lesson.documents):
        shown = {line.split(" ", 2)[2].partition("using ")[0] + "using " for line in _commands(document.text)}
        assert not shown & made


def test_prompts_run_from_short_to_as_long_as_those_of_the_game(taught: list) -> None:
    lengths = sorted(len(list(_commands(d.text))) for lesson in taught for d in lesson.documents)
    game = SUITE.tasks(1, 40, "eval")
    longest = sorted(len(task.data["commands"]) for task in game)
    assert lengths[0] <= 5 and lengths[int(0.95 * len(lengths))] >= longest[len(longest) // 2]


def test_a_made_up_goal_has_the_depth_that_is_asked_for() -> None:
    rng = Random(5)
    for depth in (1, 2, 3, 4):
        task = next(t for t in (imagined(rng, depth, "x") for _ in range(20)) if t is not None)
        assert task.kind == f"depth {depth}"


def test_a_good_part_of_what_is_fetched_has_a_plural_name_as_in_the_game() -> None:
    names = [name for seed in range(20) for name in _fetched(imagine(Random(seed), wide=True))]
    assert sum(name.endswith("s") for name in names) > 0.2 * len(names)


def _fetched(book: Book) -> list[str]:
    return [name for name in sorted(book.items) if book.fetchable(name)]


def test_every_strategy_is_taught() -> None:
    kinds = {exercise.kind.split()[1] for exercise, _ in exercises(1, 150)}
    assert kinds == {"adapt", "reactree", "react", "plan_and_execute", "lota"}


def _commands(text: str) -> list[str]:
    shown = text.rpartition("Crafting commands:\n")[2].partition("\n\n")[0]
    return [line for line in shown.splitlines() if line.startswith("craft ")]

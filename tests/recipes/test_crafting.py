"""Lessons in TextCraft are made of made-up books only, and of the prompts of run time."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from statistics import mean

import pytest

from bt_envs.textcraft.invent import invent
from bt_envs.textcraft.recipes import NAMESPACE, Book, Ingredient, read_line
from bt_envs.textcraft.suite import SUITE, books
from bt_envs.textcraft.world import TextCraft
from bt_runtime import load
from bt_runtime.types import Task
from recipes.starter.lesson import teach
from recipes.starter.seen import read
from recipes.starter.textcraft.books import imagine, imagined
from recipes.starter.textcraft.crafting import WIDE, exercises, lessons, task
from recipes.starter.textcraft.lookups import lookups
from recipes.starter.textcraft.names import reserved
from recipes.starter.textcraft.teacher import teacher

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


def test_names_end_alike_at_least_as_often_as_in_the_game() -> None:
    """`blue dye` beside `light blue dye`: there the wrong recipe is read most."""
    rng = Random(8)
    ours = [t for t in (imagined(rng, 3, "x", wide=True) for _ in range(25)) if t is not None]
    assert _alike(ours) >= _alike(SUITE.tasks(1, 40, "eval", ["depth 3"]))


def _alike(tasks: list[Task]) -> float:
    """The share of the things in a list whose name ends another one's."""
    lists = [[read_line(line).item for line in task.data["commands"]] for task in tasks]  # type: ignore[union-attr]
    return mean(mean(any(n.endswith(f" {name}") for n in names) for name in names) for names in lists)


def test_half_of_the_goals_have_one_of_a_kind_to_be_made_on_the_way() -> None:
    """`planks: craft 3 planks`: what was hardly ever taught was taken for something to fetch."""
    rng = Random(3)
    ours = [t for t in (imagined(rng, 3, "x", wide=True) for _ in range(40)) if t is not None]
    assert mean(any(need.item in made.data["kinds"] for need in _needs(made)) for made in ours) > 0.4


def _needs(made: Task) -> list[Ingredient]:
    return [need for line in made.data["commands"] for need in read_line(line).needs]  # type: ignore[union-attr]


def test_a_thing_is_made_in_several_ways_of_several_ingredients_at_least_as_often_as_in_the_game() -> None:
    ours = [imagine(Random(seed), wide=True) for seed in range(20)]
    assert mean(map(_ways, ours)) >= _ways(GAME)


def _ways(book: Book) -> float:
    return mean(sum(len(recipe.needs) > 1 for recipe in ways) > 1 for ways in book.of.values())


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_the_teacher_comes_to_an_end_with_its_own_tasks_by_adapt(depth: int) -> None:
    tree, world, rng = load("adapt"), TextCraft({}), Random(depth)
    taught = [teach(tree, world, task(rng, depth, "x", WIDE), teacher, inputs={"max_depth": 4}) for _ in range(8)]
    assert [each.verdict.met for each in taught] == [1] * 8


def test_some_lookups_go_on_until_there_is_enough_and_none_tries_what_cannot_be_done() -> None:
    found = [document.text for document in lookups(5, 30)]
    assert sum("Think: Made " in text for text in found) > 5
    assert not [text for text in found if "Could not" in text or "Act: inventory" in text]


def test_lookups_ask_in_the_words_of_the_run_time_and_answer_as_if_each_stood_alone() -> None:
    lesson = next(d for t in lessons(1, 9) for d in t.documents if d.kind.startswith("textcraft adapt"))
    system = lesson.text.partition("\n\n")[0]
    systems = set()
    for document in lookups(3, 20):
        head, _, rest = document.text.partition("\n\n")
        systems.add(head)
        shown = rest[rest.index("Crafting commands:") : rest.index("Inventory:")]
        starts = [*(m.start() for m in re.finditer(r"^Your task is to: ", document.text, re.MULTILINE)), None]
        for begin, end in itertools.pairwise(starts):
            alone = document.text[begin:end].replace(shown, "").replace("\nInventory:", f"\n{shown}Inventory:")
            for start, stop in document.learn:
                if start >= begin and stop <= (end or stop):
                    answer = document.text[start:stop]
                    prompt = f"{head}\n\n{alone[: alone.index(answer)]}"
                    said = teacher(read(prompt), [answer.removeprefix("Act:").strip()])
                    assert said.rstrip("\n") == answer.rstrip("\n")
    assert system in systems and len(systems) == 2


def test_lookups_ask_many_things_of_one_list_and_each_once() -> None:
    found = list(lookups(4, 30))
    asked = [
        re.findall(r"^Your task is to: (?:craft|get) (?:\d+ )?(.+?)(?: using .+)?$", d.text, re.MULTILINE)
        for d in found
    ]
    assert all(d.text.count("Crafting commands:") == 1 for d in found)
    assert mean(map(len, asked)) > 6
    learnt = sum(end - start for d in found for start, end in d.learn) / sum(len(d.text) for d in found)
    assert learnt > 0.4, "a list is most of a lesson's text"


def test_no_lookup_names_a_thing_of_the_game() -> None:
    for document in lookups(6, 30):
        shown = {line.split(" ", 2)[2].partition(" using ")[0] for line in _commands(document.text)}
        assert shown and not any(map(reserved, shown))


def test_every_strategy_is_taught() -> None:
    kinds = {exercise.kind.split()[1] for exercise, _ in exercises(1, 150)}
    assert kinds == {"adapt", "reactree", "react", "plan_and_execute", "lota"}


def _commands(text: str) -> list[str]:
    shown = text.rpartition("Crafting commands:\n")[2].partition("\n\n")[0]
    return [line for line in shown.splitlines() if line.startswith("craft ")]


def test_some_lists_have_many_products_that_begin_with_the_word_of_the_goal() -> None:
    """As `birch door` stands among ten other things of birch: what is fetched begins with that word too, and no product
    is it."""
    crowded, fetched = 0, 0
    for number in range(120):
        task = imagined(Random(number), 2, "crowd")
        if task is None:
            continue
        lines = [line for line in map(read_line, task.data["commands"]) if line is not None]
        stuff = task.data["goal"].split()[0]
        products = {line.item for line in lines}
        if sum(item.split()[0] == stuff for item in products) >= 6:
            crowded += 1
            fetched += any(n.item.split()[0] == stuff and n.item not in products for line in lines for n in line.needs)
    assert crowded >= 8 and fetched >= 4

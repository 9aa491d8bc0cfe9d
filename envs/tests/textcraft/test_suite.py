from __future__ import annotations

from pathlib import Path

import pytest

from bt_envs.textcraft.recipes import read_line
from bt_envs.textcraft.suite import SUITE
from bt_runtime.types import Task


@pytest.mark.parametrize(("split", "book"), [("train", "invented"), ("eval", "game"), ("eval", "invented")])
def test_the_oracle_solves_a_thousand_of_a_thousand(split: str, book: str) -> None:
    """Every generated task is solved, no sentence is refused, and every one of them was offered."""
    world = SUITE.open()
    solved = 0
    for i, task in enumerate(SUITE.tasks(17, 1000, split, book=book)):  # type: ignore[arg-type]
        world.reset(task)
        for sentence in SUITE.oracle(world, task):
            assert i % 20 or sentence in world.skills(), sentence
            assert world.act(sentence).ok, (task, sentence)
        solved += world.verdict().met
    assert solved == 1000


@pytest.mark.data
def test_the_oracle_solves_every_goal_of_the_paper(data: Path) -> None:
    """A thousand tasks over the 200 goals of depth 2 to 4 that nobody may train on."""
    world = SUITE.open(data=data)
    tasks = SUITE.tasks(17, 1000, "eval", data=data)
    for task in tasks:
        world.reset(task)
        for sentence in SUITE.oracle(world, task):
            world.act(sentence)
        assert world.verdict() == (1, 1)
    assert len({task.goal for task in tasks}) > 150


@pytest.mark.data
def test_no_goal_of_the_papers_evaluation_is_in_training(data: Path) -> None:
    """With the game's files, train draws from the goals that are set aside, eval from all others."""
    train = {t.goal for t in SUITE.tasks(1, 2000, "train", data=data)}
    assert train and not train & {t.goal for t in SUITE.tasks(1, 2000, "eval", data=data)}


def test_training_on_our_book_stays_below_the_papers_depths() -> None:
    """The game's own goals of depth 2 and more are for evaluation, whatever is asked."""
    assert {t.kind for t in SUITE.tasks(1, 200, "train", book="game")} == {"depth 1"}
    assert {t.kind for t in SUITE.tasks(1, 200, "eval")} == {"depth 2", "depth 3", "depth 4"}


def test_kinds_take_turns_and_can_be_chosen() -> None:
    """A run of tasks has every depth equally; `kinds` narrows it."""
    assert [t.kind for t in SUITE.tasks(1, 5)] == ["depth 1", "depth 2", "depth 3", "depth 4", "depth 1"]
    assert {t.kind for t in SUITE.tasks(1, 9, kinds=["depth 3"])} == {"depth 3"}


def test_the_same_seed_gives_the_same_tasks_and_another_does_not() -> None:
    """Tasks are made by the seed alone; the first of many are the same as few."""
    assert SUITE.tasks(5, 8) == SUITE.tasks(5, 20)[:8]
    assert SUITE.tasks(5, 8) != SUITE.tasks(6, 8)


def test_no_goal_comes_twice_before_each_has_come_once() -> None:
    tasks = SUITE.tasks(5, 330, "eval")
    for depth, items in ((2, 110), (3, 110), (4, 10)):
        goals = [task.goal for task in tasks if task.kind == f"depth {depth}"]
        assert len(set(goals[:items])) == items


def test_a_task_shows_its_gold_recipes_and_at_most_ten_others() -> None:
    """Every ingredient that has to be made has its recipe shown; distractors are real recipes of the same book."""
    world = SUITE.open()
    for task in SUITE.tasks(9, 40, "eval") + SUITE.tasks(9, 40):
        world.reset(task)
        shown = {r.item for line in task.data["commands"] if (r := read_line(line))}
        gold = gold_items(world, task)
        assert gold <= shown
        assert len(task.data["commands"]) - sum(len(world.book.of[item]) for item in gold) <= 10  # type: ignore[attr-defined]
        assert len(set(task.data["commands"])) == len(task.data["commands"])


def gold_items(world: object, task: Task) -> set[str]:
    book = world.book  # type: ignore[attr-defined]
    found: set[str] = set()
    todo = [task.data["goal"]]
    while todo:
        name = todo.pop()
        for item in book.members(name):
            if book.craftable(item) and item not in found:
                found.add(item)
                todo += [n.item for r in book.of[item] for n in r.needs]
    return found


def test_a_thousand_games_run_side_by_side() -> None:
    """Worlds that take turns say exactly what they say alone."""
    tasks = SUITE.tasks(13, 1000)
    alone = []
    single = SUITE.open()
    for task in tasks:
        single.reset(task)
        alone.append([single.act(sentence).text for sentence in SUITE.oracle(single, task)])
    worlds = [SUITE.open() for _ in tasks]
    for world, task in zip(worlds, tasks, strict=True):
        world.reset(task)
    scripts = [SUITE.oracle(world, task) for world, task in zip(worlds, tasks, strict=True)]
    together: list[list[str]] = [[] for _ in tasks]
    running = list(range(len(tasks)))
    while running:
        for i in list(running):
            sentence = next(scripts[i], None)
            if sentence is None:
                running.remove(i)
            else:
                together[i].append(worlds[i].act(sentence).text)
    assert together == alone

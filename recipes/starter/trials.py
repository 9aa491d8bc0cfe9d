"""Lessons of strategies that try more than once, and of one that never looks back, in the house."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random

from bt_runtime.distill.documents import Document
from bt_runtime.envs.registry import open_world
from bt_runtime.envs.textcraft.world import TextCraft
from bt_runtime.run.run import Tree, load
from bt_runtime.types import Json, World
from recipes.starter import crafting, house, housekeeping, textcraft, tour
from recipes.starter.errand import meant
from recipes.starter.exercise import Exercise, some
from recipes.starter.homes import make_lesson_task
from recipes.starter.judge import judges
from recipes.starter.lesson import Slips, Taught

_MIXTURE = (  # (strategy, with working memory, how often)
    ("lota", False, 100), ("try_again", True, 3), ("try_again", False, 2),
    ("reflexion", True, 10), ("reflexion", False, 7),
)  # fmt: skip
_GIVES_UP = (0.0, 0.02, 0.04)  # of the decisions: attempts that fail early, so that there is a next one
_EARLY = (0.01, 0.02, 0.04)  # … that end as done too early, where somebody looks at it
_CRAFTING = 0.12  # of the lessons are Reflexion's in TextCraft
_JUDGED = 0.7  # of Reflexion's lessons: what ends an attempt is the judge, rather than itself
_SLIPPING = (0.0, 0.0, 0.05)
_STRAYS = (0.0, 0.08, 0.2)  # of LoTa's decisions: things that are passed by, or brought alone
_BROUGHT = 2  # short documents of only what follows on what was put down, for each of LoTa's
_RUNS, _ALONE = 0.3, 0.35  # of LoTa's tasks end with something that is turned on; of those of one thing are taken
_MANY, _LOOKS = 4, 8  # things at most, as many as thirty acts can bring; tasks that are looked at for one like that
_ELSEWHERE = 2_000_000_000  # numbers of their tasks
_MOST = 3  # documents of attempts in one lesson


def lessons(seed: int, count: int, first: int = 0) -> Iterator[Taught]:
    """So many tasks, each in a home of its own; the same numbers give the same lessons."""
    for exercise, rng in exercises(seed, count, first):
        taught = exercise.taught()
        documents = _worth(exercise, taught.documents, rng)
        yield taught._replace(documents=[*documents, *housekeeping.doubts(exercise, taught, rng)])


def exercises(seed: int, count: int, first: int = 0) -> Iterator[tuple[Exercise, Random]]:
    """What the lessons are given on, and the chance that goes on from there."""
    world, crafts = open_world("house"), TextCraft({})
    trees = {name: load(name) for name, _, _ in _MIXTURE}
    for number in range(first, first + count):
        rng = Random(f"trials {seed} {number}")
        if rng.random() < _CRAFTING:
            yield _crafted(trees["reflexion"], crafts, f"trials-{seed}-{number}", rng), rng
            continue
        name, recall, _ = rng.choices(_MIXTURE, [w for *_, w in _MIXTURE])[0]
        if name == "lota":
            yield _toured(trees[name], world, seed, number, rng), rng
            continue
        task = make_lesson_task(seed, _ELSEWHERE + number)
        told = meant(task)
        slips = Slips(rng.choice(_SLIPPING), rng, rng.choice(_GIVES_UP))
        inputs: dict[str, Json] = {}
        if name == "reflexion" and rng.random() < _JUDGED:
            slips = slips._replace(gives_up=0.0, early=rng.choice(_EARLY))
            inputs = {"judged": True}
        made = Exercise(
            f"house {name}", trees[name], world, task, partial(house.teacher, told=told), slips, recall, 300
        )
        yield made._replace(inputs=inputs, told=told), rng


def _toured(tree: Tree, world: World, seed: int, number: int, rng: Random) -> Exercise:
    """One of LoTa's: more often than elsewhere of two to five things, or with something to be turned on."""
    runs, task = rng.random() < _RUNS, make_lesson_task(seed, _ELSEWHERE + number)
    for again in range(1, _LOOKS):
        errands = meant(task)[task.goal]
        many = sum(errand.amount for errand in errands if errand.thing)
        if many <= _MANY and (errands[-1].thing == "" if runs else many > 1 or rng.random() < _ALONE):
            break
        task = make_lesson_task(seed, _ELSEWHERE + again * _ELSEWHERE // 10 + number)
    told = meant(task)
    astray = Slips(rng.choice(_STRAYS), rng, astray=partial(tour.astray, told=told, rng=rng))
    sieve = partial(tour.thinned, rng=rng, errands=told[task.goal])
    return Exercise(
        "house lota", tree, world, task, partial(tour.teacher, told=told), astray, False, 300, told=told, sieve=sieve,
    )  # fmt: skip


def _crafted(tree: Tree, world: World, name: str, rng: Random) -> Exercise:
    """Reflexion in TextCraft, where the judge looks into the bag."""
    task = crafting.task(rng, rng.choice((1, 2, 2, 3)), name, wide=0.5)
    slips = Slips(rng.choice(_SLIPPING), rng, early=rng.choice((0.0, 0.05, 0.1)))
    inputs = {"judged": True}
    return Exercise("textcraft reflexion", tree, world, task, textcraft.teacher, slips, decisions=150, inputs=inputs)


def _worth(exercise: Exercise, documents: list[Document], rng: Random) -> list[Document]:
    """All reflections and judgements, and some attempts, the last among them."""
    if exercise.kind == "house lota":
        errands = (exercise.told or {})[exercise.task.goal]
        return [*documents, *(tour.brought(document, rng, errands) for document in documents for _ in range(_BROUGHT))]
    reflected = [document for document in documents if house.REFLECTS in document.text or judges(document.text)]
    attempts = [document for document in documents if document not in reflected]
    return [*reflected, *some(attempts[:-1], _MOST - 1, rng), *attempts[-1:]]

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
    ("lota", False, 60), ("try_again", True, 3), ("try_again", False, 2),
    ("reflexion", True, 10), ("reflexion", False, 7),
)  # fmt: skip
_GIVES_UP = (0.0, 0.02, 0.04)  # of the decisions: attempts that fail early, so that there is a next one
_EARLY = (0.01, 0.02, 0.04)  # … that end as done too early, where somebody looks at it
_CRAFTING = 0.15  # of the lessons are Reflexion's in TextCraft
_JUDGED = 0.7  # of Reflexion's lessons: what ends an attempt is the judge, rather than itself
_SLIPPING = (0.0, 0.0, 0.05)
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
        task = make_lesson_task(seed, _ELSEWHERE + number)
        name, recall, _ = rng.choices(_MIXTURE, [w for *_, w in _MIXTURE])[0]
        tours = name == "lota"
        teacher = partial(tour.teacher if tours else house.teacher, told=meant(task))
        slips = None if tours else Slips(rng.choice(_SLIPPING), rng, rng.choice(_GIVES_UP))
        inputs: dict[str, Json] = {}
        if slips is not None and name == "reflexion" and rng.random() < _JUDGED:
            slips = slips._replace(gives_up=0.0, early=rng.choice(_EARLY))
            inputs = {"judged": True}
        told = meant(task)
        sieve = partial(tour.thinned, rng=rng, errands=told[task.goal]) if tours else None
        kind = f"house {name}"
        made = Exercise(kind, trees[name], world, task, teacher, slips, recall, 300, inputs)
        yield made._replace(told=told, sieve=sieve), rng


def _crafted(tree: Tree, world: World, name: str, rng: Random) -> Exercise:
    """Reflexion in TextCraft, where the judge looks into the bag."""
    task = crafting.task(rng, rng.choice((1, 2, 2, 3)), name, wide=0.5)
    slips = Slips(rng.choice(_SLIPPING), rng, early=rng.choice((0.0, 0.05, 0.1)))
    inputs = {"judged": True}
    return Exercise("textcraft reflexion", tree, world, task, textcraft.teacher, slips, decisions=150, inputs=inputs)


def _worth(exercise: Exercise, documents: list[Document], rng: Random) -> list[Document]:
    """All reflections and judgements, and some attempts, the last among them."""
    if exercise.kind == "house lota":
        return documents
    reflected = [document for document in documents if house.REFLECTS in document.text or judges(document.text)]
    attempts = [document for document in documents if document not in reflected]
    return [*reflected, *some(attempts[:-1], _MOST - 1, rng), *attempts[-1:]]

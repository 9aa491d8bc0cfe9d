"""Lessons of strategies that try more than once, and of one that never looks back, in the house."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random

from bt_runtime.distill.documents import Document
from bt_runtime.envs.registry import open_world
from bt_runtime.run.run import load
from recipes.starter import house, tour
from recipes.starter.errand import meant
from recipes.starter.exercise import Exercise, some
from recipes.starter.homes import make_lesson_task
from recipes.starter.lesson import Slips, Taught

_MIXTURE = (  # (strategy, with working memory, how often)
    ("lota", False, 90), ("try_again", True, 2), ("try_again", False, 1),
    ("reflexion", True, 4), ("reflexion", False, 3),
)  # fmt: skip
_GIVES_UP = (0.0, 0.02, 0.04)  # of the decisions: attempts that fail early, so that there is a next one
_SLIPPING = (0.0, 0.0, 0.05)
_ELSEWHERE = 2_000_000_000  # numbers of their tasks
_MOST = 3  # documents of attempts in one lesson


def lessons(seed: int, count: int, first: int = 0) -> Iterator[Taught]:
    """So many tasks, each in a home of its own; the same numbers give the same lessons."""
    for exercise, rng in exercises(seed, count, first):
        taught = exercise.taught()
        yield taught._replace(documents=_worth(exercise, taught.documents, rng))


def exercises(seed: int, count: int, first: int = 0) -> Iterator[tuple[Exercise, Random]]:
    """What the lessons are given on, and the chance that goes on from there."""
    world, trees = open_world("house"), {name: load(name) for name, _, _ in _MIXTURE}
    for number in range(first, first + count):
        rng = Random(f"trials {seed} {number}")
        task = make_lesson_task(seed, _ELSEWHERE + number)
        name, recall, _ = rng.choices(_MIXTURE, [w for *_, w in _MIXTURE])[0]
        tours = name == "lota"
        teacher = partial(tour.teacher if tours else house.teacher, told=meant(task))
        slips = None if tours else Slips(rng.choice(_SLIPPING), rng, rng.choice(_GIVES_UP))
        sieve = partial(tour.thinned, rng=rng, errands=meant(task)[task.goal]) if tours else None
        yield Exercise(f"house {name}", trees[name], world, task, teacher, slips, recall, 300, sieve=sieve), rng


def _worth(exercise: Exercise, documents: list[Document], rng: Random) -> list[Document]:
    """All reflections, and some attempts, the last among them."""
    if exercise.kind == "house lota":
        return documents
    reflected = [document for document in documents if house.REFLECTS in document.text]
    attempts = [document for document in documents if document not in reflected]
    return [*reflected, *some(attempts[:-1], _MOST - 1, rng), *attempts[-1:]]

"""Lessons in ALFWorld: the teacher at work in every strategy, in made-up homes, small and large, whose goals no
evaluation has."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from random import Random

from bt_envs.alfworld import invent
from bt_envs.alfworld.game import KINDS
from bt_envs.alfworld.world import AlfWorld
from bt_runtime.types import Task
from recipes.starter.alfworld.rooms import room_task
from recipes.starter.alfworld.rules import Rules
from recipes.starter.alfworld.teacher import teacher
from recipes.starter.exercise import Exercise, solved, strategy
from recipes.starter.lesson import Slips, Taught

_MIXTURE = (("adapt", 45), ("reactree", 15), ("react", 25), ("plan_and_execute", 15))
_SLIPPING = (0.0, 0.0, 0.05, 0.1)  # of a lesson's decisions
_GIVING_UP = (0.0, 0.0, 0.03, 0.06)  # … of ADaPT's, by an executor in the midst of what it tries
MOST = 5  # documents of one task
_OFTEN = (*KINDS, *(KINDS[1], KINDS[5]) * 2)  # two searches in one task are missed most
LARGE = 0.7  # of the homes have as much furniture as real rooms


def lessons(seed: int, count: int, first: int = 0) -> Iterator[Taught]:
    """So many tasks that came out well; the same numbers give the same lessons."""
    return solved(exercises(seed, count, first), MOST)


def exercises(seed: int, count: int, first: int = 0) -> Iterator[tuple[Exercise, Random]]:
    """What the lessons are given on, and the chance that goes on from there."""
    for number in range(first, first + count):
        rng = Random(f"alfworld lesson {seed} {number}")
        name = rng.choices([name for name, _ in _MIXTURE], [often for _, often in _MIXTURE])[0]
        slips = Slips(rng.choice(_SLIPPING), rng, gives_up=rng.choice(_GIVING_UP) if name == "adapt" else 0.0)
        yield Exercise(f"alfworld {name}", strategy(name), world(), lesson_task(seed, number), teacher, slips), rng


def lesson_task(seed: int, number: int) -> Task:
    """Of the split that is trained on: its goals are in no other."""
    kind = _OFTEN[number % len(_OFTEN)]
    if Random(f"alfworld size {seed} {number}").random() < LARGE:
        return room_task(seed, kind, number)
    return invent.task("train", seed, kind, number)


@lru_cache
def world() -> AlfWorld:
    """Played by the rules, without an engine."""
    return AlfWorld(Rules())

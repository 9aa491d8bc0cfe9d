"""Lessons in the house: the teacher at work in homes that are made up for it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random

from bt_runtime.distill.errand import meant
from bt_runtime.distill.homes import make_lesson_task
from bt_runtime.distill.house import teacher
from bt_runtime.distill.lesson import Slips, Taught, teach
from bt_runtime.envs.registry import open_world
from bt_runtime.runtime import load

_MIXTURE = (  # (strategy, with working memory, how often)
    ("reactree", True, 45), ("reactree", False, 10), ("react", True, 35), ("react", False, 10),
)  # fmt: skip
_SLIPPING = (0.0, 0.0, 0.05, 0.12)  # of a lesson's decisions


def lessons(seed: int, count: int, first: int = 0) -> Iterator[Taught]:
    """So many tasks, each in a home of its own; the same numbers give the same lessons."""
    trees = {name: load(name) for name, _, _ in _MIXTURE}
    world = open_world("house")
    for number in range(first, first + count):
        rng = Random(f"lesson {seed} {number}")
        task = make_lesson_task(seed, number)
        name, recall, _ = rng.choices(_MIXTURE, [w for *_, w in _MIXTURE])[0]
        slips = Slips(rng.choice(_SLIPPING), rng)
        knowing = partial(teacher, told=meant(task))
        yield teach(trees[name], world, task, knowing, kind=f"house {name}", slips=slips, recall=recall, decisions=300)

"""Lessons in the house: the teacher at work in homes that are made up for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from random import Random

from bt_runtime.agents.story import EXPAND
from bt_runtime.distill.documents import Document
from bt_runtime.distill.errand import meant
from bt_runtime.distill.exercise import Exercise
from bt_runtime.distill.homes import make_lesson_task
from bt_runtime.distill.house import teacher
from bt_runtime.distill.lesson import Slips, Taught
from bt_runtime.envs.registry import open_world
from bt_runtime.runtime import load

_MIXTURE = (  # (strategy, with working memory, how often)
    ("reactree", True, 60), ("reactree", False, 15), ("react", True, 20), ("react", False, 5),
)  # fmt: skip
_SLIPPING = (0.0, 0.0, 0.05, 0.12)  # of a lesson's decisions
MOST = 6  # agents of a task that only act: they look alike, those that expand do not, and all of those are kept
OPENINGS = 4  # tasks of which only the first decisions are taught, for each that is taught to its end
_FIRST = {"reactree": 1, "react": 4}  # decisions of an opening: all that is decided about the whole task
_ELSEWHERE = 1_000_000  # numbers of their tasks


def lessons(seed: int, count: int, first: int = 0) -> Iterator[Taught]:
    """So many tasks, each in a home of its own, and the openings of others; the same numbers give the same lessons."""
    for exercise, rng in exercises(seed, count, first):
        taught = exercise.taught()
        yield taught._replace(documents=_worth(taught.documents, rng))


def exercises(seed: int, count: int, first: int = 0) -> Iterator[tuple[Exercise, Random]]:
    """What the lessons are given on, and the chance that goes on from there."""
    trees = {name: load(name) for name, _, _ in _MIXTURE}
    world = open_world("house")
    for number in range(first, first + count):
        rng = Random(f"lesson {seed} {number}")
        for part in range(1 + OPENINGS):
            place = number if part == 0 else _ELSEWHERE + number * OPENINGS + part
            task = make_lesson_task(seed, place)
            name, recall, _ = rng.choices(_MIXTURE, [w for *_, w in _MIXTURE])[0]
            slips = Slips(0.0 if part else rng.choice(_SLIPPING), rng)
            knowing = partial(teacher, told=meant(task))
            most = _FIRST[name] if part else 300
            yield Exercise(f"house {name}", trees[name], world, task, knowing, slips, recall, most), rng


def _worth(documents: Sequence[Document], rng: Random) -> list[Document]:
    """All agents that expand, and some of those that only act, in their order."""
    expand = [i for i, d in enumerate(documents) if any(d.text.startswith(EXPAND, begin) for begin, _ in d.learn)]
    others = [i for i in range(len(documents)) if i not in expand]
    return [documents[i] for i in sorted([*expand, *rng.sample(others, min(MOST, len(others)))])]

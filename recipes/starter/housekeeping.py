"""Lessons in the house: the teacher at work in homes that are made up for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from random import Random

from bt_runtime.agents.story import EXPAND
from bt_runtime.distill.documents import Document
from bt_runtime.envs.registry import open_world
from bt_runtime.run.run import load
from recipes.starter.errand import meant
from recipes.starter.exercise import Exercise, some
from recipes.starter.homes import make_lesson_task
from recipes.starter.house import teacher
from recipes.starter.lesson import Slips, Taught
from recipes.starter.reminders import reminded
from recipes.starter.steps import ORDER

_MIXTURE = (  # (strategy, with working memory, how often)
    ("reactree", True, 30), ("reactree", False, 8), ("react", True, 14), ("react", False, 4),
    ("adapt", True, 24), ("adapt", False, 5), ("plan_and_execute", True, 12), ("plan_and_execute", False, 3),
)  # fmt: skip
_SLIPPING = (0.0, 0.0, 0.05, 0.12)  # of a lesson's decisions
MOST = 6  # agents of a task that only act: they look alike, those that expand do not, and all of those are kept
OPENINGS = 4  # tasks of which only the first decisions are taught, for each that is taught to its end
_FIRST = {
    "reactree": 1,
    "react": 4,
    "adapt": 2,
    "plan_and_execute": 1,
}  # decisions of an opening: all that is decided about the whole task
REMINDED = 0.25  # of the lessons
_ELSEWHERE = 1_000_000  # numbers of their tasks


def lessons(seed: int, count: int, first: int = 0) -> Iterator[Taught]:
    """So many tasks, each in a home of its own, the openings of others, and some more in which agents are told what
    those of the first did; the same numbers give the same lessons."""
    hall = _Hall(seed)
    for number in range(first, first + count):
        rng, whole = _chance(seed, number), None
        for part in range(1 + OPENINGS):
            taught = hall.exercise(number, part, rng).taught()
            whole = whole or taught
            yield taught._replace(documents=_worth(taught.documents, rng))
        if whole and rng.random() < REMINDED:
            taught = hall.exercise(number, 1 + OPENINGS, rng).taught()
            shown = some(_worth(taught.documents, rng), MOST, rng)
            yield taught._replace(documents=[reminded(document, whole.documents, rng) for document in shown])


def exercises(seed: int, count: int, first: int = 0) -> Iterator[tuple[Exercise, Random]]:
    """What the lessons are given on, and the chance that goes on from there."""
    hall = _Hall(seed)
    for number in range(first, first + count):
        rng = _chance(seed, number)
        for part in range(1 + OPENINGS):
            yield hall.exercise(number, part, rng), rng


def _chance(seed: int, number: int) -> Random:
    return Random(f"lesson {seed} {number}")


class _Hall:
    """Where lessons are given: a world, and the strategies."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.world = open_world("house")
        self.trees = {name: load(name) for name, _, _ in _MIXTURE}

    def exercise(self, number: int, part: int, rng: Random) -> Exercise:
        """Part 0 of a lesson and the one after its openings go to their ends."""
        first = 1 <= part <= OPENINGS
        task = make_lesson_task(self.seed, number if part == 0 else _ELSEWHERE + number * (1 + OPENINGS) + part)
        name, recall, _ = rng.choices(_MIXTURE, [w for *_, w in _MIXTURE])[0]
        slips = Slips(0.0 if first else rng.choice(_SLIPPING), rng)
        knowing = partial(teacher, told=meant(task))
        most = _FIRST[name] if first else 300
        return Exercise(f"house {name}", self.trees[name], self.world, task, knowing, slips, recall, most)


def plans(document: Document) -> bool:
    """Is one of its answers a plan?"""
    return any(
        document.text.startswith(EXPAND, begin) or ORDER in document.text[begin:end] for begin, end in document.learn
    )


def _worth(documents: Sequence[Document], rng: Random) -> list[Document]:
    """All agents that expand, and some of those that only act, in their order."""
    expand = [i for i, document in enumerate(documents) if plans(document)]
    others = [i for i in range(len(documents)) if i not in expand]
    return [documents[i] for i in sorted([*expand, *rng.sample(others, min(MOST, len(others)))])]

"""Lessons of strategies that try again in rooms, ALFWorld's and ALFRED's: attempts, their judge, what is noted.

Of each judgement there are others besides: the same deeds, had the attempt ended sooner or left one of them out.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random
from typing import Any

from bt_lab.distill.documents import Document
from bt_runtime.agents.story import THINK
from bt_runtime.types import World
from recipes.starter.alfworld import homes
from recipes.starter.alfworld.teacher import teacher as alfworld_teacher
from recipes.starter.exercise import Exercise, some, strategy
from recipes.starter.judge import judgement, judges
from recipes.starter.lesson import Slips, Taught, Teacher
from recipes.starter.reflection import REFLECTS
from recipes.starter.room_judge import ended_early
from recipes.starter.seen import read
from recipes.starter.thor import rooms
from recipes.starter.thor.teacher import teacher as thor_teacher

_ELSEWHERE = 4_000_000_000  # numbers of their tasks
_THOR, _REFLEXION = 0.5, 0.6  # of the lessons
_EARLY = (0.0, 0.02, 0.05)  # how often an attempt ends as done too early
_OTHERWISE = 1  # judgement of an attempt that ended otherwise: half of the goals are met
_ATTEMPTS = 1  # of one task, that read what was noted


def lessons(seed: int, count: int, first: int = 0) -> Iterator[Taught]:
    """So many tasks; the same numbers give the same lessons."""
    for exercise, rng in exercises(seed, count, first):
        taught = exercise.taught()
        told: Any = exercise.told
        judged = [each for each in taught.documents if judges(each.text)]
        noted = [each for each in taught.documents if REFLECTS in each.text]
        attempts = [d for d in taught.documents if d not in judged and d not in noted and read(d.text).notes]
        prompts = [each.text.partition(f"\n{THINK}")[0] + f"\n{THINK}" for each in judged]
        others = (ended_early(rng.choice(prompts), rng) for _ in range(_OTHERWISE if prompts else 0))
        made = [judgement(f"{exercise.kind} ended early", each, told) for each in others if each]
        kept: list[Document] = [*judged, *made, *noted, *some(attempts, _ATTEMPTS, rng)]
        yield taught._replace(documents=kept)


def exercises(seed: int, count: int, first: int = 0) -> Iterator[tuple[Exercise, Random]]:
    """What the lessons are given on, and the chance that goes on from there."""
    for number in range(first, first + count):
        rng = Random(f"rooms tried {seed} {number}")
        name = "reflexion" if rng.random() < _REFLEXION else "try_again"
        slips = Slips(0.0, rng, early=rng.choice(_EARLY))
        if rng.random() < _THOR:
            task, meant = rooms.lesson_task(seed, _ELSEWHERE + number)
            told: Any = {task.goal: meant}
            teacher: Teacher = partial(thor_teacher, told=told)
            world: World = rooms.world()
        else:
            task, told = homes.lesson_task(seed, _ELSEWHERE + number), {}
            teacher, world = alfworld_teacher, homes.world()
        yield Exercise(f"rooms {name}", strategy(name), world, task, teacher, slips, told=told), rng

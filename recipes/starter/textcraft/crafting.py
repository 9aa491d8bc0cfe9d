"""Lessons in TextCraft: the teacher at work in every strategy, on books that are made up for it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from random import Random
from typing import Any, NamedTuple

from bt_envs.textcraft.recipes import read_line
from bt_envs.textcraft.tasks import task_invented
from bt_envs.textcraft.world import TextCraft
from bt_runtime.run.run import Tree, load
from bt_runtime.types import Task
from recipes.starter.exercise import Exercise, some
from recipes.starter.lesson import Slips, Taught
from recipes.starter.textcraft.books import imagined
from recipes.starter.textcraft.recipe_plan import work_for
from recipes.starter.textcraft.scene import Scene, Wanted
from recipes.starter.textcraft.teacher import teacher

_SLIPPING = (0.0, 0.0, 0.05, 0.1)  # of a lesson's decisions


class Share(NamedTuple):
    """How often a strategy is taught, and at which depths 1 to 4."""

    strategy: str
    often: float
    depths: tuple[float, float, float, float]
    inputs: dict[str, Any]
    slips: tuple[float, ...] = _SLIPPING


MIXTURE = (
    Share("adapt", 0.7, (0.05, 0.35, 0.3, 0.3), {"max_depth": 4}),
    Share("reactree", 0.07, (0.1, 0.3, 0.4, 0.2), {}),
    Share("react", 0.15, (0.2, 0.4, 0.3, 0.1), {}),
    Share("plan_and_execute", 0.05, (0.1, 0.4, 0.4, 0.1), {}),
    Share("lota", 0.03, (0.2, 0.4, 0.3, 0.1), {}, (0.0,)),  # it is not shown what came of its acts: no way back
)
_PRACTISED, _CORRECTED = 60, 0.75  # decisions of a task that is practised; the share of those that are set right
INSTRUCT = 0.05  # of the tasks are told in the register for other models
WIDE = 0.6  # of the books show as much as the game does; `lookups` has more of them
_LINES, _DEEPEST = 36, 4  # of an agent, which is stopped at 40; levels of agents
MOST = 4  # documents of one task: they share their recipes, and more tasks teach more


def lessons(seed: int, count: int, first: int = 0, most: int = MOST, wide: float = WIDE) -> Iterator[Taught]:
    """So many tasks that came out well, each with at most so many documents; the same numbers give the same lessons.
    `wide` is the share of books that show as much as the game does; short ones are sooner learnt from."""
    for number in range(first, first + count):
        for exercise, rng in _exercises(seed, number, wide):
            taught = exercise.taught()
            if taught.verdict.reached:  # one that runs out of steps teaches nothing
                yield taught._replace(documents=some(taught.documents, most, rng))
                break


def exercises(seed: int, count: int, first: int = 0, wide: float = WIDE) -> Iterator[tuple[Exercise, Random]]:
    """What the lessons are given on, whether or not the teacher comes to an end with it. Most who practise are set
    right at once: after a wrong recipe there is nothing to be learnt."""
    for number in range(first, first + count):
        exercise, rng = next(_exercises(seed, number, wide))
        yield exercise._replace(decisions=_PRACTISED, corrects=rng.random() < _CORRECTED), rng


def _exercises(seed: int, number: int, wide: float) -> Iterator[tuple[Exercise, Random]]:
    """One after another, and the chance that goes on from there."""
    trees, world = _trees(), TextCraft({})
    rng = Random(f"crafting {seed} {number}")
    while True:
        share = rng.choices(MIXTURE, [share.often for share in MIXTURE])[0]
        depth = rng.choices((1, 2, 3, 4), share.depths)[0]
        made, slips = task(rng, depth, f"crafting-{seed}-{number}", wide), Slips(rng.choice(share.slips), rng)
        prompts = "instruct" if rng.random() < INSTRUCT else ""
        kind, tree = f"textcraft {share.strategy} {depth} {prompts}".strip(), trees[share.strategy]
        yield Exercise(kind, tree, world, made, teacher, slips, inputs=share.inputs, prompts=prompts), rng


@lru_cache(maxsize=1)
def _trees() -> dict[str, Tree]:
    return {share.strategy: load(share.strategy) for share in MIXTURE}


def task(rng: Random, depth: int, name: str, wide: float) -> Task:
    """A goal in a book of its own."""
    invented = rng.random() < 0.15
    while True:
        made = task_invented(depth, rng, "train", name) if invented else imagined(rng, depth, name, rng.random() < wide)
        if made is not None and _can_be_done(made):
            return made


def _can_be_done(task: Task) -> bool:
    """On the way that the teacher goes, does each agent come to its end before it is stopped, none too deep?"""
    lines = [read_line(line) for line in task.data["commands"]]
    scene = Scene(tuple(recipe for recipe in lines if recipe), {})
    todo = [(1, Wanted("craft", 1, str(task.data["goal"]), ()))]
    while todo:
        level, wanted = todo.pop()
        work = work_for(scene, wanted)
        if work is None:
            continue
        inner = [(level + 1, Wanted("craft", n.amount, n.name, ())) for n in work.needs if n.verdict == "craft"]
        acts = 2 + sum(need.verdict == "get" for need in work.needs)
        if (inner and level == _DEEPEST) or -(-wanted.amount // work.recipe.makes) * acts > _LINES:
            return False
        todo += inner
    return True

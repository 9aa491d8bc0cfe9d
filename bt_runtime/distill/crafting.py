"""Lessons in TextCraft: the teacher at work in every strategy, on books that are made up for it."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

from bt_runtime.distill.books import imagined
from bt_runtime.distill.lesson import Slips, Taught, teach
from bt_runtime.distill.textcraft import teacher
from bt_runtime.envs.textcraft.tasks import task_invented
from bt_runtime.envs.textcraft.world import TextCraft
from bt_runtime.runtime import load
from bt_runtime.types import Task

_SLIPPING = (0.0, 0.0, 0.05, 0.1)  # of a lesson's decisions


class Share(NamedTuple):
    """How often a strategy is taught, and at which depths 1 to 4."""

    strategy: str
    often: float
    depths: tuple[float, float, float, float]
    inputs: dict[str, Any]
    slips: tuple[float, ...] = _SLIPPING


MIXTURE = (
    Share("adapt", 0.6, (0.1, 0.3, 0.4, 0.2), {"max_depth": 4}),
    Share("reactree", 0.1, (0.1, 0.3, 0.4, 0.2), {}),
    Share("react", 0.2, (0.2, 0.4, 0.3, 0.1), {}),
    Share("plan_and_execute", 0.07, (0.1, 0.4, 0.4, 0.1), {}),
    Share("lota", 0.03, (0.2, 0.4, 0.3, 0.1), {}, (0.0,)),  # it is not shown what came of its acts: no way back
)
MOST = 4  # documents of one task: they share their recipes, and more tasks teach more


def lessons(seed: int, count: int, first: int = 0, most: int = MOST, wide: float = 0.5) -> Iterator[Taught]:
    """So many tasks that came out well, each with at most so many documents; the same numbers give the same lessons.
    `wide` is the share of books that show as much as the game does; short ones are sooner learnt from."""
    trees, world = {share.strategy: load(share.strategy) for share in MIXTURE}, TextCraft({})
    for number in range(first, first + count):
        rng = Random(f"crafting {seed} {number}")
        taught = None
        while taught is None or taught.verdict.met < taught.verdict.total:  # one that runs out of steps teaches nothing
            share = rng.choices(MIXTURE, [share.often for share in MIXTURE])[0]
            depth = rng.choices((1, 2, 3, 4), share.depths)[0]
            task, slips = _task(rng, depth, f"crafting-{seed}-{number}", wide), Slips(rng.choice(share.slips), rng)
            taught = teach(
                trees[share.strategy], world, task, teacher,
                kind=f"textcraft {share.strategy} {depth}", slips=slips, inputs=share.inputs,
            )  # fmt: skip
        kept = sorted(rng.sample(range(len(taught.documents)), min(most, len(taught.documents))))
        yield taught._replace(documents=[taught.documents[i] for i in kept])


def _task(rng: Random, depth: int, name: str, wide: float) -> Task:
    if rng.random() < 0.15:
        return task_invented(depth, rng, "train", name)
    while True:
        task = imagined(rng, depth, name, rng.random() < wide)
        if task is not None:
            return task

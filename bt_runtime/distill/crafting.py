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
from bt_runtime.types import Task


class Share(NamedTuple):
    """How often a strategy is taught, and at which depths 1 to 4."""

    strategy: str
    often: float
    depths: tuple[float, float, float, float]
    inputs: dict[str, Any]


MIXTURE = (
    Share("adapt", 0.45, (0.1, 0.3, 0.4, 0.2), {"max_depth": 4}),
    Share("reactree", 0.2, (0.1, 0.3, 0.4, 0.2), {}),
    Share("react", 0.2, (0.2, 0.4, 0.3, 0.1), {}),
    Share("plan_and_execute", 0.1, (0.1, 0.4, 0.4, 0.1), {}),
    Share("lota", 0.05, (0.2, 0.4, 0.3, 0.1), {}),
)
MOST = 4  # documents of one task: they share their recipes, and more tasks teach more


def lessons(seed: int, count: int, mixture: tuple[Share, ...] = MIXTURE, most: int = MOST) -> Iterator[Taught]:
    """So many tasks that came out well, each with at most so many documents."""
    rng, world = Random(f"crafting {seed}"), TextCraft({})
    given = 0
    while given < count:
        share = rng.choices(mixture, [s.often for s in mixture])[0]
        depth = rng.choices((1, 2, 3, 4), share.depths)[0]
        task = _task(rng, depth, f"crafting-{seed}-{given:06}")
        often = rng.choice((0.0, 0.0, 0.05, 0.1)) if share.strategy != "lota" else 0.0
        taught = teach(
            share.strategy, world, task, teacher, kind=f"{share.strategy} {depth}",
            slips=Slips(often, Random(rng.random())), inputs=share.inputs,
        )  # fmt: skip
        if taught.verdict.met == taught.verdict.total:  # the others ran out of steps, or their names can be mistaken
            kept = sorted(rng.sample(range(len(taught.documents)), min(most, len(taught.documents))))
            yield taught._replace(documents=[taught.documents[i] for i in kept])
            given += 1


def _task(rng: Random, depth: int, name: str) -> Task:
    if rng.random() < 0.2:
        return task_invented(depth, rng, "train", name)
    while True:
        task = imagined(rng, depth, name)
        if task is not None:
            return task

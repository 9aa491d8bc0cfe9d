"""AI2-THOR: sentences per second through the real library and beside it, resets, tasks made and solved."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Iterator
from typing import Any

from rows import Row, best

from bt_envs.thor.actions import act
from bt_envs.thor.rooms import read_room
from bt_envs.thor.scene import Scene
from bt_envs.thor.suite import SUITE
from bt_envs.thor.world import Thor
from bt_runtime.types import Task

COUNT = 28  # tasks whose scripts are acted again and again
Scripts = list[tuple[Task, list[str]]]


def rows() -> Iterator[Row]:
    scripts = _scripts()
    scene = Thor(through="scene")
    beside = _per_second(scene, scripts)
    bare = _bare_per_second()
    figures = f"sentences {beside:,.0f}/s, bare state update {bare:,.0f}/s"
    yield Row("thor: sentences in a bare scene", figures, beside / bare, "")
    yield from _through_the_library(scripts, bare)
    yield _solved()


def _scripts() -> Scripts:
    world, found = Thor(through="scene"), []
    for task in SUITE.tasks(7, COUNT):
        world.reset(task)
        script = []
        for sentence in SUITE.oracle(world, task):
            world.act(sentence)
            script.append(sentence)
        found.append((task, script))
    return found


def _per_second(world: Thor, scripts: Scripts, repeat: int = 5) -> float:
    """The quickest of some rounds through all scripts; resets are timed apart and taken off."""
    steps = sum(len(script) for _, script in scripts)

    def reset() -> None:
        for task, _ in scripts:
            world.reset(task)

    def play() -> None:
        for task, script in scripts:
            world.reset(task)
            for sentence in script:
                world.act(sentence)

    return steps / max(best(play, repeat) - best(reset, repeat), 1e-9)


def _bare_per_second() -> float:
    """Opening and closing a door in the scene itself, with nothing said and nothing looked up."""
    scene = Scene(read_room("galley_kitchen"))
    fridge = next(i for i in scene.objects if i.startswith("Fridge"))
    actions: list[dict[str, Any]] = [
        {"action": name, "objectId": fridge, "forceAction": True} for name in ("OpenObject", "CloseObject")
    ]

    def play() -> None:
        for _ in range(500):
            for action in actions:
                act(scene, action)

    return 1000 / best(play)


def _through_the_library(scripts: Scripts, bare: float) -> Iterator[Row]:
    work = "thor: sentences through the real library, no frames"
    if importlib.util.find_spec("ai2thor") is None:
        yield Row(work, "not run: the thor extra is not installed", None, "≥ 1,000")
        return
    for frames in (False, True):
        world = SUITE.open(frames=frames)
        assert isinstance(world, Thor)
        with world:
            start = time.perf_counter()
            world.reset(scripts[0][0])
            started = time.perf_counter() - start
            speed = _per_second(world, scripts)
            if frames:
                yield Row("thor: the same with 300 x 300 frames", f"{speed:,.0f}/s", speed, "")
                continue
            yield Row(work, f"{speed:,.0f}/s, bare state update {bare:,.0f}/s, start {started:.1f} s", speed, "≥ 1,000")
            reset = _reset_ms(world, scripts)
            yield Row("thor: reset through the library (ms)", f"{reset:.1f} ms", reset, "≤ 5")


def _reset_ms(world: Thor, scripts: Scripts) -> float:
    return best(lambda: [world.reset(task) for task, _ in scripts]) / len(scripts) * 1000


def _solved() -> Row:
    """Shipped rooms, all seven types, both splits."""
    world, count = Thor(through="scene"), 500
    start = time.perf_counter()
    tasks = SUITE.tasks(1, count) + SUITE.tasks(1, count, "eval")
    made = time.perf_counter() - start
    solved = 0
    for task in tasks:
        world.reset(task)
        for sentence in SUITE.oracle(world, task):
            world.act(sentence)
        met, total = world.verdict()
        solved += met == total
    figures = f"{solved} of {len(tasks)}, made in {made:.1f} s"
    return Row("thor: tasks of shipped rooms that the oracle solves", figures, solved, f"≥ {len(tasks)}")

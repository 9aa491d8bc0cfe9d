"""Worlds: sentences acted per second beside the bare change of state, resets, tasks made, tasks solved."""

from __future__ import annotations

import time
from collections.abc import Iterator

from rows import Row, best, median

from bt_envs.house.world import HouseWorld
from bt_runtime.plugins import open_suite
from bt_runtime.types import Task, World


def rows() -> Iterator[Row]:
    for name, least in (("textcraft", 20_000), ("house", 5_000)):
        yield _steps(name, least)
    yield _resets()
    yield _made()
    for name in ("textcraft", "house"):
        yield _solved(name)


def _scripts(name: str, count: int) -> tuple[World, list[tuple[Task, list[str]]]]:
    suite = open_suite(name)
    world = suite.open()
    found = []
    for task in suite.tasks(7, count):
        world.reset(task)
        script = []
        for sentence in suite.oracle(world, task):
            world.act(sentence)
            script.append(sentence)
        found.append((task, script))
    return world, found


def _steps(name: str, least: int) -> Row:
    """The oracle's sentences again and again; only the acts are timed, in the least disturbed of some runs."""
    world, scripts = _scripts(name, 100)
    steps = sum(len(script) for _, script in scripts)

    def acted() -> float:
        spent = 0.0
        for task, script in scripts:
            world.reset(task)
            start = time.perf_counter()
            for sentence in script:
                world.act(sentence)
            spent += time.perf_counter() - start
        return spent

    seconds = min(acted() for _ in range(9))
    bare = _bare_house(world, steps) if isinstance(world, HouseWorld) else _bare_bag(steps)
    figures = (
        f"{steps / seconds:,.0f} sentences/s, bare state update {steps / bare:,.0f}/s, {seconds / bare:.1f} × its time"
    )
    return Row(f"{name}: sentences acted per second", figures, steps / seconds, f"≥ {least}")


def _bare_bag(steps: int) -> float:
    bag: dict[str, int] = {}

    def update() -> None:
        for i in range(steps):
            item = ("log", "planks", "stick")[i % 3]
            bag[item] = bag.get(item, 0) + 1

    return best(update)


def _bare_house(world: HouseWorld, steps: int) -> float:
    """A thing taken and put back, without a word."""
    state = world.state
    thing = next(i for i, place in enumerate(state.place) if place >= 0)
    home = state.place[thing]

    def update() -> None:
        for _ in range(steps // 2):
            state.take(thing, 0)
            state.put(thing, 0, home, "on")

    return best(update)


def _resets() -> Row:
    times = []
    for name in ("textcraft", "house"):
        suite = open_suite(name)
        world, tasks = suite.open(), suite.tasks(7, 100)
        times.append(median(lambda world=world, tasks=tasks: [world.reset(t) for t in tasks]) / len(tasks) * 1000)
    return Row("reset, ms", f"textcraft {times[0]:.2f}, house {times[1]:.2f}", max(times), "≤ 5")


def _made() -> Row:
    suite = open_suite("house")
    seconds = best(lambda: suite.tasks(7, 1000), repeat=3)
    return Row("1,000 house tasks made, s", f"{seconds:.2f} s", seconds, "≤ 60")


def _solved(name: str) -> Row:
    suite = open_suite(name)
    world = suite.open()
    solved = 0
    for split in ("train", "eval"):
        for task in suite.tasks(11, 500, split):
            world.reset(task)
            for sentence in suite.oracle(world, task):
                world.act(sentence)
            met, total = world.verdict()
            solved += met == total
    return Row(f"{name}: tasks the oracle solves of 1,000", "500 of train, 500 of eval", solved, "= 1000")

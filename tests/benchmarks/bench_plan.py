"""Plans by backchaining: which share of the oracle's tasks is planned, and reached when the tree is played."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

from rows import Row

import bt_runtime as bt
from bt_runtime.agents.backchain.limits import FactLimits
from bt_runtime.agents.backchain.offered import known_by
from bt_runtime.agents.backchain.operator import StepSource
from bt_runtime.agents.backchain.planning import planned
from bt_runtime.agents.backchain.relevant import NoPlan, SearchTooLarge
from bt_runtime.agents.backchain.tree_text import Head
from bt_runtime.clock import Manual
from bt_runtime.language import manifest, project
from bt_runtime.plugins import Kind, open_suite
from bt_runtime.skills.worlds.registry import open_world
from bt_runtime.types import Task

TASKS = 60
TIMES = 40  # attempts of the whole: what a recipe uses up, no manifest tells


def rows() -> Iterator[Row]:
    for name, domain in (("textcraft", textcraft), ("house", house)):
        yield _share(name, domain)


def _share(name: str, domain: Callable[[Any, Task], tuple[list[str], list[StepSource], FactLimits]]) -> Row:
    suite, world = open_suite(name), open_world(name)
    solved = found = reached = 0
    spent = []
    for task in suite.tasks(11, TASKS):
        world.reset(task)
        for sentence in suite.oracle(world, task):
            world.act(sentence)
        if not world.verdict().reached:
            continue
        solved += 1
        world.reset(task)
        goal, known, limits = domain(world, task)
        begun = time.process_time()
        try:
            plan = planned(goal, known, head=Head("plan", (name,), TIMES), limits=limits, ask=world.holds)
        except (NoPlan, SearchTooLarge):
            continue
        finally:
            spent.append((time.process_time() - begun) * 1000)
        found += 1
        with bt.Run(bt.load(plan.text), world=world, task=task, clock=Manual()) as run:
            run.spin(ticks=3000)
        reached += world.verdict().reached
    figures = (
        f"planned {found} of {solved} that the oracle solves, reached {reached}; {statistics.median(spent):.1f} ms "
    )
    figures += f"a plan (median), {max(spent):.0f} ms at most"
    return Row(f"{name}: tasks reached by backchaining", figures, reached / solved if solved else None, "≥ 0.95")


def textcraft(world: Any, task: Task) -> tuple[list[str], list[StepSource], FactLimits]:
    return [f"1 {task.data['goal']} in inventory"], *known_by(world, kinds_of("textcraft"))


def house(world: Any, task: Task) -> tuple[list[str], list[StepSource], FactLimits]:
    """The first things of each kind that is asked for; the world tells where they are."""
    home, state = world.house, world.state
    things = [state.name(i) for i, place in enumerate(state.place) if place >= 0]
    goal: list[str] = []
    for wanted in world.goal:
        at = next(iter(home.of_class(wanted.place)), None)
        place = wanted.place if at is None else home.fixtures[at].name
        if wanted.relation in ("on", "in"):
            taken = [each.partition(f" {wanted.relation} ")[0] for each in goal]
            fitting = [n for n in things if wanted.thing in (n, n.rpartition(" ")[0]) and n not in taken]
            goal += [f"{name} {wanted.relation} {place}" for name in fitting[: wanted.amount]]
        else:
            goal.append(f"{place} is {wanted.relation}")
    return goal, *known_by(world, kinds_of("house"))


def kinds_of(name: str) -> list[Kind]:
    path = project.find("skills", name)
    assert path is not None
    return list(manifest.read(path).kinds)

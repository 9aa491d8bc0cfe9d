"""An optimisation's set-up, the tasks that follow from it, and the work that remains."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

from bt_lab.optimise.plan_versions import Version, to_build_on
from bt_runtime.agents import autoplan
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.skills.worlds.registry import open_suite
from bt_runtime.tree.budget import Budget
from bt_runtime.types import Json, Task

PARTS = (autoplan.SUMMARY, autoplan.FLAW, autoplan.REVISION)
_APART = 1_000_003  # between the seeds of two batches


class OptimiseSetup(NamedTuple):
    """Everything that determines an optimisation's result. An equal set-up resumes its folder."""

    suite: str
    kind: str = ""  # all kinds when empty
    batch: int = 4
    seed: int = 0
    strategy: str = "react"
    model: str = ""  # the model as a person named it
    parts: tuple[str, ...] = PARTS
    validation: int = 8
    world: Mapping[str, Json] = {}  # options of the world
    tasks: Mapping[str, Json] = {}  # options of its tasks
    decisions: int | None = None  # decision limit of one episode
    steps: int | None = None  # acts of one episode

    @property
    def digest(self) -> str:
        said = json.dumps(self._asdict(), sort_keys=True, default=str)
        return blake2b(said.encode(), digest_size=6).hexdigest()

    @property
    def budget(self) -> Budget | None:
        """The budget of one episode."""
        given = {"decisions": self.decisions, "steps": self.steps}
        bounds = {name: float(most) for name, most in given.items() if most}
        return Budget(**bounds) if bounds else None  # type: ignore[arg-type]

    @property
    def goal(self) -> str:
        return f"{self.kind} tasks in the {self.suite}" if self.kind else f"tasks in the {self.suite}"

    def header(self) -> dict[str, Json]:
        """The header that every version carries."""
        known = {
            "kind": self.kind, "world": self.suite, "model": self.model, "strategy": self.strategy,
            "reflection": ", ".join(self.parts), "options": _options(self.world), "tasks": _options(self.tasks),
            "steps": self.steps,
        }  # fmt: skip
        said = {name: value for name, value in known.items() if value}
        return {"version": 1, **said, "seed": self.seed, "batch": self.batch, "setup": self.digest}


def _options(given: Mapping[str, Json]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(given.items()))


def check(setup: OptimiseSetup) -> None:
    """Raises for a set-up that makes no sense, before anything starts."""
    open_suite(setup.suite).open(**setup.world).close()
    draw(setup, 1)


def draw(setup: OptimiseSetup, iterations: int) -> tuple[list[Task], list[list[Task]]]:
    """Draws the tasks for validation, and a separate batch for each iteration. A larger number of iterations changes no
    earlier batch."""
    aside = _drawn(setup, 0, setup.validation, frozenset())
    known = frozenset(_what(task) for task in aside)
    return aside, [_drawn(setup, n, setup.batch, known) for n in range(1, iterations + 1)]


def _drawn(setup: OptimiseSetup, number: int, count: int, avoid: frozenset[str]) -> list[Task]:
    suite, kinds = open_suite(setup.suite), [setup.kind] if setup.kind else None
    wanted = count
    while True:
        found = suite.tasks(setup.seed * _APART + number, wanted, "train", kinds, **setup.tasks)
        fresh = {_what(task): task for task in found if _what(task) not in avoid}
        if len(fresh) >= count or len(found) < wanted or wanted > 64 * count:
            break
        wanted *= 2
    if len(fresh) < count:
        raise BtError(f"only {len(fresh)} different tasks can be drawn, and {count} are asked for", "ask for fewer")
    return list(fresh.values())[:count]


def _what(task: Task) -> str:
    """Returns a task's content without its name, because equal tasks may have different names."""
    return json.dumps([task.goal, dict(task.data)], sort_keys=True, default=str)


def left(setup: OptimiseSetup, kept: Sequence[Version], iterations: int) -> dict[str, Json]:
    """Returns the tree's inputs for the remaining iterations."""
    aside, batches = draw(setup, iterations)
    last = kept[-1] if kept else None
    begun = last.iteration if last is not None else 0
    rounds: list[Json] = []
    if last is None or last.rate() is None:
        rounds.append({"iteration": begun, "tasks": []})
    rounds += [
        {"iteration": n, "tasks": [t._asdict() for t in batches[n - 1]]} for n in range(begun + 1, iterations + 1)
    ]
    best, stale = -1.0, 0
    for rate in (v.rate() for v in kept):
        if rate is not None:
            best, stale = (rate, 0) if rate > best else (best, stale + 1)
    good = to_build_on([*kept])
    plan = last if last is not None and last.rate() is None else good
    return {
        "rounds": rounds, "validation": [task._asdict() for task in aside], "best": best, "stale": stale,
        "plan": plan.guide.text if plan is not None else "", "kept": good.guide.text if good is not None else "",
    }  # fmt: skip

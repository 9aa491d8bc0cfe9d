"""AutoPlan from the outside: which tasks, what was done already, and a run of `trees/autoplan.yaml` for the rest."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from bt_runtime.agents import sir
from bt_runtime.agents.budget import Budget
from bt_runtime.diagnose import BtError
from bt_runtime.envs.registry import open_suite
from bt_runtime.plans import shelf
from bt_runtime.plans.shelf import Version
from bt_runtime.runtime import Run
from bt_runtime.types import Json, Task

TREE = "autoplan"
PARTS = (sir.SUMMARY, sir.FLAW, sir.REVISION)
_APART = 1_000_003  # between the seeds of two batches


class Setup(NamedTuple):
    """Everything that decides what comes out. With the same set-up, the same folder is gone on with."""

    suite: str
    kind: str = ""  # all kinds when empty
    batch: int = 4
    seed: int = 0
    strategy: str = "react"
    model: str = ""  # as a person named it
    parts: tuple[str, ...] = PARTS
    validation: int = 8
    world: Mapping[str, Json] = {}  # options of the world
    tasks: Mapping[str, Json] = {}  # options of its tasks
    decisions: int | None = None  # of one episode

    @property
    def digest(self) -> str:
        said = json.dumps(self._asdict(), sort_keys=True, default=str)
        return blake2b(said.encode(), digest_size=6).hexdigest()

    @property
    def goal(self) -> str:
        return f"{self.kind} tasks in the {self.suite}" if self.kind else f"tasks in the {self.suite}"

    def header(self) -> dict[str, Json]:
        """What every version says of itself."""
        known = {"kind": self.kind, "world": self.suite, "model": self.model}
        return {
            "version": 1, **{name: value for name, value in known.items() if value}, "strategy": self.strategy,
            "seed": self.seed, "batch": self.batch, "setup": self.digest,
        }  # fmt: skip


def check(setup: Setup) -> None:
    """Raises for what cannot be meant, before anything is begun."""
    open_suite(setup.suite).open(**setup.world).close()
    draw(setup, 1)


def draw(setup: Setup, iterations: int) -> tuple[list[Task], list[list[Task]]]:
    """The tasks kept aside, and a batch for each iteration, none of those in it. More iterations change neither."""
    aside = _drawn(setup, 0, setup.validation, frozenset())
    known = frozenset(_what(task) for task in aside)
    return aside, [_drawn(setup, n, setup.batch, known) for n in range(1, iterations + 1)]


def _drawn(setup: Setup, number: int, count: int, avoid: frozenset[str]) -> list[Task]:
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
    """Two tasks of different names may be the same."""
    return json.dumps([task.goal, dict(task.data)], sort_keys=True, default=str)


def left(setup: Setup, kept: Sequence[Version], iterations: int) -> dict[str, Json]:
    """The inputs of the tree for what has not been done yet."""
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
    return {
        "rounds": rounds, "validation": [task._asdict() for task in aside],
        "plan": last.guide.text if last is not None else "", "best": best, "stale": stale,
    }  # fmt: skip


def kept_for(setup: Setup, folder: Path) -> list[Version]:
    """What the folder holds of this set-up; of another one it may hold nothing."""
    kept = shelf.versions(folder)
    for version in kept:
        if version.guide.header.get("setup") != setup.digest:
            raise BtError(f"{version.path} was made with another set-up", "name another folder: --out")
    return kept


def optimise(
    setup: Setup,
    folder: Path,
    iterations: int,
    *,
    model: Any,
    patience: int = 2,
    at_once: int = 0,
    journal: Any = None,
    log: Callable[[Any], None] | None = None,
    watch: Callable[[Run], AbstractContextManager[Any]] = nullcontext,
) -> tuple[list[Version], bool]:
    """Goes on from what the folder holds. Gives all versions, and whether the run came to its end."""
    check(setup)
    kept = kept_for(setup, folder)
    given = left(setup, kept, iterations)
    if given["rounds"]:
        inputs = {
            **given, "world": setup.suite, "options": dict(setup.world), "goal": setup.goal,
            "strategy": setup.strategy, "parts": list(setup.parts), "patience": patience, "at_once": at_once,
            "folder": str(folder), "header": setup.header(),
        }  # fmt: skip
        budget = Budget(decisions=setup.decisions) if setup.decisions else None
        with Run(TREE, inputs=inputs, model=model, seed=setup.seed, budget=budget, journal=journal, log=log) as run:
            with watch(run):
                run.spin()
            whole = not run.runner.stopped and run.status.name != "FAILURE"
        return kept_for(setup, folder), whole
    return kept, True

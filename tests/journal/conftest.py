"""Recorded runs of worlds, agents and plain trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bt_runtime import Run, load
from bt_runtime.agents import ScriptedModel
from bt_runtime.clock import Manual
from bt_runtime.journal import Recording
from bt_runtime.plugins import open_suite
from tests.journal import errand


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return tmp_path / "runs"


@pytest.fixture
def record(runs: Path) -> Iterator[Callable[..., Run]]:
    """`record(text, skills=[…], inputs={…})`: a run with a journal and a clock that jumps."""
    begun: list[Run] = []

    def begin(tree: str, *, skills: Any = (), clock: Any = None, **named: Any) -> Run:
        run = Run(load(tree, skills=skills), clock=clock or Manual(), journal=runs, **named)
        begun.append(run)
        return run

    yield begin
    for run in begun:
        run.close()


@pytest.fixture
def errand_of(runs: Path, tmp_path: Path) -> Callable[..., Path]:
    """`errand_of("house", 3)`: the journal of an agent that grew subtrees and reached its goal."""

    def run_it(name: str, seed: int, *, polls: int = 1, ticks: int | None = None) -> Path:
        task = open_suite(name).tasks(seed, 1)[0]
        site = errand.Site(name, tmp_path, lasting=False)
        site.reset(task)
        model = ScriptedModel(errand.script(site, errand.oracle(name, task)), polls)
        with Run(
            load("reactree"), inputs={"goal": task.goal}, world=site, task=task, model=model, clock=Manual(),
            journal=runs, seed=seed,
        ) as run:  # fmt: skip
            if ticks is None:
                run.spin(ticks=5000)
            else:
                for _ in range(ticks):
                    run.tick()
        assert run.parts.journal is not None and run.parts.journal.path is not None
        return run.parts.journal.path

    return run_it


def read(run: Run) -> Recording:
    """The journal of a run that is closed."""
    run.close()
    assert run.parts.journal is not None and run.parts.journal.path is not None
    return Recording(run.parts.journal.path)

"""The optimisation loop: continues a folder by running `trees/autoplan.yaml` for the remaining iterations."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from bt_lab.optimise import plan_versions
from bt_lab.optimise.plan_versions import Version
from bt_lab.optimise.setup import OptimiseSetup, check, left
from bt_runtime.events import Line, Notice
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.run.run import Run, load

TREE = "autoplan"


def kept_for(setup: OptimiseSetup, folder: Path) -> list[Version]:
    """Checks that the folder holds versions of this set-up only, and returns them."""
    kept = plan_versions.versions(folder)
    for version in kept:
        if version.guide.header.get("setup") != setup.digest:
            raise BtError(f"{version.path} was made with another set-up", "name another folder: --out")
    return kept


def optimise(
    setup: OptimiseSetup,
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
    """Continues an optimisation from the versions in its folder. Returns all versions, and whether all iterations are
    done."""
    check(setup)
    kept = kept_for(setup, folder)
    given = left(setup, kept, iterations)
    if given["rounds"]:
        inputs = {
            **given, "world": setup.suite, "options": dict(setup.world), "goal": setup.goal,
            "strategy": setup.strategy, "parts": list(setup.parts), "patience": patience, "at_once": at_once,
            "folder": str(folder), "header": setup.header(),
        }  # fmt: skip
        with Run(load(TREE), inputs=inputs, model=model, seed=setup.seed, budget=setup.budget, journal=journal) as run:
            if log is not None:
                run.listen(log, Line, Notice)
            with watch(run):
                run.spin()
            whole = not run.parts.runner.stopped and run.status.name != "FAILURE"
        return kept_for(setup, folder), whole
    return kept, True

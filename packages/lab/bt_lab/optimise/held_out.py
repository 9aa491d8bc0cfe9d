"""Measures every version on tasks of the other split, as any evaluation does; the curve is drawn from it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bt_lab.optimise import plan_versions
from bt_lab.optimise.loop import kept_for
from bt_lab.optimise.plan_versions import Version
from bt_lab.optimise.setup import OptimiseSetup
from bt_lab.run import evaluation, provenance
from bt_lab.run.backend import Local
from bt_lab.run.case import Setup as Evaluation
from bt_lab.run.case import Strategy, cases
from bt_lab.run.evaluation import Again, Told
from bt_runtime.journal.sources import versions
from bt_runtime.language.guide import Guide
from bt_runtime.skills.worlds.registry import open_suite

FOLDER = "test"  # beside the versions: an evaluation as `btr lab eval` makes them, `btr lab eval show` reads it
_SEED = 0  # of the tasks: the same for every optimisation, so that two can be compared


def measure(
    setup: OptimiseSetup, folder: Path, count: int, models: Mapping[str, Any], jobs: int, told: Told
) -> list[Version]:
    """Measures versions that have no score yet, and writes the score into each version's header."""
    kinds = [setup.kind] if setup.kind else None
    tasks = open_suite(setup.suite).tasks(_SEED, count, "eval", kinds, **setup.tasks)
    kept = kept_for(setup, folder)
    strategies = [Strategy(_name(v), setup.strategy, {"guide": v.guide.text}) for v in kept]
    how = Evaluation(setup.suite, setup.world, setup.seed, setup.budget)
    place, again = folder / FOLDER, Again(resume=True)
    depends = {"seed": setup.seed, "optimised": setup.digest, "tasks": provenance.of_tasks(tasks)}
    evaluation.open_folder(place, depends, {"versions": versions()}, again)
    outcomes = evaluation.run(place, how, cases(strategies, tasks), Local(models, jobs), again, told)
    evaluation.write_up(place, outcomes, setup.seed)
    for version in kept:
        own = [outcome.success for outcome in outcomes if outcome.strategy == _name(version)]
        score = {"reached": sum(own), "of": len(own)}
        tested = Guide(version.guide.text, {**version.guide.header, "test": score})
        plan_versions.keep(folder, version.iteration, tested)
    return kept_for(setup, folder)


def _name(version: Version) -> str:
    return f"version {version.iteration}"

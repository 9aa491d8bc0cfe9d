"""ReAcTree's protocol: train tasks run with an empty memory; the experiences of successes are then shown. Every
strategy learns from its own runs, because experiences are written in its own form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from bt_lab.run.backend import Backend
from bt_lab.run.case import Setup, Strategy, cases
from bt_lab.run.evaluation import Again, Told, run
from bt_lab.run.outcome import Outcome
from bt_lab.run.results_file import RESULTS, TRAINED
from bt_runtime.types import Task


def train(
    folder: Path,
    setup: Setup,
    strategies: Sequence[Strategy],
    tasks: Sequence[Task],
    backend: Backend,
    again: Again,
    told: Told,
    count: Callable[[str], int],
) -> list[Strategy]:
    """Trains each strategy; returns them with the memory that each has made.

    Once a test has an outcome, nothing is trained again: the memory stays the one that it was tested with.
    """
    tested = (folder / RESULTS).is_file()
    learning = setup._replace(learning=True)
    outcomes = run(
        folder, learning, cases(strategies, tasks), backend, again._replace(retry=again.retry and not tested), told,
        TRAINED,
    )  # fmt: skip
    return [s._replace(memory=str(_remember(folder, s.name, outcomes, count))) for s in strategies]


def _remember(folder: Path, strategy: str, outcomes: Sequence[Outcome], count: Callable[[str], int]) -> Path:
    """Builds a memory from outcomes, anew each time; equal outcomes give an equal memory."""
    from bt_runtime.memory.episodes import Episodes
    from bt_runtime.memory.experience import from_json

    (folder / "memory").mkdir(exist_ok=True)
    path = folder / "memory" / f"{strategy}.db"
    for old in path.parent.glob(f"{strategy}.db*"):
        old.unlink()
    with Episodes.open(path, count=count) as episodes:
        for outcome in outcomes:
            if outcome.strategy == strategy and outcome.success:
                episodes.add(from_json(each) for each in outcome.experiences)
    return path

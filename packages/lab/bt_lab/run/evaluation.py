"""An evaluation from set-up to table: runs the missing cases and writes each outcome at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from bt_lab.report.summary import Group, groups
from bt_lab.report.table import as_csv
from bt_lab.run.backend import Backend
from bt_lab.run.case import Case, Setup
from bt_lab.run.outcome import Outcome
from bt_lab.run.provenance import digest
from bt_lab.run.results_file import RESULTS, SETUP, ResultsFile, differences, read_setup, write, write_json
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.types import Json

Told = Callable[[Outcome, int], None]  # an outcome, and how many are still to come


class Again(NamedTuple):
    """What to do with a folder that already holds outcomes."""

    resume: bool = False  # run what is missing
    retry: bool = False  # … and what broke


def open_folder(folder: Path, depends: Mapping[str, Json], about: Mapping[str, Json], again: Again) -> None:
    """Opens a folder: a new one, or one with exactly this set-up. Outcomes of another set-up are never overwritten."""
    number = digest(dict(depends))
    if (folder / SETUP).is_file():
        old = read_setup(folder)
        if old.get("digest") != number:
            parts = ", ".join(differences(old.get("depends", {}), depends))
            raise BtError(f"{folder} holds another evaluation: it differs in {parts}", "name another folder: --out")
        if not (again.resume or again.retry):
            raise BtError(f"{folder} holds this evaluation already", "--resume goes on with it, --out names another")
        return
    if again.retry:
        raise BtError(f"{folder} holds no evaluation whose errors could be run again", "leave --retry out")
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / SETUP, {"digest": number, "depends": dict(depends), **about, "started": round(time.time(), 3)})


def missing(results: ResultsFile, cases: Sequence[Case], again: Again) -> list[Case]:
    """The cases without an outcome; on `retry` also those whose outcome is an error."""
    done = {key for key, outcome in results.outcomes.items() if not (again.retry and outcome.error)}
    return [case for case in cases if case.key not in done]


def run(
    folder: Path, setup: Setup, cases: Sequence[Case], backend: Backend, again: Again, told: Told, name: str = RESULTS
) -> list[Outcome]:
    """Runs the missing cases; returns every outcome in the order of the cases."""
    results = ResultsFile(folder / name)
    todo = missing(results, cases, again)
    for left, outcome in zip(range(len(todo) - 1, -1, -1), _streamed(backend, setup, todo), strict=True):
        results.add(outcome)
        told(outcome, left)
    return results.sort()


def _streamed(backend: Backend, setup: Setup, cases: Sequence[Case]) -> Iterator[Outcome]:
    outcomes = backend.outcomes(setup, cases)
    with closing(outcomes):  # type: ignore[type-var]
        yield from outcomes


def write_up(folder: Path, outcomes: Sequence[Outcome], seed: int) -> list[Group]:
    """Writes the outcomes as CSV and as sums; returns the groups."""
    found = groups(outcomes, seed)
    write(folder / "results.csv", as_csv(outcomes))
    write_json(folder / "summary.json", {"groups": [group.to_json() for group in found]})
    return found

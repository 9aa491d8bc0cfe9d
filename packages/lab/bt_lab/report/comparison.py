"""Compares two strategies, or two evaluations, task by task."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from bt_lab.report.statistics import Estimate, bootstrap, mcnemar
from bt_lab.run.outcome import Outcome
from bt_lab.run.results_file import outcomes, read_setup
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.types import Json

MEANS = ("steps", "decisions", "calls", "seconds")


class Side(NamedTuple):
    """One strategy's outcomes in one evaluation, by task."""

    folder: str
    strategy: str
    outcomes: Mapping[tuple[str, str], Outcome]  # (id, goal): an id alone may be another task elsewhere


class Comparison(NamedTuple):
    first: str
    second: str
    pairs: int
    left_out: int  # tasks that only one of them has
    both: int
    first_only: list[str]  # tasks that only it reached
    second_only: list[str]
    neither: int
    p: float  # McNemar's, exact
    goal: Estimate  # the second's rate less the first's, in pairs
    subgoals: Estimate
    means: dict[str, Estimate]  # mean of (second − first) over pairs that both reached

    def to_json(self) -> dict[str, Json]:
        plain = self._asdict()
        for name in ("goal", "subgoals"):
            plain[name] = _plain(plain[name])
        plain["means"] = {name: _plain(value) for name, value in self.means.items()}
        return plain


def _plain(estimate: Estimate) -> dict[str, Json]:
    return {name: None if math.isnan(value) else round(value, 6) for name, value in estimate._asdict().items()}


def side(named: str) -> Side:
    """Reads a side from `FOLDER`, or from `FOLDER:STRATEGY` if the evaluation has several strategies."""
    place, sign, strategy = named.rpartition(":")
    folder = Path(place) if sign and not Path(named).exists() else Path(named)
    strategy = strategy if folder != Path(named) else ""
    found = outcomes(folder)
    have = list(dict.fromkeys(o.strategy for o in found))
    if not have:
        raise BtError(f"nothing has ended yet in {folder}", "wait for its first task, or name one of `btr lab eval`")
    if strategy not in have and (strategy or len(have) > 1):
        said = f"{folder} has no strategy `{strategy}`" if strategy else f"{folder} has several strategies"
        raise BtError(said, f"name one: {', '.join(f'{folder}:{name}' for name in have)}")
    own = [o for o in found if o.strategy == (strategy or have[0])]
    return Side(str(folder), own[0].strategy, {(o.task, o.goal): o for o in own})


def seed_of(named: str) -> int:
    """Returns the first evaluation's seed, so that a repeated comparison has an equal interval."""
    folder = Path(named) if Path(named).exists() else Path(named.rpartition(":")[0])
    return int(read_setup(folder).get("depends", {}).get("seed", 0))


def names(first: Side, second: Side) -> tuple[str, str]:
    """Returns the shortest names that differ: strategies, else folders."""
    if first.strategy != second.strategy:
        return first.strategy, second.strategy
    one, other = Path(first.folder).name, Path(second.folder).name
    return (one, other) if one != other else (first.folder, second.folder)


def compare(first: Side, second: Side, seed: int) -> Comparison:
    keys = [key for key in first.outcomes if key in second.outcomes]
    if not keys:
        raise BtError(
            f"{first.folder} and {second.folder} have no task in common",
            "evaluate both with the same suite, seed and split",
        )
    pairs = [(first.outcomes[key], second.outcomes[key]) for key in keys]
    first_only = [a.task for a, b in pairs if a.success and not b.success]
    second_only = [b.task for a, b in pairs if b.success and not a.success]
    reached = [(a, b) for a, b in pairs if a.success and b.success]
    return Comparison(
        *names(first, second), len(pairs), len(first.outcomes) + len(second.outcomes) - 2 * len(pairs),
        len(reached), first_only, second_only, len(pairs) - len(reached) - len(first_only) - len(second_only),
        mcnemar(len(first_only), len(second_only)),
        bootstrap([float(b.success) - float(a.success) for a, b in pairs], seed),
        bootstrap([b.subgoals - a.subgoals for a, b in pairs], seed),
        {name: bootstrap([getattr(b, name) - getattr(a, name) for a, b in reached], seed) for name in MEANS},
    )  # fmt: skip

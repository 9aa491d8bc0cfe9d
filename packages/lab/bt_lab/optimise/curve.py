"""Curves of several optimisations: mean and deviation of the success rate after each iteration."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import NamedTuple

from bt_lab.optimise import plan_versions
from bt_lab.optimise.plan_versions import Version
from bt_lab.report.statistics import Estimate, student
from bt_runtime.language.faults.diagnostic import BtError

ALIKE = (
    "world",
    "kind",
    "model",
    "strategy",
    "batch",
    "reflection",
    "options",
    "steps",
)  # runs of one curve agree in these


class Point(NamedTuple):
    mean: float
    deviation: float  # sample standard deviation; 0 for a single run


class Curve(NamedTuple):
    name: str  # how this curve differs from the others
    runs: int
    points: tuple[Point, ...]  # points by iteration, from the empty plan on
    gain: Estimate  # gain of the last plan over the empty one, run by run
    of_tasks: Estimate  # the gain where runs on the same tasks count as one
    tasks: int  # how many such


def curves(folders: Sequence[Path]) -> tuple[str, list[Curve]]:
    """Returns the shown score (`test` if every version has one), and one curve for each set-up."""
    runs = [plan_versions.versions(folder) for folder in folders]
    for folder, run in zip(folders, runs, strict=True):
        if not run:
            raise BtError(f"{folder} holds no versions of a plan", "name folders that `btr lab optimise` has made")
    tested = all(version.rate("test") is not None for run in runs for version in run)
    score = "test" if tested else "validation"
    groups: dict[tuple[str, ...], list[tuple[str, list[float]]]] = {}
    for run in runs:
        groups.setdefault(_kin(run[0]), []).append((str(run[0].guide.header.get("tasks", "")), rates(run, score)))
    telling = [i for i in range(len(ALIKE)) if len({kin[i] for kin in groups}) > 1]
    return score, [_curve(" ".join(kin[i] for i in telling) or "plans", found) for kin, found in groups.items()]


def rates(run: Sequence[Version], score: str) -> list[float]:
    """The success rates of the best plan by validation after each iteration, from which the next plan is made. The
    curve ends at the first version without that score, where a run was interrupted."""
    found: list[float] = []
    for i, version in enumerate(run):
        chosen = plan_versions.best(run[: i + 1]) or version
        rate = chosen.rate(score)
        if rate is None or version.rate(score) is None:
            break
        found.append(rate)
    return found


def _kin(version: Version) -> tuple[str, ...]:
    header = version.guide.header
    return tuple(f"{name} {header[name]}" if name in header else f"no {name}" for name in ALIKE)


def _curve(name: str, runs: Sequence[tuple[str, Sequence[float]]]) -> Curve:
    """Averages runs, each with its tasks, into a curve. A run that stopped early counts with its last plan."""
    whole = [list(run) for _, run in runs if run]
    gains: dict[str, list[float]] = {}
    for tasks, run in runs:
        if run:
            gains.setdefault(tasks, []).append(run[-1] - run[0])
    longest = max((len(run) for run in whole), default=0)
    even = [run + run[-1:] * (longest - len(run)) for run in whole]
    points = tuple(Point(fmean(at), stdev(at) if len(at) > 1 else 0.0) for at in zip(*even, strict=True))
    gain = student([run[-1] - run[0] for run in even])
    return Curve(name, len(even), points, gain, student([fmean(each) for each in gains.values()]), len(gains))


def table(score: str, found: Sequence[Curve]) -> str:
    """Returns a table with one line a curve and one column an iteration: `40 ± 12 %`."""
    longest = max((len(curve.points) for curve in found), default=0)
    width = max(len(score), *(len(curve.name) for curve in found)) if found else len(score)
    head = f"{score:<{width}}  runs" + "".join(f"{n:>12}" for n in range(longest))
    lines = [head]
    for curve in found:
        cells = "".join(f"{_said(point):>12}" for point in curve.points)
        lines.append(f"{curve.name:<{width}}  {curve.runs:>4}{cells}")
    return "\n".join(lines)


def _said(point: Point) -> str:
    return f"{100 * point.mean:.0f} ± {100 * point.deviation:.0f} %"

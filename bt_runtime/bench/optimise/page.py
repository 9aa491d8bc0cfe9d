"""The page of several optimisations: their curves, and the plans that came out, beside what holds in each house."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bt_runtime.bench.optimise import plan_versions
from bt_runtime.bench.optimise.curve import ALIKE, Curve, curves
from bt_runtime.bench.optimise.plan_versions import Version
from bt_runtime.envs.registry import Hidden, open_suite

_TOLD = {
    "test": "tasks of the other split, which no plan was made from or chosen by",
    "validation": "tasks, on which the versions are compared",
}


def page(folders: Sequence[Path]) -> str:
    """Markdown; the folders hold the versions of one optimisation each."""
    score, found = curves(folders)
    runs = [plan_versions.versions(folder) for folder in folders]
    header = runs[0][0].guide.header
    common = ", ".join(f"{name} {header[name]}" for name in ALIKE if name in header and _same(runs, name))
    counts = {version.guide.header[score]["of"] for run in runs for version in run if score in version.guide.header}
    of = " to ".join(map(str, sorted({min(counts), max(counts)})))
    lines = [
        "# A plan that improves: what it reached", "",
        f"Made by `make autoplan` ({common}). Each version of a plan was tried on {of} {_TOLD[score]}; mean and "
        "deviation over seeds, each of which has house rules of its own. 0 is the empty plan: the strategy without a "
        "guide.", "",
        *_curves(found), "", "## The plans", "",
        "What holds in each house, and the last plan that was written for it.", "",
    ]  # fmt: skip
    for folder, run in zip(folders, runs, strict=True):
        lines += [
            f"### {folder.name}",
            "",
            *_hidden(run[0]),
            "```",
            run[-1].guide.text or "(the empty plan)",
            "```",
            "",
        ]
    return "\n".join(lines)


def _same(runs: Sequence[Sequence[Version]], name: str) -> bool:
    return len({str(run[0].guide.header.get(name)) for run in runs}) == 1


def _curves(found: Sequence[Curve]) -> list[str]:
    longest = max(len(curve.points) for curve in found)
    head = ["| | runs |" + "".join(f" {n} |" for n in range(longest)) + " gain |", "|---" * (longest + 3) + "|"]
    return head + [_row(curve, longest) for curve in found]


def _row(curve: Curve, longest: int) -> str:
    points = [f"{100 * point.mean:.0f} ± {100 * point.deviation:.0f} %" for point in curve.points]
    gain = 100 * (curve.points[-1].mean - curve.points[0].mean)
    cells = [*points, *[""] * (longest - len(points)), f"{gain:+.0f} points"]
    return f"| {curve.name} | {curve.runs} | " + " | ".join(cells) + " |"


def _hidden(version: Version) -> list[str]:
    """What was to be found out, where the world can tell."""
    header = version.guide.header
    told = dict(part.split("=", 1) for part in str(header.get("tasks", "")).split(", ") if "=" in part)
    suite = open_suite(str(header["world"])) if header.get("world") else None
    said = suite.hidden(str(header.get("kind", "")), told) if isinstance(suite, Hidden) else ()
    return [*(f"- {text}" for text in said), ""] if said else []

"""A page about several optimisations: their curves, their final plans, and the hidden rules of each house."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bt_lab.optimise import plan_versions
from bt_lab.optimise.curve import ALIKE, Curve, curves
from bt_lab.optimise.plan_versions import Version
from bt_runtime.skills.worlds.registry import Hidden, open_suite

_TOLD = {
    "test": "tasks of the other split, which no plan was made from or chosen by",
    "validation": "tasks, on which the versions are compared",
}


def page(folders: Sequence[Path]) -> str:
    """Returns the page as Markdown. Each folder holds the versions of one optimisation."""
    score, found = curves(folders)
    runs = [plan_versions.versions(folder) for folder in folders]
    header = runs[0][0].guide.header
    common = ", ".join(f"{name} {header[name]}" for name in ALIKE if name in header and _same(runs, name))
    counts = {version.guide.header[score]["of"] for run in runs for version in run if score in version.guide.header}
    of = " to ".join(map(str, sorted({min(counts), max(counts)})))
    lines = [
        "# A plan that improves: what it reached", "",
        f"Made by `make autoplan` ({common}). Each version of a plan was tried on {of} {_TOLD[score]}; mean and "
        "deviation over seeds, in houses with rules of their own. 0 is the empty plan: the strategy without a "
        "guide; of each iteration it is the best plan so far that counts, by the validation tasks. Gains have their "
        "95 % interval over the runs (Student's t), and where several runs had one house, over the houses' means.", "",
        *_curves(found), "", "## Each run", "", *_runs(folders, runs, score), "", "## The plans", "",
        "What holds in each house, and the plan that was chosen for it.", "",
    ]  # fmt: skip
    for folder, run in zip(folders, runs, strict=True):
        lines += [
            f"### {folder.name}",
            "",
            *_hidden(run[0]),
            "```",
            (plan_versions.best(run) or run[-1]).guide.text or "(the empty plan)",
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
    cells = [*points, *[""] * (longest - len(points)), _gain(curve)]
    return f"| {curve.name} | {curve.runs} | " + " | ".join(cells) + " |"


def _gain(curve: Curve) -> str:
    """With both intervals, where several runs had the same house rules: over the runs, and over the houses."""
    gain, low, high = (100 * each for each in curve.gain)
    if curve.runs == 1:
        return f"{gain:+.0f} points"
    if curve.tasks in (1, curve.runs):
        return f"{gain:+.0f} points ({low:+.0f} to {high:+.0f})"
    _, least, most = (100 * each for each in curve.of_tasks)
    houses = f"{least:+.0f} to {most:+.0f} over {curve.tasks} houses"
    return f"{gain:+.0f} points ({low:+.0f} to {high:+.0f} over runs, {houses})"


def _runs(folders: Sequence[Path], runs: Sequence[Sequence[Version]], score: str) -> list[str]:
    """Lists every version of every run, also versions that no later one is based on."""
    longest = max(map(len, runs))
    lines = ["| |" + "".join(f" {n} |" for n in range(longest)) + " chosen |", "|---" * (longest + 2) + "|"]
    for folder, run in zip(folders, runs, strict=True):
        cells = [_of(version, score) for version in run] + [""] * (longest - len(run))
        chosen = plan_versions.best(run)
        lines.append(f"| {folder.name} | {' | '.join([*cells, str(chosen.iteration) if chosen else ''])} |")
    return lines


def _of(version: Version, score: str) -> str:
    """The score as `18 of 20`, with the validation score in brackets."""
    own, aside = version.guide.header.get(score), version.guide.header.get("validation")
    told = f"{own['reached']} of {own['of']}" if own else "untested"
    return f"{told} ({aside['reached']} of {aside['of']})" if aside and score == "test" else told


def _hidden(version: Version) -> list[str]:
    """The hidden rules of the tasks, where the world can tell them."""
    header = version.guide.header
    told = dict(part.split("=", 1) for part in str(header.get("tasks", "")).split(", ") if "=" in part)
    suite = open_suite(str(header["world"])) if header.get("world") else None
    said = suite.hidden(str(header.get("kind", "")), told) if isinstance(suite, Hidden) else ()
    return [*(f"- {text}" for text in said), ""] if said else []

"""Plots of an evaluation: success by depth, and the decisions it costs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bt_lab.report.summary import Group
from bt_runtime.language.faults.extra import Extra

SIZE, DOTS = (6.4, 4.0), 150


def draw(folder: Path, groups: Sequence[Group]) -> list[Path]:
    """Draws the plots; returns the files that were written."""
    made = []
    for name, paint in (("success_by_depth", _by_depth), ("decisions_by_success", _by_decisions)):
        picture = figure()
        paint(picture.add_subplot(), groups)
        made.append(folder / f"{name}.png")
        picture.savefig(made[-1], metadata={"Software": None})  # the same outcomes give the same file
    return made


def draw_by_depth(path: Path, groups: Sequence[Group]) -> None:
    """Draws one picture with a line for each strategy."""
    picture = figure()
    _by_depth(picture.add_subplot(), groups)
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.savefig(path, metadata={"Software": None})


def figure() -> Any:
    with Extra("eval", "plots"):
        from matplotlib.figure import Figure
    return Figure(figsize=SIZE, dpi=DOTS, layout="constrained")


def _by_depth(axes: Any, groups: Sequence[Group]) -> None:
    """Draws lines slightly apart, so that their intervals do not hide each other."""
    strategies = list(dict.fromkeys(g.strategy for g in groups))
    for at, strategy in enumerate(strategies):
        own = [g for g in groups if g.strategy == strategy and g.by == "depth"]
        places = [int(g.name) + 0.06 * (at - (len(strategies) - 1) / 2) for g in own]
        rates = [100 * g.goal.value for g in own]
        spread = [[100 * (g.goal.value - g.goal.low) for g in own], [100 * (g.goal.high - g.goal.value) for g in own]]
        axes.errorbar(places, rates, yerr=spread, marker="o", capsize=3, label=strategy)
    axes.set(xlabel="depth of the task, or its subgoals", ylabel="goals reached, %", ylim=(-3, 103))
    axes.xaxis.get_major_locator().set_params(integer=True)
    _finish(axes)


def _by_decisions(axes: Any, groups: Sequence[Group]) -> None:
    """Draws success over decisions; the upper left is best."""
    for whole in (g for g in groups if g.by == "all"):
        spent, rate = whole.means["decisions"], whole.goal
        axes.errorbar(
            [spent.value], [100 * rate.value],
            xerr=[[spent.value - spent.low], [spent.high - spent.value]],
            yerr=[[100 * (rate.value - rate.low)], [100 * (rate.high - rate.value)]],
            marker="o", capsize=3, label=whole.strategy,
        )  # fmt: skip
    axes.set(xlabel="decisions an episode", ylabel="goals reached, %", ylim=(-3, 103))
    axes.set_xlim(left=0)
    _finish(axes)


def _finish(axes: Any) -> None:
    axes.grid(alpha=0.3)
    axes.legend()

"""What is made of recorded runs, to be measured beside the strategy that they are of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from bt_lab.run.case import Case
from bt_runtime.agents.compile.compiling import of_traces
from bt_runtime.agents.compile.trace import Trace, read
from bt_runtime.language.project import disk
from recipes.results.baselines import Baseline, Decisions, Nearest

How = Literal["compiled", "nearest", "decisions"]
HOW: Sequence[str] = get_args(How)
Models = Callable[[Case], Mapping[str, Any]]


def traces_of(folder: Path) -> list[Trace]:
    """Returns the traces of a recording's journals."""
    return list(read(sorted((folder / "runs").glob("*.btr"))))


def compiled_in(folder: Path, name: str) -> str:
    """Compiles a recording to a tree in its folder; returns its file."""
    file = folder / f"{name}.yaml"
    text = of_traces(traces_of(folder), name).text
    if disk.read_or_nothing(file) != text.encode():
        disk.write(file, text)
    return str(file)


def policy_of(how: str, folder: Path) -> Models:
    """Returns the models of an episode for a baseline: one that follows its policy."""
    traces = traces_of(folder)
    baseline = Nearest(traces) if how == "nearest" else Decisions(traces)
    return lambda case: {"default": Baseline(baseline.policy(case.task.goal))}

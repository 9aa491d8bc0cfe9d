"""Tries a compiled tree on new tasks, paired with the strategy that it was made from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from bt_lab.cli.progress import Progress
from bt_lab.report.comparison import Comparison, Side, compare
from bt_lab.report.statistics import wilson
from bt_lab.run.backend import Local
from bt_lab.run.case import Setup, Strategy, cases
from bt_lab.run.outcome import Outcome
from bt_lab.run.source import Source, find
from bt_runtime.agents.compile.trace import Trace, task_digest
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.skills.worlds.registry import Wanted
from bt_runtime.tree.budget import Budget
from bt_runtime.types import Model, Task

DECISIONS = 200  # decision limit of one episode
MEANS = ("decisions", "written", "computed", "steps")


class SideResults(NamedTuple):
    """One side's results: goals reached with an interval, means per episode, and goals reached without a model."""

    name: str
    reached: int
    low: float
    high: float
    decisions: float
    written: float
    computed: float
    steps: float
    alone: int  # … of them, reached without any decision of a model


@dataclass(slots=True)
class Trial:
    sides: tuple[SideResults, SideResults]
    pairs: Comparison
    left_out: int  # tasks that a run had had

    def to_json(self) -> dict[str, Any]:
        return {
            "sides": [side._asdict() for side in self.sides],
            "pairs": self.pairs.to_json(),
            "left out": self.left_out,
            "lines": list(self.lines()),
        }

    def lines(self) -> Iterable[str]:
        count = self.pairs.pairs
        left = f" ({self.left_out} left out: a run had them)" if self.left_out else ""
        yield f"tried on {count} tasks that no run had{left}"
        for side in self.sides:
            rate = f"{side.reached}/{count} ({side.low:.0%} to {side.high:.0%})"
            means = f"{side.decisions:.1f} decisions, {side.written:.0f} tokens written, {side.computed:.0f} computed"
            yield f"  {side.name}: {rate}, {means}, {side.steps:.0f} actions a task; {side.alone} without a model"
        goal = self.pairs.goal
        yield f"  in pairs: {goal.value:+.1%} ({goal.low:+.1%} to {goal.high:+.1%}), p {self.pairs.p:.2f}"


def held_out(source: Source, traces: Sequence[Trace]) -> tuple[list[Task], int]:
    """Returns the tasks that no run had, by name or content, and the number of the others."""
    names = {trace.task for trace in traces}
    contents = {trace.content for trace in traces}
    kept = [task for task in source.tasks if task.id not in names and task_digest(task._asdict()) not in contents]
    return kept, len(source.tasks) - len(kept)


def tried(
    tree: str,
    traces: Sequence[Trace],
    wanted: Wanted,
    models: Mapping[str, Model],
    jobs: int = 2,
    heard: Callable[[Outcome], object] = lambda outcome: None,
    tasks: str = "",
) -> Trial:
    """Runs the tree and the strategy of the runs on the same held-out tasks."""
    suite = tasks or traces[0].world
    if not suite:
        raise BtError("these runs had no world to draw tasks from", "name a file of tasks: --tasks tasks.yaml")
    source = find(suite, wanted)
    kept, left_out = held_out(source, traces)
    if not kept:
        raise BtError("every task that was drawn is one of the runs'", "draw others: --seed")
    inputs = {name: value for name, value in traces[0].inputs.items() if name not in ("goal", "guide")}
    strategies = [Strategy(traces[0].strategy, traces[0].strategy, inputs), Strategy("compiled", tree)]
    setup = Setup(source.suite, source.world, wanted.seed, Budget(decisions=DECISIONS), before=source.before)
    sides: tuple[dict[tuple[str, str], Outcome], ...] = ({}, {})
    for outcome in Local(models, jobs).outcomes(setup, cases(strategies, kept)):
        heard(outcome)
        sides[outcome.strategy == "compiled"][outcome.task, outcome.goal] = outcome
    first, second = (Side("", each.name, found) for each, found in zip(strategies, sides, strict=True))
    accounts = _account(first.strategy, sides[0].values()), _account("compiled", sides[1].values())
    return Trial(accounts, compare(first, second, wanted.seed), left_out)


def paired(
    tree: str, traces: Sequence[Trace], wanted: Wanted, models: Mapping[str, Model], tasks: str = ""
) -> dict[str, Any]:
    """Tries a compiled tree, shows the progress, and returns what was found as plain values."""
    left = 2 * wanted.episodes
    with Progress("try", "auto") as progress:

        def heard(outcome: Outcome) -> None:
            nonlocal left
            left -= 1
            progress.told(outcome, left)

        return tried(tree, traces, wanted, models, heard=heard, tasks=tasks).to_json()


def _account(name: str, outcomes: Iterable[Outcome]) -> SideResults:
    told = list(outcomes)
    reached = [each for each in told if each.success]
    _, low, high = wilson(len(reached), len(told))
    means = {field: sum(getattr(each, field) for each in told) / len(told) for field in MEANS}
    alone = sum(not each.decisions for each in reached)
    return SideResults(name, len(reached), low, high, alone=alone, **means)

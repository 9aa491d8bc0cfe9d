"""Tries edits of a recorded run with several seeds, and names the smallest one that saves it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from bt_lab.forks.edit_file import NamedEdit
from bt_lab.forks.forking import Forking
from bt_lab.report.statistics import Estimate, wilson
from bt_lab.report.table import aligned, rated
from bt_runtime.run.replay.fork import Edits

NONE = "(none)"


class Tried(NamedTuple):
    """An edit, and how many of its forks passed."""

    name: str
    size: int
    passed: int
    forks: int

    @property
    def rate(self) -> Estimate:
        return wilson(self.passed, self.forks)


def sweep(
    forking: Forking, at: str, edits: Sequence[NamedEdit], seeds: int, tell: Callable[[str], None] = lambda line: None
) -> list[Tried]:
    """Forks the run once for each edit and seed, first without an edit. The first seed is the run's own."""
    first = int(forking.recording.head["seed"])
    found = []
    for name, each, size in [NamedEdit(NONE, Edits(), 0), *edits]:
        passed = sum(forking.play(at, each._replace(seed=first + i)).passed for i in range(seeds))
        found.append(Tried(name, size, passed, seeds))
        tell(f"{name}: {passed} of {seeds} passed")
    return found


def smallest(found: Sequence[Tried]) -> Tried | None:
    """The edit with the fewest changes that passes with more than half of the seeds, and more often than no edit.

    Of equally small ones the one that passed most often is taken, then the first."""
    bare = next(each.passed for each in found if each.name == NONE)
    saving = [each for each in found if each.size and each.passed > bare and 2 * each.passed > each.forks]
    return min(saving, key=lambda each: (each.size, -each.passed), default=None)


def table(found: Sequence[Tried]) -> str:
    rows = [("edit", "changes", "passed", "rate", "95 % interval")]
    rows += [(each.name, str(each.size), *rated(each.passed, each.forks, each.rate)) for each in found]
    return aligned(rows)

"""Compares a compiled tree with the runs that it was made of: what it would do at each moment, and what was done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from bt_runtime.compile.cases import Case
from bt_runtime.compile.condition import Condition, Sample, holds
from bt_runtime.compile.procedure import Choice, Item
from bt_runtime.compile.steps import Moment, Step, Story

MOST_SHOWN = 20


class Difference(NamedTuple):
    """A moment at which the tree would act differently."""

    run: str
    goal: str
    tree: str  # what the tree would do
    recorded: str  # what was done


@dataclass(slots=True)
class Rehearsal:
    """The result of the comparison. `alike` of `steps` recorded steps agree. `goals`: how many have a case, of all."""

    steps: int = 0
    alike: int = 0
    goals: int = 0
    known: int = 0
    differences: list[Difference] = field(default_factory=list)

    @property
    def share(self) -> float:
        return self.alike / self.steps if self.steps else 1.0


def rehearsed(cases: Iterable[Case], goals: int, runs: frozenset[str] | None = None) -> Rehearsal:
    """Compares every story of these cases, or only those of `runs`."""
    found = Rehearsal(goals=goals)
    for case in cases:
        for story in case.stories:
            if runs is None or story.run in runs:
                _add(found, case, story)
    return found


def _add(found: Rehearsal, case: Case, story: Story) -> None:
    found.known += 1
    wanted = list(_expected(case.items, story.steps, story))
    done = [step.key for step in story.steps]
    found.steps += len(done)
    matched = _common(done, wanted)
    found.alike += matched
    if len(done) != matched or (len(wanted) != matched and story.life.why != "failure"):
        extra = next((key for key in wanted if key not in done), None)
        lacking = next((key for key in done if key not in wanted), None)
        told = Difference(story.run, story.life.goal, _said(extra), _said(lacking))
        found.differences.append(told)


def _expected(items: Sequence[Item], steps: Sequence[Step], story: Story) -> Iterator[tuple[str, ...]]:
    """Returns the keys of the steps that the procedure would do at this story's moments."""
    at = 0
    for item in items:
        moment = steps[min(at, len(steps) - 1)].began if steps else Moment((), "")
        if isinstance(item, Choice):
            yield from _expected(_way(item, story, moment), steps[at:], story)
            return
        if item.when is not None and not _applies(item.when, story, moment):
            continue
        yield item.step.key
        places = [i for i in range(at, len(steps)) if steps[i].key == item.step.key]
        at = places[0] + 1 if places else at


def _way(choice: Choice, story: Story, moment: Moment) -> list[Item]:
    for condition, items, _ in choice.ways:
        if condition is None or _applies(condition, story, moment):
            return items
    return []


def _applies(condition: Condition, story: Story, moment: Moment) -> bool:
    return holds(condition.what, condition.form, Sample(story, moment, True)) != condition.negated


def _common(done: Sequence[tuple[str, ...]], wanted: Sequence[tuple[str, ...]]) -> int:
    """Returns the length of the longest common subsequence."""
    row = [0] * (len(wanted) + 1)
    for one in done:
        before = 0
        for at, other in enumerate(wanted, 1):
            kept = row[at]
            row[at] = before + 1 if one == other else max(row[at], row[at - 1])
            before = kept
    return row[-1]


def _said(key: tuple[str, ...] | None) -> str:
    return " ".join(key[1:]).replace("it.", "") if key is not None else "nothing"

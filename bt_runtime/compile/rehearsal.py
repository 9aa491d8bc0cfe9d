"""Compares a compiled tree with the runs that it was made of: what it would do at each moment, and what was done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from bt_runtime.compile.condition import Condition, Sample, holds
from bt_runtime.compile.procedure import Choice, Gap, Item, Unless, told
from bt_runtime.compile.steps import Moment, Step, Story

MOST_SHOWN = 20


class Difference(NamedTuple):
    """A moment at which the tree would act differently."""

    run: str
    goal: str
    tree: str  # what the tree would do
    recorded: str  # what was done
    surplus: int = 0  # steps of the tree that the run did not do


@dataclass(slots=True)
class Rehearsal:
    """The result of the comparison. `alike` of `steps` recorded steps agree; `surplus`: steps of the tree that the
    runs did not do. `goals`: how many have a case, of all."""

    steps: int = 0
    alike: int = 0
    surplus: int = 0
    goals: int = 0
    known: int = 0
    differences: list[Difference] = field(default_factory=list)

    @property
    def share(self) -> float:
        return self.alike / self.steps if self.steps else 1.0


def rehearsed(items: Sequence[Item], stories: Iterable[Story], found: Rehearsal | None = None) -> Rehearsal:
    """Compares these stories with what a procedure does. `found`: what was compared before."""
    found = found or Rehearsal()
    for story in stories:
        _add(found, items, story)
    return found


def _add(found: Rehearsal, items: Sequence[Item], story: Story) -> None:
    found.known += 1
    wanted = list(_expected(items, story.steps, story))
    done = [step.key for step in story.steps]
    found.steps += len(done)
    matched = _common(done, wanted)
    surplus = len(wanted) - matched if story.life.why != "failure" else 0  # it gave up: the tree goes on
    found.alike += matched
    found.surplus += surplus
    if len(done) != matched or surplus:
        extra = next((key for key in wanted if key not in done), None)
        lacking = next((key for key in done if key not in wanted), None)
        found.differences.append(Difference(story.run, story.life.goal, _said(extra), _said(lacking), surplus))


def _expected(items: Sequence[Item], steps: Sequence[Step], story: Story) -> Iterator[tuple[str, ...]]:
    """Returns the keys of the steps that the procedure would do at this story's moments."""
    at = 0
    for item in items:
        moment = steps[at].began if at < len(steps) else story.end
        if isinstance(item, Choice | Unless | Gap):
            yield from _expected(_way(item, story, moment), steps[at:], story)
            return
        if item.when is not None and not _applies(item.when, story, moment):
            continue
        places = [i for i in range(at, len(steps)) if steps[i].key == item.step.key]
        if not places and item.tries:
            continue  # one more try of the search that follows
        yield item.step.key
        at = places[0] + 1 if places else at


def _way(choice: Choice | Unless | Gap, story: Story, moment: Moment) -> list[Item]:
    """Returns what is done at this moment; nothing where the agent is asked."""
    if isinstance(choice, Unless):
        return choice.items if _applies(choice.when, story, moment) else []
    for condition, items, _ in choice.ways if isinstance(choice, Choice) else ():
        if condition is None or _applies(condition, story, moment):
            return items
    return []


def _applies(condition: Condition, story: Story, moment: Moment) -> bool:
    return holds(condition.what, condition.forms, Sample(story, moment, True))


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
    return told(key) if key is not None else "nothing"

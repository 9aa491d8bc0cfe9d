"""Compares a compiled tree with the runs that it was made of: what it would do at each moment, and what was done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from bt_runtime.agents.compile.condition import Condition, Sample, holds
from bt_runtime.agents.compile.procedure import Alternatives, Block, Item, Unless, told
from bt_runtime.agents.compile.steps import AgentStory, StepMoment

MOST_SHOWN = 20


class ActDifference(NamedTuple):
    """A moment at which the tree would act differently."""

    run: str
    goal: str
    tree: str  # the compiled tree's act
    recorded: str  # the recorded act
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
    differences: list[ActDifference] = field(default_factory=list)

    @property
    def share(self) -> float:
        return self.alike / self.steps if self.steps else 1.0


def rehearsed(items: Sequence[Item], stories: Iterable[AgentStory], found: Rehearsal | None = None) -> Rehearsal:
    """Compares these stories with what a procedure does. `found`: what was compared before."""
    found = found or Rehearsal()
    for story in stories:
        _add(found, items, story)
    return found


def _add(found: Rehearsal, items: Sequence[Item], story: AgentStory) -> None:
    found.known += 1
    wanted = _Replay(story)
    wanted.play(items)
    done = [step.key for step in story.steps]
    found.steps += len(done)
    matched = _common(done, wanted.keys)
    surplus = len(wanted.keys) - matched if story.life.why != "failure" else 0  # the agent gave up, the tree goes on
    found.alike += matched
    found.surplus += surplus
    if len(done) != matched or surplus:
        extra = next((key for key in wanted.keys if key not in done), None)
        lacking = next((key for key in done if key not in wanted.keys), None)
        found.differences.append(ActDifference(story.run, story.life.goal, _said(extra), _said(lacking), surplus))


class _Replay:
    """The keys of the steps that a procedure would do at a story's moments."""

    def __init__(self, story: AgentStory) -> None:
        self.story, self.at, self.keys = story, 0, list[tuple[str, ...]]()

    @property
    def moment(self) -> StepMoment:
        steps = self.story.steps
        return steps[self.at].began if self.at < len(steps) else self.story.end

    def play(self, items: Sequence[Item]) -> bool:
        """Returns False where the agent is asked."""
        return all(map(self.item, items))

    def item(self, item: Item) -> bool:
        if isinstance(item, Block):
            self.block(item)
            return True
        if isinstance(item, Unless):
            return not _applies(item.when, self.story, self.moment) or self.play(item.items)
        if isinstance(item, Alternatives):
            for condition, inner, _ in item.ways:
                if condition is None or _applies(condition, self.story, self.moment):
                    return self.play(inner)
        return False

    def block(self, block: Block) -> None:
        key, steps = block.step.key, self.story.steps
        if block.when is not None and not _applies(block.when, self.story, self.moment):
            return
        places = [at for at in range(self.at, len(steps)) if steps[at].key == key]
        if places or not block.tries:  # otherwise it is one more try of the next search
            self.keys.append(key)
        self.at = places[0] + 1 if places else self.at


def _applies(condition: Condition, story: AgentStory, moment: StepMoment) -> bool:
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

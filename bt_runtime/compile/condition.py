"""Finds a test that separates the cases that did a step from those that did not: by possible actions or by
observations."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bt_runtime.compile.form import Form, form
from bt_runtime.compile.steps import Moment, Step, Story, opened

_HOLE = re.compile(r"\{it\.(\w+)\}")
_SURE = 0.9  # of the cases a condition has to tell right
MOST = 12  # forms of what was told that are looked at


class Condition(NamedTuple):
    """A condition. `what`: offered or heard; `form`: over the slots of the goal. It was right in `right` of `of`
    cases."""

    what: str
    form: str
    negated: bool
    right: int
    of: int


class Sample(NamedTuple):
    story: Story
    moment: Moment
    done: bool


def separating(samples: Sequence[Sample], steps: Iterable[Step], held_out: frozenset[str]) -> Condition | None:
    """Returns the condition that separates best, on the runs and on held-out ones; None when no condition does."""
    learnt = [each for each in samples if each.story.run not in held_out]
    kept = [each for each in samples if each.story.run in held_out]
    if len({each.done for each in learnt}) < 2:
        return None
    found: list[tuple[int, bool, int, str, str]] = []
    for at, (what, wanted) in enumerate(_candidates(learnt, steps)):
        right = sum(holds(what, wanted, each) == each.done for each in learnt)
        found += [(-right, False, at, what, wanted), (right - len(learnt), True, at, what, wanted)]
    wrong, negated, _, what, wanted = min(found, default=(0, False, 0, "", ""))
    if -wrong < max(_SURE * len(learnt), _usual(learnt) + 1):
        return None
    if kept and _right(what, wanted, negated, kept) < max(_usual(kept), _SURE * len(kept)):
        return None
    return Condition(what, wanted, negated, _right(what, wanted, negated, samples), len(samples))


def _right(what: str, wanted: str, negated: bool, samples: Iterable[Sample]) -> int:
    return sum((holds(what, wanted, each) != negated) == each.done for each in samples)


def _usual(samples: Sequence[Sample]) -> int:
    """Returns how many cases are right without a condition."""
    done = sum(each.done for each in samples)
    return max(done, len(samples) - done)


def _candidates(samples: Sequence[Sample], steps: Iterable[Step]) -> list[tuple[str, str]]:
    found = [("offered", step.said) for step in steps if step.what == "act" and step.skill]
    said = Counter(shape for each in samples for shape in [heard_form(each.moment.heard, each.story)] if shape)
    usual = sorted(said, key=lambda each: (-said[each], each))[:MOST]
    return [*found, *(("heard", each) for each in usual if said[each] > 1)]


def heard_form(heard: str, story: Story) -> str:
    """Returns the beginning of an observation with the goal's values as slots, up to the first other value."""
    first = heard.strip().split("\n")[0]
    for slot, value in story.goal.slots.items():
        first = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", f"{{it.{slot}}}", first)
    head, dot, rest = first.partition(". ")
    kept = re.split(r"\d|\(", head + ("." if dot else ""))[0].strip()
    whole = not rest and kept == first
    return (kept if whole else f"{kept} <more>") if len(kept.split()) >= 2 else ""


def several(story: Story, step: Step) -> bool:
    """True when an act was offered with more than one number."""
    asked = _filled(step.said, story)
    found = (asked.read(each) for each in step.moment.offered)
    return sum(each is not None for each in found) > 1


def _filled(wanted: str, story: Story) -> Form:
    return form(opened(_HOLE.sub(lambda m: story.goal.slots.get(m[1], ""), wanted)))


def holds(what: str, wanted: str, sample: Sample) -> bool:
    asked = _filled(wanted, sample.story)
    if what == "heard":
        return asked.read(" ".join(sample.moment.heard.split())) is not None
    return any(asked.read(each) is not None for each in sample.moment.offered)

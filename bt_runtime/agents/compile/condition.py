"""Finds a test that separates the cases that did a step from those that did not: by possible actions, by facts or by
observations."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from bt_runtime.agents.compile.form import GoalForm, form
from bt_runtime.agents.compile.steps import AgentStory, Step, StepMoment, opened

_HOLE = re.compile(r"\{it\.(\w+)\}")
_MARKS = re.compile(r"[{}<>]")  # would be read as a slot or an entry
_NUMBER = re.compile(r"(?<!\w)\d+(?!\w)")
_SENTENCE = re.compile(r"(?<=[.!?]) (?=[A-Z])")
SURE = 0.9  # share of the cases that did the step in which the condition must hold
MOST = 40  # forms of observations that are tried at most
MOST_FORMS = 6  # forms of one condition
FEW = 2  # cases that a form needs
OFFERED, BROUGHT, TOLD, HEARD = "offered", "holds", "told", "heard"
_NOT = "not "
Test = tuple[str, tuple[str, ...]]


class Condition(NamedTuple):
    """A condition. `what`: offered, holds, told or heard; `forms`: over the slots of the goal, one of which must be
    there. It was right in `right` of `of` cases, and never held where the step was not done."""

    what: str
    forms: tuple[str, ...]
    right: int
    of: int


class Sample(NamedTuple):
    story: AgentStory
    moment: StepMoment
    done: bool


def separating(samples: Sequence[Sample], steps: Iterable[Step], held_out: frozenset[str]) -> Condition | None:
    """Returns the condition that holds in nearly all cases that did the step, and in none that did not; None when
    there is none. It is learnt on the runs, and has to do as well on the held-out ones."""
    learnt = [each for each in samples if each.story.run not in held_out]
    kept = [each for each in samples if each.story.run in held_out]
    if len({each.done for each in learnt}) < 2:
        return None
    offered = [(OFFERED, (step.said,)) for step in steps if step.what == "act" and step.skill]
    seen = [test for what, forms in READ.items() for test in _shared(what, learnt, forms)]
    seen += [(BROUGHT, forms) for forms in _denied(learnt)]
    found = [(_missed(*each, learnt), at, each) for at, each in enumerate([*offered, *seen])]
    missed, _, best = min(((m, at, each) for m, at, each in found if m is not None), default=(0, 0, None))
    if best is None or _missed(*best, kept) is None:
        return None
    done = sum(each.done for each in samples)
    missed += _missed(*best, kept) or 0
    return Condition(*best, len(samples) - missed, len(samples)) if done else None


def _missed(what: str, forms: tuple[str, ...], samples: Sequence[Sample]) -> int | None:
    """Returns in how many cases that did the step the condition does not hold; None when these are too many, or it
    holds where the step was not done."""
    missed = done = 0
    for each in samples:
        holding = holds(what, forms, each)
        if holding and not each.done:
            return None
        done += each.done
        missed += each.done and not holding
    return missed if missed <= (1 - SURE) * done else None


def _denied(samples: Sequence[Sample]) -> list[tuple[str, ...]]:
    """Returns denials of facts that all cases but those that did the step had in common."""
    done = {fact for each in samples if each.done for fact in brought(each)}
    others = Counter(fact for each in samples if not each.done for fact in brought(each))
    kept = sorted((f for f in others.keys() - done if others[f] >= FEW), key=lambda f: (-others[f], f))
    return [(f"{_NOT}{fact}",) for fact in kept[:MOST]]


def brought(sample: Sample) -> tuple[str, ...]:
    """The facts of a moment that skills have brought, with the goal's values as slots."""
    return tuple(sorted(_slotted(fact, sample.story.goal.slots) for fact in sample.moment.brought))


def told(sample: Sample) -> tuple[str, ...]:
    """The facts of a moment that outputs tell."""
    return tuple(sorted(_slotted(fact, sample.story.goal.slots) for fact in sample.moment.told))


def heard(sample: Sample) -> tuple[str, ...]:
    return heard_forms(sample.moment.heard, sample.story)


def _slotted(said: str, slots: Mapping[str, str]) -> str:
    for slot, value in slots.items():
        said = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", f"{{it.{slot}}}", said)
    return said


def node_of(what: str, form: str) -> tuple[str, object]:
    """The node of a test and its value. What nobody has brought is not so."""
    if what in (HEARD, OFFERED):
        return what, form
    return BROUGHT, {"fact": form, "otherwise": True} if form.startswith(_NOT) else form


def _shared(what: str, samples: Sequence[Sample], forms_of: Callable[[Sample], tuple[str, ...]]) -> Iterator[Test]:
    """Yields forms that only cases that did the step had: each that nearly all of them had, and then the fewest that
    together all had."""
    done = [each for each in samples if each.done]
    forms = [forms_of(each) for each in done]
    others = {shape for each in samples if not each.done for shape in forms_of(each)}
    counted = Counter(shape for shapes in forms for shape in shapes if shape not in others)
    usual = [shape for shape in sorted(counted, key=lambda each: (-counted[each], each)) if counted[shape] >= FEW]
    pure = [shape for shape in usual[:MOST] if _missed(what, (shape,), _undone(samples)) is not None]
    yield from ((what, (shape,)) for shape in pure)
    left, chosen = [{*shapes} for shapes in forms], list[str]()
    for shape in pure:
        if any(shape in shapes for shapes in left):
            chosen.append(shape)
            left = [shapes for shapes in left if shape not in shapes]
    if 1 < len(chosen) <= MOST_FORMS:
        yield what, tuple(chosen)


def _undone(samples: Sequence[Sample]) -> list[Sample]:
    return [each for each in samples if not each.done]


def heard_forms(heard: str, story: AgentStory) -> tuple[str, ...]:
    """Returns the forms of an observation, two for each of its lines and sentences at most, with the goal's values as
    slots: all of it with its numbers open, and its beginning up to the first other value."""
    found: list[str] = []
    for said in heard_texts(heard):
        if said and _MARKS.search(said) is None:
            said = _slotted(said, story.goal.slots)
            found += filter(None, (_beginning(said), _whole(said)))
    return tuple(dict.fromkeys(found))


def _beginning(line: str) -> str:
    head, dot, rest = line.partition(". ")
    kept = re.split(r"\d|\(", head + ("." if dot else ""))[0].strip()
    whole = not rest and kept == line
    return (kept if whole else f"{kept} <more>") if len(kept.split()) >= 2 else ""


def _whole(line: str) -> str:
    return opened(_NUMBER.sub("<number>", line))


def several(story: AgentStory, step: Step) -> bool:
    """True when an act was offered with more than one number."""
    asked = _filled(step.said, story)
    found = (asked.read(each) for each in step.moment.offered)
    return sum(each is not None for each in found) > 1


def _filled(wanted: str, story: AgentStory) -> GoalForm:
    return form(opened(_HOLE.sub(lambda m: story.goal.slots.get(m[1], ""), wanted)))


def holds(what: str, forms: tuple[str, ...], sample: Sample) -> bool:
    """True when one of the forms is there at the sample's moment, as the nodes `offered`, `holds` and `heard` read
    it."""
    if what in (BROUGHT, TOLD):
        held = {*brought(sample), *told(sample)}
        return any((form.removeprefix(_NOT) in held) != form.startswith(_NOT) for form in forms)
    texts = sample.moment.offered if what == OFFERED else heard_texts(sample.moment.heard)
    asked = [_filled(each, sample.story) for each in forms]
    return any(each.read(text) is not None for each in asked for text in texts)


def heard_texts(text: str) -> tuple[str, ...]:
    """Returns what `heard` compares with a form: an observation in one line, each of its lines, and each sentence."""
    lines = [" ".join(line.split()) for line in text.split("\n")]
    sentences = [sentence for line in lines for sentence in _SENTENCE.split(line)]
    return tuple(dict.fromkeys([" ".join(text.split()), *filter(None, [*lines, *sentences])]))


READ: Mapping[str, Callable[[Sample], tuple[str, ...]]] = {BROUGHT: brought, TOLD: told, HEARD: heard}

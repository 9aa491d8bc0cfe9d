"""Cuts the lives of agents that planned nothing into the parts that they share, such as `take <thing>`.

A part ends with an act for whose sake something was searched, or with the last act of a life. Its goal is that act's
sentence, as far as the goals above name its values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from bt_runtime.agents.compile.form import base
from bt_runtime.agents.compile.goal import Goal, GoalReader
from bt_runtime.agents.compile.lexicon import Lexicon
from bt_runtime.agents.compile.steps import story
from bt_runtime.agents.compile.trace import Act, Life, PlanPart, Trace
from bt_runtime.agents.surroundings import DONE
from bt_runtime.language.sentence import Sentence

LEAST = 3  # lives in which an act has to end a part
SURE = 0.9  # share of a skill's acts whose value the goal above names
SELDOM = 0.02  # share of searches that tried a value of the goal above


class _Segment(NamedTuple):
    """The acts of a life up to one that ends a part."""

    goal: Goal  # the goal of the agent's whole life
    acts: Sequence[Act]
    skill: str
    values: dict[str, str]  # slot of the last act → the value of the goal that it is, "" for none


def parted(traces: Iterable[Trace], lexicon: Lexicon, reader: GoalReader) -> list[Trace]:
    """Returns these traces with the lives cut that consist of parts; the others as they are."""
    found = list(traces)
    flat = [life for trace in found for life in trace.every() if _flat(life)]

    def cut_at(skills: frozenset[str]) -> dict[int, list[_Segment]]:
        return {id(life): _segments(life, reader.read(life.goal), skills, lexicon) for life in flat}

    def named(cut: dict[int, list[_Segment]], skill: str) -> list[str]:
        return _kept([each for segments in cut.values() for each in segments if each.skill == skill])

    ends = _ends(found, lexicon, reader)
    first = cut_at(ends)
    ends = frozenset(skill for skill in ends if named(first, skill))  # going somewhere may end a search too
    cut = cut_at(ends)
    kept = {skill: named(cut, skill) for skill in ends}
    every = [each for segments in cut.values() for each in segments]
    apart = {skill: _apart([each for each in every if each.skill == skill], kept[skill], lexicon) for skill in ends}

    def lived(life: Life) -> Life:
        segments = cut.get(id(life), [])
        if len(segments) < 2 or not all(kept[each.skill] and all(map(each.values.get, kept[each.skill]))
                                        for each in segments):  # fmt: skip
            return life
        ends: list[Act | Life] = [*(each.acts[0] for each in segments[1:]), life]
        parts = [_part(life, each, kept, apart, lexicon) for each in segments]
        for part, end in zip(parts, ends, strict=True):
            one = part.lives[0]
            one.offered, one.heard, one.after = end.offered, end.heard, end.after
        return replace(life, acts=[*parts])

    return [replace(trace, lives=[lived(life) for life in trace.lives]) for trace in found]


def _flat(life: Life) -> bool:
    return life.why == DONE and all(isinstance(act, Act) for act in life.acts)


def _ends(traces: Iterable[Trace], lexicon: Lexicon, reader: GoalReader) -> frozenset[str]:
    """Returns the skills for whose sake lives searched, and with which they ended."""
    counted = Counter[str]()
    for trace in traces:
        for life in trace.every():
            if _flat(life):
                steps = story(life, reader.read(life.goal), lexicon).steps
                counted.update({step.skill for step in steps if step.search} | {step.skill for step in steps[-1:]})
    return frozenset(skill for skill, count in counted.items() if count >= LEAST)


def _segments(life: Life, goal: Goal, ends: frozenset[str], lexicon: Lexicon) -> list[_Segment]:
    made: list[_Segment] = []
    acts: list[Act] = []
    for act in life.acts:
        assert isinstance(act, Act)
        acts.append(act)
        deed = lexicon.read(act.sentence)
        if deed is not None and deed.skill in ends and act.succeeded:
            values = {slot: _named(value, goal) for slot, value in deed.values.items()}
            made.append(_Segment(goal, acts, deed.skill, values))
            acts = []
    if acts and made:
        made[-1] = made[-1]._replace(acts=[*made[-1].acts, *acts])
    return made


def _named(value: str, goal: Goal) -> str:
    """Returns the goal's value that an act's value is, with or without a number."""
    known = {*goal.slots.values()}
    return value if value in known else base(value) if base(value) in known else ""


def _kept(segments: Sequence[_Segment]) -> list[str]:
    """Returns the slots of a skill that goals above name nearly always: they stand in the goal of the part."""
    named = Counter(slot for each in segments for slot, value in each.values.items() if value)
    return [slot for slot in (segments[0].values if segments else ()) if named[slot] >= SURE * len(segments)]


def _apart(segments: Sequence[_Segment], kept: Sequence[str], lexicon: Lexicon) -> frozenset[str]:
    """Returns the slots of goals above that part searches could have tried and never did: a thing that is to lie
    somewhere is not fetched from there."""
    tried = Counter[str]()
    had = Counter[str]()
    for each in segments:
        gone = [deed for act in each.acts[:-1] if (deed := lexicon.read(act.sentence)) is not None]
        for slot, value in each.goal.slots.items():
            if slot not in kept and any(slot in deed.values for deed in gone):
                had[slot] += 1
                tried[slot] += any(base(deed.values.get(slot, "")) == base(value) for deed in gone)
    return frozenset(slot for slot, count in had.items() if count >= LEAST and tried[slot] <= SELDOM * count)


def _part(
    life: Life, each: _Segment, kept: dict[str, list[str]], apart: dict[str, frozenset[str]], lexicon: Lexicon
) -> PlanPart:
    goal = _said(lexicon.template(each.skill), {slot: each.values[slot] for slot in kept[each.skill]})
    first = each.acts[0]
    lived = Life(life.path, goal, list(each.acts), DONE, cut=True)
    leave = tuple(value for slot, value in each.goal.slots.items() if slot in apart[each.skill])
    return PlanPart("sequence", (goal,), [lived], first.offered, first.heard, leave, first.after)


def _said(template: str, values: dict[str, str]) -> str:
    """Fills a sentence. What has no value is left out, with the words before it."""
    first, *rest = Sentence(template).pieces
    made, before = "", first
    for slot, after in zip(rest[::2], rest[1::2], strict=True):
        if slot in values:
            made, before = f"{made}{before}{values[slot]}", after
        else:
            before = after if made else f"{first.rstrip()}{after}"
    return f"{made}{before}".strip()

"""The cases of a compiled tree: each is a group of goal forms that agents solved alike, with one procedure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from py_trees.common import Status

from bt_runtime.agents.backchain.brought import held
from bt_runtime.agents.backchain.step import NOT, effects_of
from bt_runtime.agents.compile.goal import GoalReader
from bt_runtime.agents.compile.lexicon import Lexicon
from bt_runtime.agents.compile.procedure import Gap, Item, every, merge
from bt_runtime.agents.compile.rehearsal import Rehearsal, rehearsed
from bt_runtime.agents.compile.steps import ENTRIES, AgentStory, Held, story
from bt_runtime.agents.compile.trace import Trace
from bt_runtime.language.sentence import spoken
from bt_runtime.skills.answer import EndedAnswer
from bt_runtime.skills.words import outputs
from bt_runtime.types import Json

# The facts that held at each moment of a recorded run, as the node `holds` takes them: by what skills had brought, and
# by the latest output of each name.

LONGEST = 60  # characters of an output that is a fact
MOST_ITEMS = 20  # most items kept of a list


def held_in(done: Sequence[tuple[str, Any]], lexicon: Lexicon) -> list[Held]:
    """The facts before the first successful action, and after each: brought, and told by outputs."""
    facts: dict[str, bool] = {}
    latest: dict[str, Json] = {}
    found: list[Held] = [(frozenset(), frozenset())]
    for sentence, value in done:
        deed = lexicon.read(sentence)
        if deed is not None:
            kind = lexicon.kinds[deed.skill]
            latest.update(outputs(kind, EndedAnswer(Status.SUCCESS, value)))
            facts.update(effects_of(kind.data["entry"].brings, deed.values))
        brought = frozenset(fact for fact, so in facts.items() if so and not fact.startswith(NOT))
        said = {fact for name, given in latest.items() for fact in _said(name, given)}
        found.append((brought, frozenset(fact for fact in said - brought if held(fact, facts, latest))))
    return found


def _said(name: str, value: Json) -> Iterator[str]:
    """The facts that an output says: `state lent`, `chain dry`."""
    if name in ENTRIES:
        return  # the compiled tree has an entry of this name, which is asked first
    words = name.replace("_", " ")
    if isinstance(value, bool):
        yield words
        return
    for each in value[:MOST_ITEMS] if isinstance(value, list) else [value]:
        text = "" if each is None or isinstance(each, Mapping | list) else spoken(each)
        if text and len(text) <= LONGEST and text.isprintable() and "{" not in text:
            yield f"{words} {text}"


_HOLE = re.compile(r"\{[^{}]*\}|<\w+>")
_ENDS = ("done", "expanded", "failure")
LEAST = 3  # lives, and tasks, that a case needs
ALIKE = 0.5  # share of common words from which two forms are alike
OFTEN = 5  # lives in which the same values show that they are no search


@dataclass(slots=True)
class CompiledCase:
    name: str
    forms: list[str]  # the most frequent first
    stories: list[AgentStory]
    items: list[Item] = field(default_factory=list)
    gap: str = ""  # why the agent keeps it: nothing tells when a step is done

    @property
    def lives(self) -> int:
        return len(self.stories)

    @property
    def runs(self) -> int:
        return len({each.run for each in self.stories})


def stories_of(traces: Iterable[Trace], lexicon: Lexicon, reader: GoalReader) -> dict[str, list[AgentStory]]:
    """Groups the stories of successful runs by the form of their goal; stories that ended in a loop or a budget are
    left out."""
    found: dict[str, list[AgentStory]] = {}
    facts: dict[str, list[Held]] = {}
    for trace in traces:
        held = held_in(trace.done, lexicon)
        facts[trace.name] = held
        for life in trace.every():
            if life.why in _ENDS and (life.why != "expanded" or life.succeeded):
                goal = reader.read(life.goal)
                found.setdefault(goal.form, []).append(story(life, goal, lexicon, trace.name, trace.task, held=held))
    for form, told in found.items():
        always = _always(told)
        if always:
            found[form] = [story(s.life, s.goal, lexicon, s.run, s.task, always, facts[s.run]) for s in told]
    return found


def _always(told: list[AgentStory]) -> frozenset[str]:
    """Returns the values that nearly all lives go through in the same order, though no goal names them."""
    good = [each for each in told if each.life.why != "failure"]
    orders = Counter(each.free for each in good if each.free or not each.life.cut)
    order, count = max(orders.items(), key=lambda each: (each[1], each[0]), default=((), 0))
    return frozenset(order) if count >= OFTEN and count >= 0.9 * orders.total() else frozenset()


def cases(by_form: Mapping[str, list[AgentStory]], held_out: frozenset[str]) -> list[CompiledCase]:
    """Returns the cases that occur often enough, those with the most lives first; also those with a gap, which no tree
    may hold."""
    kept = {form: told for form, told in by_form.items() if len(told) >= LEAST and len({s.run for s in told}) >= LEAST}
    kept = {form: told for form, told in kept.items() if any(each.steps for each in told) and not _unexplained(told)}
    classes = _classes(kept)
    made = []
    for forms in classes:
        told = [each for form in forms for each in kept[form]]
        _canonical(told, {_shape(form): forms_of[0] for forms_of in classes for form in forms_of})
        made.append(CompiledCase("", forms, told, merge(told, held_out)))
    made = sorted((case for case in made if case.items), key=lambda case: (-case.lives, case.forms))
    for case in made:
        case.name = _name(case.forms[0], {each.name for each in made})
        case.gap = _gap(case)
    return made


def _gap(case: CompiledCase) -> str:
    """Says what the tree would do that the runs did not; "" for nothing."""
    found = next(every(Gap, case.items), None)
    if found is not None:
        return str(found)
    replayed = rehearsed(case.items, case.stories)
    first = next((each for each in replayed.differences if each.surplus), None)
    return f"it would {first.tree}, which the run {first.run} did not" if first is not None else ""


def replayed(made: Iterable[CompiledCase], goals: int, runs: frozenset[str] | None = None) -> Rehearsal:
    """Compares every story of these cases with what its case does, or only those of `runs`."""
    found = Rehearsal(goals=goals)
    for case in made:
        rehearsed(case.items, (each for each in case.stories if runs is None or each.run in runs), found)
    return found


def _unexplained(told: list[AgentStory]) -> bool:
    """True when many acts are in no manifest, or ends that succeeded come after acts that the goal does not explain.

    A tree of the rest alone would succeed without having done the work."""
    unread = sum(each.unread for each in told)
    good = [each for each in told if each.life.why != "failure"]
    loose = sum(bool(each.missing) for each in good)
    return unread > 0.1 * sum(len(each.steps) + each.unread for each in told) or loose > 0.1 * len(good)


def _classes(kept: Mapping[str, list[AgentStory]]) -> list[list[str]]:
    """Groups forms with the same slots whose steps and parts agree."""
    groups = [[form] for form in sorted(kept, key=lambda form: (-len(kept[form]), form))]
    while True:
        heads = {_shape(form): group[0] for group in groups for form in group}
        signed = [(_signature(kept[group[0]], heads), group) for group in groups]
        pair = next(
            ((i, j) for i, (one, a) in enumerate(signed) for j, (two, b) in enumerate(signed[i + 1 :], i + 1)
             if one == two and one and _alike(a[0], b[0])), None,
        )  # fmt: skip
        if pair is None:
            return groups
        groups[pair[0]] += groups.pop(pair[1])


def _alike(one: str, two: str) -> bool:
    if sorted(_HOLE.findall(one)) != sorted(_HOLE.findall(two)):
        return False
    words, others = one.split(), two.split()
    same = sum((Counter(words) & Counter(others)).values())
    return same >= ALIKE * max(len(words), len(others))


def _signature(told: list[AgentStory], heads: Mapping[str, str]) -> tuple[object, ...]:
    """Returns what nearly all stories did, in order, and what many of them did."""
    good = [each for each in told if each.life.why != "failure"]
    lists = [_counted([_key(step.key, heads) for step in each.steps]) for each in good]
    counted = Counter(key for keys in lists for key in keys)
    common = {key for key, count in counted.items() if count >= 0.9 * len(good)}
    order = Counter(tuple(key for key in keys if key in common) for keys in lists)
    often = frozenset(key for key, count in counted.items() if count >= 0.2 * len(good))
    return (min(order, key=lambda keys: (-order[keys], keys)), often) if often else ()


def _counted(keys: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Returns each act once, and calls as often as they are made: to fetch two things is not to fetch one."""
    seen = Counter[tuple[str, ...]]()
    made = dict[tuple[str, ...], None]()
    for key in keys:
        seen[key] += key[0] == "call"
        made[(*key, "again", str(seen[key])) if seen[key] > 1 else key] = None
    return list(made)


def _key(key: tuple[str, ...], heads: Mapping[str, str]) -> tuple[str, ...]:
    if key[0] != "each":  # a call keeps its words: they are what its part is read by
        return key
    return (*key[:2], *(heads.get(_shape(goal), goal) for goal in key[2:]))


def _canonical(told: list[AgentStory], heads: Mapping[str, str]) -> None:
    for each in told:
        for step in each.steps:
            step.key = _key(step.key, heads)


def _shape(goal: str) -> str:
    """Returns a goal without its slot values, so that a call and its form compare equal."""
    return _HOLE.sub("<>", goal)


def _name(form: str, taken: set[str]) -> str:
    """Makes a readable name of the form's words."""
    words = re.findall(r"[a-z]+", _HOLE.sub(" ", form).lower())
    words = [word for word in words if word not in ("the", "a", "an", "it", "one")]
    name = "_".join(words[:6]) or "case"
    found, count = name, 1
    while found in taken:
        count += 1
        found = f"{name}_{count}"
    return found

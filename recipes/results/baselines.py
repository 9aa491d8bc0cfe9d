"""Baselines of a compiled tree, from the same runs: the nearest run replayed, and a decision tree without structure.

Each stands in the place of the model of `react`: it chooses one of the actions that are offered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from math import log2
from random import Random
from typing import NamedTuple

from bt_runtime.agents.compile.trace import Act, Trace
from bt_runtime.agents.scripted import ScriptedModel
from bt_runtime.agents.story import ACT
from bt_runtime.agents.surroundings import DONE, FAILURE, RECALL
from bt_runtime.llm.local.header import INSTRUCT
from bt_runtime.memory.hashing import Hashing
from bt_runtime.types import Question

OTHERS = 4  # actions that were offered and not taken, kept of each step: so many like the one taken, so many others
DEEP, LEAST = 12, 20  # levels of the decision tree, and samples of a leaf
_WORD = re.compile(r"[a-z]+")
Policy = Callable[[Question], str]


def offered(question: Question) -> list[str]:
    """Returns the sentences of a question that act in the world. What is only remembered is left out: journals keep no
    list of it."""
    said = (str(each).strip() for each in question.moves.get(ACT, question.options))
    return [each for each in said if not each.startswith(RECALL)]


class Baseline(ScriptedModel):
    """A policy in the place of a model."""

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy)
        self.register = INSTRUCT


class Nearest:
    """Replays the actions of the run whose goal is most alike. Actions that are not offered are skipped."""

    def __init__(self, traces: Iterable[Trace]) -> None:
        runs = {trace.goal: _acts(trace) for trace in traces if trace.met and trace.goal}
        self.runs = [*runs.items()]
        self.vectors = Hashing().embed([goal for goal, _ in self.runs])

    def policy(self, goal: str) -> Policy:
        wanted = Hashing().embed([goal])[0]
        likeness = [sum(a * b for a, b in zip(wanted, vector, strict=True)) for vector in self.vectors]
        acts = iter(self.runs[max(range(len(self.runs)), key=likeness.__getitem__)][1])

        def act(question: Question) -> str:
            there = set(offered(question))
            return f"{ACT} {next((a.sentence for a in acts if a.sentence in there), DONE)}"

        return act


class Split(NamedTuple):
    """An inner node of a decision tree: a feature, and what follows with it and without it."""

    feature: str
    there: Split | float
    missing: Split | float


class Decisions:
    """A decision tree over state and action: how likely an agent took an action with these features."""

    def __init__(self, traces: Iterable[Trace], seed: int = 0) -> None:
        rows: list[tuple[frozenset[str], bool]] = []
        chance = Random(seed)
        for trace in sorted((each for each in traces if each.met and each.goal), key=lambda t: (t.goal, t.name)):
            rows += _samples(trace, chance)
        self.tree = grown(rows)

    def policy(self, goal: str) -> Policy:
        done: list[str] = []

        def act(question: Question) -> str:
            heard = question.prompt.rstrip().removesuffix(ACT).rpartition(f"\n{ACT} ")[2].partition("\n")[2]
            choices = [*offered(question)]
            state = _state(goal, heard, done)
            best = max(choices, key=lambda each: self.likely(state | _action(each, goal, heard, done)), default=DONE)
            done.append(best)
            return f"{ACT} {best}"

        return act

    def likely(self, features: frozenset[str]) -> float:
        node = self.tree
        while isinstance(node, Split):
            node = node.there if node.feature in features else node.missing
        return node


def _acts(trace: Trace) -> list[Act]:
    deeds = (act for life in trace.lives for act in life.deeds())
    return [act for act in deeds if act.succeeded and not act.sentence.startswith(RECALL)]


def _samples(trace: Trace, chance: Random) -> Iterable[tuple[frozenset[str], bool]]:
    done: list[str] = []
    heard = trace.look
    acts = _acts(trace)
    for act in acts:
        state = _state(trace.goal, heard, done)
        kept = _kept(act, chance)
        for each, taken in ((act.sentence, True), *((other, False) for other in kept)):
            yield state | _action(each, trace.goal, heard, done), taken
        done.append(act.sentence)
        heard = act.observation
    state = _state(trace.goal, heard, done)
    yield state | _action(DONE, trace.goal, heard, done), True


def _kept(act: Act, chance: Random) -> list[str]:
    """Draws actions that were not taken: some with the verb of the one that was, which are the hard ones."""
    verb = _words(act.sentence)[:1]
    others = [each for each in (*act.offered, DONE) if each != act.sentence]
    alike = [each for each in others if _words(each)[:1] == verb]
    unlike = [each for each in others if _words(each)[:1] != verb]
    return [each for group in (alike, unlike) for each in chance.sample(group, min(OTHERS, len(group)))]


@lru_cache(maxsize=100_000)
def _words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_WORD.findall(text.lower())))


def _state(goal: str, heard: str, done: Sequence[str]) -> frozenset[str]:
    last = done[-1] if done else ""
    verbs = {_words(each)[0] for each in done if _words(each)}
    return frozenset({
        f"last {_words(last)[0] if _words(last) else 'none'}", f"steps {min(len(done) // 4, 8)}",
        *(f"goal {word}" for word in _words(goal)[:20]), *(f"heard {word}" for word in _words(heard)[:6]),
        *(f"did {verb}" for verb in verbs),
    })  # fmt: skip


def _action(sentence: str, goal: str, heard: str, done: Sequence[str]) -> frozenset[str]:
    words = _words(sentence)
    things = set(words[1:])
    told, seen = things & set(_words(goal)), things & set(_words(heard))
    return frozenset({
        f"do {words[0] if words else ''}", f"do {' '.join(words[:2])}", f"names {len(told)} of the goal",
        f"names {len(seen)} of what was heard", *(["done before"] if sentence in done else []),
        *(["done just now"] if sentence == (done[-1] if done else None) else []),
        *(["gives up"] if sentence == FAILURE else []), *(f"with {word}" for word in things),
    })  # fmt: skip


# The tree --------------------------------------------------------------------------------


def grown(rows: Sequence[tuple[frozenset[str], bool]]) -> Split | float:
    """Grows a binary tree by information gain. A set of rows is the bits of a whole number."""
    columns: dict[str, int] = {}
    taken = 0
    for at, (features, label) in enumerate(rows):
        bit = 1 << at
        taken |= bit if label else 0
        for feature in features:
            columns[feature] = columns.get(feature, 0) | bit
    usual = {name: column for name, column in sorted(columns.items()) if column.bit_count() >= LEAST}
    return _grown((1 << len(rows)) - 1, taken, usual, DEEP)


def _grown(here: int, taken: int, columns: Mapping[str, int], deep: int) -> Split | float:
    count, yes = here.bit_count(), (here & taken).bit_count()
    if not deep or count < 2 * LEAST or yes in (0, count):
        return (yes + 0.1) / (count + 1)
    whole, best, gain = _entropy(yes, count), "", 1e-9
    for name, column in columns.items():
        there = here & column
        size = there.bit_count()
        if LEAST <= size <= count - LEAST:
            hits = (there & taken).bit_count()
            rest = (size * _entropy(hits, size) + (count - size) * _entropy(yes - hits, count - size)) / count
            if whole - rest > gain:
                best, gain = name, whole - rest
    if not best:
        return (yes + 0.1) / (count + 1)
    column = columns[best]
    return Split(
        best, _grown(here & column, taken, columns, deep - 1), _grown(here & ~column, taken, columns, deep - 1)
    )


def _entropy(yes: int, count: int) -> float:
    share = yes / count if count else 0.0
    return -sum(p * log2(p) for p in (share, 1 - share) if p > 0)

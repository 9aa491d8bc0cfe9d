"""What recorded runs tell of skills: which fact an action needs, which one it ends, and which texts fill a slot."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from bt_runtime.agents.backchain.step import NOT, effects_of
from bt_runtime.agents.compile.trace import read
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.sentence import Sentence
from bt_runtime.types import Json

LEAST = 3  # successes that show a need
FAILED = 2  # failures that show a need, or an end
FEW_VALUES = 12  # a slot with at most so many values lists them one by one …
REPEATED = 3  # … when each was seen so often, on average
LEAST_VALUES = 5  # values that show a form


class SeenAction(NamedTuple):
    """An action of a run, and which facts held before it by the skills' own words."""

    skill: str
    params: Mapping[str, Json]
    good: bool
    held: frozenset[str]
    ended: Mapping[str, tuple[str, ...]]  # fact → the skills that were done to its things since it was brought


class SeenActions:
    """The actions of recorded runs, read by the skills' sentences."""

    def __init__(self, kinds: Sequence[Kind], journals: Iterable[Path]) -> None:
        self.kinds = {kind.name: kind for kind in kinds}
        self.said = [(kind.name, Sentence(e.sentence, e.types)) for kind in kinds for e in (kind.data["entry"],)]
        self.runs = [
            [(act.sentence, act.succeeded) for life in trace.lives for act in life.deeds()] for trace in read(journals)
        ]

    def acts(self, brings: Mapping[str, Sequence[str]]) -> list[SeenAction]:
        """The actions of all runs. `brings`: the effects of each skill."""
        return [done for run in self.runs for done in self.of_run(run, brings)]

    def of_run(self, run: Iterable[tuple[str, bool]], brings: Mapping[str, Sequence[str]]) -> Iterator[SeenAction]:
        held: dict[str, tuple[str, ...]] = {}
        for sentence, good in run:
            found = next(((n, p) for n, said in self.said if (p := said.parse(sentence)) is not None), None)
            if found is None:
                continue
            skill, params = found
            yield SeenAction(skill, params, good, frozenset(held), dict(held))
            if good:
                held = {fact: (*since, skill) for fact, since in held.items()}
                for fact, holds in effects_of(brings.get(skill, ()), params):
                    if holds and not fact.startswith(NOT):
                        held[fact] = ()
                    elif not holds:
                        held.pop(fact, None)


def needs_of(skill: str, acts: Sequence[SeenAction], facts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yields each fact without which the action always failed, and with which it succeeded, with the counts."""
    own = [done for done in acts if done.skill == skill]
    for fact in facts:
        sentence = Sentence(fact)
        pairs = [(sentence.say(d.params) in d.held, d.good) for d in own if {*sentence.slots} <= d.params.keys()]
        counted = Counter(pairs)
        good, without, lacking = counted[True, True], counted[False, True], counted[False, False]
        if good >= LEAST and not without and lacking >= FAILED:
            yield fact, f"in recorded runs it failed {lacking} of {lacking} times without it, and never succeeded so"


def ended_by(acts: Sequence[SeenAction], skill: str, fact: str) -> Iterator[tuple[str, str]]:
    """Yields each action after which `skill`, which needs the fact, always failed though the fact had been brought."""
    sentence = Sentence(fact)
    own = [d for d in acts if d.skill == skill and {*sentence.slots} <= d.params.keys()]
    since = [(d.ended[said], d.good) for d in own if (said := sentence.say(d.params)) in d.held]
    for other in sorted({name for names, _ in since for name in names} - {skill}):
        counted = Counter((other in names, good) for names, good in since)
        failed = counted[True, False]
        if failed >= FAILED and not counted[True, True] and counted[False, True]:
            yield other, f"in recorded runs `{skill}` failed {failed} of {failed} times after it"


def bound_of(values: Sequence[str]) -> tuple[str, Json, str] | None:
    """A key that bounds a text to what was seen, with its value and the reason: `choices`, or the form of the texts."""
    distinct = sorted({*values})
    if len(distinct) <= FEW_VALUES and len(values) >= REPEATED * len(distinct) and len(distinct) > 1:
        return "choices", list(distinct), f"recorded runs had no others in {len(values)} actions"
    if len(distinct) < LEAST_VALUES:
        return None
    return "from", f"/{form_of(distinct)}/", f"{len(distinct)} texts of recorded runs have this form"


_CLASS = re.compile(r"[A-Z]+|[a-z]+|[0-9]+|.")


def form_of(texts: Sequence[str]) -> str:
    """The narrowest form of these texts: runs of capitals, letters and digits where all have the same, else their
    length and sorts of characters."""
    parts = [_CLASS.findall(text) for text in texts]
    shapes = {tuple(map(_sort, each)) for each in parts}
    if len(shapes) == 1:
        return "".join(_run(sort, [len(each[at]) for each in parts]) for at, sort in enumerate(next(iter(shapes))))
    sorts = sorted({_sort(sign) for text in texts for sign in text})
    inner = "".join(s.strip("[]") if s.startswith("[") else "\\-" if s == "\\-" else s.replace("\\", "") for s in sorts)
    return _run(f"[{inner}]", [len(text) for text in texts])


def _sort(part: str) -> str:
    for sort in ("[A-Z]", "[a-z]", "[0-9]"):
        if re.fullmatch(f"{sort}+", part):
            return sort
    return re.sub(r"([.()\[\]{}+*?|/-])", r"\\\1", part)


def _run(sort: str, lengths: Sequence[int]) -> str:
    least, most = min(lengths), max(lengths)
    if least == most:
        return sort if most == 1 else f"{sort}{{{most}}}"
    return f"{sort}{{{least},{most}}}"

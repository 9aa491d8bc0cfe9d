"""Decides a property: first on the part of the tree that it depends on, and on more of it where that is too rough."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from bt_author.proof.cone import Cone
from bt_author.proof.explorer import Explorer
from bt_author.proof.options import Options
from bt_author.proof.search import Found, Limits, search
from bt_author.proof.story import Telling, concrete, left_out, told, words
from bt_author.proof.values import reads
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.nodes import places_of
from bt_runtime.language.outside import Writes, shared_with
from bt_runtime.language.properties import formula
from bt_runtime.language.properties.atom import Atom
from bt_runtime.language.properties.property import Property
from bt_runtime.language.properties.unknown import unknown_names
from bt_runtime.language.spec import TreeSpec
from bt_runtime.run.monitoring.automaton import Automaton
from bt_runtime.types import Json


def unknown(tree: TreeSpec, atoms: Sequence[Atom]) -> Iterator[BtError]:
    """Returns the names in atoms that the tree does not have."""
    return unknown_names(tree, atoms, lambda: {*Writes(tree.root).names, *read_in(tree)})


def read_in(tree: TreeSpec) -> Iterator[str]:
    """Yields the entries that the nodes of a tree read, under the names that they have in it."""
    for spec in tree.root.walk():
        yield from reads(spec)
        if spec.subtree is not None:
            yield from shared_with(spec, spec.subtree, read_in(spec.subtree))


Outcome = Literal["proved", "refuted", "open"]


@dataclass(frozen=True)
class Verdict:
    property: Property
    outcome: Outcome
    telling: Telling | None = None  # how it is broken
    states: int = 0
    nodes: int = 0  # nodes of the model that decided
    seconds: float = 0.0
    doubts: tuple[str, ...] = ()  # what the proof does not cover, in words
    remarks: tuple[str, ...] = ()  # notes, such as "it holds whatever the tree does"
    assumes: tuple[str, ...] = ()  # entries taken to be written by the tree alone
    trusts: tuple[str, ...] = ()  # … and what skills are taken to do with their outputs


def assumption(names: Sequence[str]) -> tuple[str, str]:
    """Returns what a proof assumes of these entries, and how an author says whether it holds. Empty when nothing."""
    if not names:
        return "", ""
    *some, last = [f"`{name}`" for name in names]
    all_ = f"{', '.join(some)} and {last}" if some else last
    choice = "`outside: true` if something else writes there as well, or with `outside: false`"
    return f", if only the tree writes {all_}", f"declare {all_} with {choice}"


class Asked(NamedTuple):
    """A decision to make: the tree, the property and the limits."""

    tree: TreeSpec
    inputs: Mapping[str, Json] = {}
    values: Mapping[str, Sequence[Json]] = {}
    limits: Limits = Limits()


Follows = Callable[[Telling], bool]


def decide(asked: Asked, property: Property, follows: Follows = lambda telling: True) -> Verdict:
    """Decides a property. `follows` tests whether the engine repeats a story; a story that it does not repeat is no
    answer."""
    began = time.monotonic()
    made = _Deciding(asked, property, follows)
    verdict = made.run()
    return replace(verdict, seconds=time.monotonic() - began, remarks=(*made.remarks, *verdict.remarks))


class _Deciding:
    def __init__(self, asked: Asked, property: Property, follows: Follows) -> None:
        self.asked, self.property, self.follows = asked, property, follows
        self.remarks = list(remarks(property))
        self.states = 0
        self.free = ""  # a story in which a node that may do anything breaks the property, and why it may

    def run(self) -> Verdict:
        last: Found | None = None
        for fault in unknown(self.asked.tree, self.property.atoms):
            raise fault
        for keep, whole in self.cones():
            model = self.model(keep)
            found = last = search(model, self.property, self.limits())
            self.states += found.states
            if found.story is None and found.whole:
                return self.proved(model, found)
            if found.story is not None:
                telling = told(model, found.story) if whole else self.made_concrete(model, found)
                free = next((e[4] for m in telling.moments for e in m.events if e[0] == "agent"), "") if telling else ""
                if telling is not None and free:
                    self.free = self.free or f"{free}: {'; '.join(words(telling))}"
                elif telling is not None and self.follows(telling):
                    return self.verdict("refuted", model, telling)
            if not found.whole and found.late:
                break
        return self.sampled(last)

    def sampled(self, last: Found | None) -> Verdict:
        """Tries some values of entries with too many values. A result is a counterexample or nothing, never a proof."""
        model = self.model(None, True)
        found = search(model, self.property, self.limits())
        self.states += found.states
        if found.story is not None:
            telling = told(model, found.story)
            if not self.free and self.follows(telling):
                return self.verdict("refuted", model, telling)
        if last is not None and last.late:
            why = f"the time was over after {self.states:,} states"
        elif last is not None and last.story is None:
            why = f"there are more than {self.states:,} states"
        elif self.free:
            why = self.free
        else:
            why = "it has found a story that the tree does not follow: some values or results are not known to it"
        return self.verdict("open", model, None, (why,))

    def cones(self) -> Iterator[tuple[Cone | None, bool]]:
        places = places_of(self.asked.tree)
        before = -1
        for deep, reading in ((False, False), (False, True), (True, False)):
            cone = Cone(places, self.property, deep, reading)
            if len(cone.kept) > before and not cone.whole:
                yield cone, False
            before = len(cone.kept)
        yield None, True

    def model(self, cone: Cone | None, sample: bool = False, gates: frozenset[str] = frozenset()) -> Explorer:
        asked = self.asked
        options = Options(asked.inputs, asked.values, sample, cone.keeps() if cone else None, gates)
        return Explorer(asked.tree, self.property, options)

    def made_concrete(self, rough: Explorer, found: Found) -> Telling | None:
        assert found.story is not None
        fine = self.model(None, False, left_out(rough))
        return concrete(rough, found.story, fine, self.property.assuming == "skills_end")

    def limits(self) -> Limits:
        limits = self.asked.limits
        before = self.states
        return limits._replace(
            states=max(1, limits.states - before), told=lambda states, left: limits.told(before + states, left)
        )

    def proved(self, model: Explorer, found: Found) -> Verdict:
        verdict, entries = self.verdict("proved", model, None), model.entries
        noted = tuple(self.vacuous(model, found))
        return replace(verdict, remarks=noted, assumes=tuple(entries.assumed), trusts=tuple(entries.trusted))

    def vacuous(self, model: Explorer, found: Found) -> Iterator[str]:
        """Notes a property that holds only because its premise never occurs."""
        key = {"leads_to": "from", "before": "then", "at_most": "of", "within": "from"}.get(self.property.word, "")
        if key in self.property.given:
            text = " ".join(str(self.property.given[key]).split())
            if not found.seen & 1 << self.property.texts.index(text):
                yield f"`{text}` never holds: nothing else was to be shown"

    def verdict(
        self, outcome: Outcome, model: Explorer, telling: Telling | None, more: tuple[str, ...] = ()
    ) -> Verdict:
        doubts = (*model.doubts, *more) if outcome != "refuted" else ()
        return Verdict(self.property, outcome, telling, self.states, len(model.nodes), 0.0, doubts)


def remarks(property: Property) -> Iterator[str]:
    """Notes a formula that no run can keep, or that every run keeps."""
    if property.word == "within":
        return
    for made, text in (
        (property.formula, "no run can keep it"),
        (formula.negated(property.formula), "every run keeps it"),
    ):
        automaton = Automaton(made, list(dict.fromkeys(formula.atoms(made))))
        if not automaton.endless and not automaton.finite:
            yield f"{text}, whatever the tree does"


__all__ = ["Asked", "BtError", "Outcome", "Verdict", "assumption", "decide"]

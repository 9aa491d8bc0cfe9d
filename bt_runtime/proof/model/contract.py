"""What a skill's manifest says that it needs and brings, where the sentences can be read as entries: as an agent reads
them. What it brings holds in the tick in which it succeeds; it brings nothing where a need was false at its start."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from bt_runtime.agents.facts import ABSENT, by_entry
from bt_runtime.language.sentence import Sentence
from bt_runtime.language.spec import NodeSpec
from bt_runtime.proof.model.scope import ModelScope
from bt_runtime.proof.model.tick import UNKNOWN, UNSET, Tick

NOT = "not "


def said(spec: NodeSpec, facts: Iterable[str]) -> Iterator[str]:
    """Yields the sentences of a node's skill whose slots the tree fills with plain values."""
    given = {f.name: spec.values.get(f.name, f.default) for f in spec.kind.fields if not f.writes}
    plain = {name: value for name, value in given.items() if value is not None and not hasattr(value, "evaluate")}
    for fact in facts:
        sentence = Sentence(fact)
        if plain.keys() >= {*sentence.slots}:
            yield sentence.say(plain)


def names(spec: NodeSpec) -> Iterator[str]:
    """Yields the names of entries that the sentences of a skill may mean."""
    entry = spec.kind.data["entry"]
    for fact in said(spec, (*entry.needs, *entry.brings)) if entry.brings else ():
        words = fact.removeprefix(NOT).split()
        yield from ("_".join(words[:count]) for count in range(1, len(words) + 1))


class Contract:
    """The contract of one node. `met`: the slot that is 1 while it runs and will bring what it says."""

    def __init__(self, spec: NodeSpec, scope: ModelScope) -> None:
        entry = spec.kind.data["entry"]
        self.scope, self.name = scope, spec.kind.name
        self.needs, self.brings = list(said(spec, entry.needs)), list(said(spec, entry.brings))
        self.met = scope.model.slot() if self.brings else 0

    def begin(self, t: Tick) -> None:
        if self.met and any(self.entry(fact) in t.model.outside for fact in self.brings):
            t.s[self.met] = int(all(self.holds(t, fact) is not False for fact in self.needs))

    def succeed(self, t: Tick) -> None:
        if not self.met or not t.s[self.met]:
            return
        for fact in self.brings:
            slot = self.entry(fact)
            if slot not in t.model.outside or slot in t.memo:
                continue  # a node writes it, or this tick has seen another value before
            fits = [number for number in t.model.outside[slot] if self.read(t, fact, slot, number)]
            if fits:
                t.memo[slot], t.s[slot] = fits[t.choose(len(fits)) if len(fits) > 1 else 0], UNKNOWN
                t.note("set", t.model.names[slot], t.model.values[t.memo[slot]])
                t.model.doubt(f"that `{self.name}` brings `{fact}` is taken from its manifest")

    def entry(self, fact: str) -> int:
        """Returns the slot of the entry that a sentence means, or 0."""
        words = fact.removeprefix(NOT).split()
        for count in range(len(words), 0, -1):
            name = "_".join(words[:count])
            if name in self.scope.own or name in self.scope.shared:
                return self.scope.slot(name)
        return 0

    def holds(self, t: Tick, fact: str) -> bool | None:
        slot = self.entry(fact)
        number = t.read(slot) if slot else UNKNOWN
        return None if number in (UNKNOWN, UNSET) else self.read(t, fact, slot, number)

    def read(self, t: Tick, fact: str, slot: int, number: int) -> bool | None:
        """Returns whether a sentence holds when its entry has this value; None when that cannot be told."""
        if number == UNKNOWN:
            return None
        name, value = t.model.names[slot], t.model.values[number]
        found = by_entry(fact.removeprefix(NOT), lambda asked: value if asked == name else ABSENT)
        return found if found is None or not fact.startswith(NOT) else not found


def contract_of(spec: NodeSpec, scope: ModelScope) -> Any:
    """Returns the contract of a node whose skill brings something, else None."""
    return Contract(spec, scope) if spec.kind.data["entry"].brings else None

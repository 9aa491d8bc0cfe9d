"""What a planner cannot do with a manifest: acts that bring nothing, facts that are left true, needs without a way.

Skills of a world are left out: a world may say more than its manifest. So is a manifest in which no skill says what it
needs or brings: nobody plans with it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from bt_runtime.language import source
from bt_runtime.language.entry import ELSEWHERE, SkillEntry
from bt_runtime.language.faults.diagnostic import Diagnostic
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.sentence import Sentence
from bt_runtime.language.source import Node, YamlMap
from bt_runtime.types import Span

NOT = "not "
_HELD = re.compile(r"(?:holding|carrying) \{(\w+)\}")
_PLACED = re.compile(r"\{(\w+)\} (?:(?:is|lies|stands|hangs|sits) )?(?:in|on|at|inside|under|behind|beside)\b .+")
_SLOT = re.compile(r"\{(\w+)\}")
_OPPOSITES = (
    "open closed", "full empty", "clean dirty", "wet dry", "locked unlocked", "hot cold", "on off", "up down",
    "lit out", "raised lowered", "docked undocked", "free taken", "warm cold",
)  # fmt: skip
_OPPOSITE = {one: other for pair in _OPPOSITES for a, b in [pair.split()] for one, other in ((a, b), (b, a))}


class Left(NamedTuple):
    """A fact that stays true beside one that excludes it."""

    brought: str
    stays: str


def acting(kinds: Iterable[Kind]) -> list[tuple[str, SkillEntry]]:
    """The skills that change something and are no world's."""
    entries = ((kind.name, kind.data["entry"]) for kind in kinds)
    return [(name, e) for name, e in entries if not e.test and e.impl not in ELSEWHERE]


def faults(kinds: Sequence[Kind], text: str, file: str, beside: Sequence[Kind] = ()) -> list[Diagnostic]:
    """Warnings of a manifest. `beside`: the skills of the project's other manifests."""
    acts = acting(kinds)
    if not any(entry.needs or entry.brings for _, entry in acts):
        return []
    top = source.parse(text, file).root
    return [
        Diagnostic(code, message, file, _span(top, name, key), help=help, severity="warning")
        for name, entry in acts
        for code, key, message, help in _of(name, entry, kinds, (*kinds, *beside), keys_of(top, name))
    ]


def _of(
    name: str, entry: SkillEntry, own: Sequence[Kind], every: Sequence[Kind], written: frozenset[str]
) -> Iterator[tuple[str, str, str, str]]:
    """Yields code, key, message and help."""
    outputs = any(f.writes for kind in own if kind.name == name for f in kind.fields)
    if not entry.brings and "brings" not in written and not outputs:
        message = f"`{name}` brings nothing that it says: no plan has it"
        yield "BT051", "", message, "name what is true afterwards; `brings: []` says that it changes nothing"
    for left in left_true(entry, every):
        deniable = {*Sentence(left.stays).slots} <= {*entry.types}
        message = f"`{name}` brings `{left.brought}`, and a planner takes `{left.stays}` to stay true"
        way = f'add "{NOT}{left.stays}" to `brings`' if deniable else _slot_for(left.stays, entry)
        yield "BT052", "brings", message, f"{way}, if it ends"
    for need in entry.needs:
        if not need.startswith(NOT) and not any(told_by(need, kind) for kind in every):
            message = f"`{name}` needs `{need}`, which no skill brings and no condition tells"
            yield "BT053", "needs", message, "a condition or an output of that name tells it; else a person has to"


def _slot_for(stays: str, entry: SkillEntry) -> str:
    lacking = ", ".join(f"`{slot}`" for slot in Sentence(stays).slots if slot not in entry.types)
    return f'give it a parameter {lacking}, the need "{stays}" and the effect "{NOT}{stays}"'


def left_true(entry: SkillEntry, every: Iterable[Kind]) -> Iterator[Left]:
    """Yields the facts that a skill leaves true beside one that it brings: a thing is held or lies somewhere, is open
    or closed, and not both."""
    others = [fact for kind in every for fact in kind.data["entry"].brings if not fact.startswith(NOT)]
    brings = [fact for fact in entry.brings if not fact.startswith(NOT)]
    for brought in brings:
        for stays in dict.fromkeys(_named_alike(fact, brought) for fact in others):
            ended = any(fits(fact.removeprefix(NOT), stays) for fact in entry.brings if fact.startswith(NOT))
            if stays not in brings and not ended and excludes(brought, stays):
                yield Left(brought, stays)


def _named_alike(fact: str, brought: str) -> str:
    """The fact with its thing called as in the other: skills may name their slots differently."""
    thing, slots = _thing(brought), Sentence(fact).slots
    own = _thing(fact)
    return fact.replace(f"{{{own}}}", f"{{{thing}}}") if own and thing and thing not in slots else fact


def _thing(fact: str) -> str:
    found = _HELD.fullmatch(fact) or _PLACED.fullmatch(fact)
    return found[1] if found is not None else _SLOT.findall(_state(fact)[0])[-1] if _state(fact)[1] else ""


def _state(fact: str) -> tuple[str, str]:
    """Returns what has a state and the state, of `{door} is open`; two empty texts for another fact."""
    thing, _, state = fact.rpartition(" is ")
    return (thing, state) if _SLOT.search(thing) and state.isidentifier() else ("", "")


def excludes(one: str, other: str) -> bool:
    """True for two facts of the same thing that never hold together, by their words."""
    if _thing(one) != _thing(other) or one == other:
        return False
    places = [(_HELD.fullmatch(each) is not None, _PLACED.fullmatch(each) is not None) for each in (one, other)]
    if {places[0], places[1]} == {(True, False), (False, True)}:
        return True
    (thing, state), (same, opposite) = _state(one), _state(other)
    return bool(thing) and thing == same and _OPPOSITE.get(state) == opposite


def told_by(need: str, kind: Kind) -> bool:
    """True for a skill that brings the fact, a condition that says it, and an output that is named like it."""
    entry: SkillEntry = kind.data["entry"]
    said = [entry.sentence] if entry.test else [fact for fact in entry.brings if not fact.startswith(NOT)]
    words = need.replace(" ", "_")
    return any(fits(need, each) for each in said) or any(f.writes and words.startswith(f.name) for f in kind.fields)


def fits(fact: str, other: str) -> bool:
    """True when two forms have a fact in common."""
    return any(Sentence(a).parse(_sample(b)) is not None for a, b in ((fact, other), (other, fact)))


def _sample(fact: str) -> str:
    sentence = Sentence(fact)
    return sentence.say(dict.fromkeys(sentence.slots, "x"))


def _skill(top: Node | None, name: str) -> YamlMap | None:
    kinds = top.get("kinds") if isinstance(top, YamlMap) else None
    found = kinds.get(name) if isinstance(kinds, YamlMap) else None
    return found if isinstance(found, YamlMap) else None


def keys_of(top: Node | None, name: str) -> frozenset[str]:
    """Returns what a skill's author has written, also `brings: []`."""
    found = _skill(top, name)
    return frozenset(found.keys() if found is not None else ())


def _span(top: Node | None, name: str, key: str) -> Span | None:
    found = _skill(top, name)
    if found is None:
        return None
    named = next((k for k, _ in found if k.text == key), None)
    kinds = top.get("kinds") if isinstance(top, YamlMap) else None
    own = next((k for k, _ in kinds if k.text == name), None) if isinstance(kinds, YamlMap) else None
    place = named or own
    return place.span if place is not None else found.span

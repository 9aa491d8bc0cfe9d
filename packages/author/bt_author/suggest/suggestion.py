"""What a manifest could say besides: `needs`, `brings` and what fills a slot, each with its reason. Nothing is written
here, and nothing counts before a person has confirmed it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from bt_author.suggest.said import PUT, Effect, effects, needed, sayable
from bt_author.suggest.seen import SeenActions, bound_of, ended_by, needs_of
from bt_runtime.agents.backchain.step import NOT
from bt_runtime.language import source
from bt_runtime.language.checks.plannable import keys_of, left_true
from bt_runtime.language.entry import ELSEWHERE, WORLD_SKILL, SkillEntry
from bt_runtime.language.kinds.kind import Field, Kind
from bt_runtime.language.manifest import Manifest
from bt_runtime.language.sentence import Sentence
from bt_runtime.types import Json

Choose = Callable[[Kind, Sequence[str]], int | None]  # which of these facts an action brings; None: none of them


class Suggested(NamedTuple):
    file: Path
    skill: str
    key: str  # needs, brings, from or choices
    value: Json  # one fact, or the value of the parameter's key
    why: str
    param: str = ""

    def __str__(self) -> str:
        place = f"{self.skill}.{self.param}" if self.param else self.skill
        return f"{place}: {self.key}: {self.value!r}".replace("'", '"')


class Manifests:
    """The skills of some manifests with what is suggested for them so far."""

    def __init__(self, read: Mapping[Path, Manifest], seen: SeenActions, choose: Choose | None = None) -> None:
        self.of = [(path, kind) for path, each in read.items() for kind in each.kinds if _acts(kind)]
        self.every = [kind for each in read.values() for kind in each.kinds]
        tops = [(source.parse(each.text, str(path)).root, each) for path, each in read.items()]
        self.silent = {k.name for top, each in tops for k in each.kinds if "brings" in keys_of(top, k.name)}
        self.seen, self.choose = seen, choose
        self.made: dict[tuple[str, str, str, str], Suggested] = {}

    def suggestions(self) -> list[Suggested]:
        """All of them; a later sort builds on the earlier: what is needed is what something brings."""
        for step in (self.by_words, self.by_descriptions, self.by_runs, self.by_opposites, self.slots):
            for made in step():
                self.made.setdefault((made.skill, made.key, made.param, str(made.value)), made)
        order = {kind.name: at for at, (_, kind) in enumerate(self.of)}
        keys = ("needs", "brings", "choices", "from")
        return sorted(self.made.values(), key=lambda each: (order[each.skill], keys.index(each.key)))

    # What is known so far --------------------------------------------------------------------

    def facts(self, kind: Kind, key: str) -> tuple[str, ...]:
        own: SkillEntry = kind.data["entry"]
        more = [str(s.value) for s in self.made.values() if s.skill == kind.name and s.key == key]
        return tuple(dict.fromkeys([*(own.needs if key == "needs" else own.brings), *more]))

    def brought(self) -> list[str]:
        """Every fact that a skill brings."""
        found = (fact for kind in self.every for fact in self.facts(kind, "brings") if not fact.startswith(NOT))
        return [*dict.fromkeys(found)]

    # The sorts -------------------------------------------------------------------------------

    def by_words(self) -> Iterator[Suggested]:
        """What the sentence says that an action brings; of several readings the one that a model takes."""
        likeliest = [e.brings for _, kind in self.of for e in [*effects(_sentence(kind))][:1]]
        held = any(fact.startswith("holding {") for facts in (self.brought(), *likeliest) for fact in facts)
        for path, kind in self.of:
            if kind.name in self.silent or any(field.writes for field in kind.fields):
                continue
            ways = [
                e for e in effects(_sentence(kind)) if all(sayable(f, _params(kind)) for f in (*e.brings, *e.needs))
            ]
            effect, why = self.chosen(kind, ways)
            if effect is not None:
                yield from (Suggested(path, kind.name, "brings", fact, why) for fact in effect.brings)
                yield from (Suggested(path, kind.name, "needs", fact, why) for fact in effect.needs)
                thing = Sentence(effect.brings[0]).slots[:1]
                if held and effect.why.startswith(PUT) and thing:
                    own = f"holding {{{thing[0]}}}"
                    yield Suggested(path, kind.name, "needs", own, "what is put somewhere is held before")

    def chosen(self, kind: Kind, ways: Sequence[Effect]) -> tuple[Effect | None, str]:
        if not ways:
            return None, ""
        if self.choose is None or len(ways) == 1:
            return ways[0], f"`{_sentence(kind)}`: {ways[0].why}"
        at = self.choose(kind, [way.brings[0] for way in ways])
        return (None, "") if at is None else (ways[at], f"the model takes it for what `{_sentence(kind)}` brings")

    def by_descriptions(self) -> Iterator[Suggested]:
        """What the description asks for, of all that something brings."""
        for path, kind in self.of:
            for fact in self.brought() if kind.about != _sentence(kind) else ():
                told = needed(kind.about, fact) if sayable(fact, _params(kind)) else ""
                if told and fact not in (*self.facts(kind, "needs"), *self.facts(kind, "brings")):
                    yield Suggested(path, kind.name, "needs", fact, f"its description: {told}")

    def by_runs(self) -> Iterator[Suggested]:
        """What always failed without a fact, or after another action."""
        if not self.seen.runs:
            return
        acts = self.seen.acts({kind.name: self.facts(kind, "brings") for kind in self.every})
        files = {kind.name: (path, kind) for path, kind in self.of}
        for path, kind in self.of:
            wanted = [fact for fact in self.brought() if fact not in self.facts(kind, "brings")]
            for fact, why in needs_of(kind.name, acts, wanted):
                if fact not in self.facts(kind, "needs"):
                    yield Suggested(path, kind.name, "needs", fact, why)
        for _, kind in self.of:
            for fact in self.facts(kind, "needs"):
                for other, why in ended_by(acts, kind.name, fact):
                    there, denied = files.get(other), f"{NOT}{fact}"
                    if there is None or {fact, denied} & {*self.facts(there[1], "brings")}:
                        continue
                    if sayable(fact, _params(there[1])):
                        yield Suggested(there[0], other, "brings", denied, why)

    def by_opposites(self) -> Iterator[Suggested]:
        """What ends by the words of what begins: what is put down is held no longer."""
        known = [_with(kind, self.facts(kind, "brings")) for kind in self.every]
        for path, kind in self.of:
            for left in left_true(_with(kind, self.facts(kind, "brings")).data["entry"], known):
                if sayable(left.stays, _params(kind)):
                    why = f"`{left.brought}` and `{left.stays}` never hold together"
                    yield Suggested(path, kind.name, "brings", f"{NOT}{left.stays}", why)

    def slots(self) -> Iterator[Suggested]:
        """What fills a free text: an output of its name, else what recorded runs had."""
        for path, kind in self.of:
            options = kind.data["entry"].agent_options
            for field in kind.fields:
                if field.writes or field.choices or field.type not in ("string", "any"):
                    continue
                if field.name in options.sources or field.name in options.forms or kind.data["entry"].impl == "world":
                    continue
                source = self.output_for(kind, field)
                if source:
                    yield Suggested(path, kind.name, "from", source, f"`{source}` gives such values", field.name)
                elif bound := bound_of(self.seen_in(kind, field)):
                    yield Suggested(path, kind.name, *bound, field.name)

    def output_for(self, kind: Kind, field: Field) -> str:
        names = (field.name, f"{field.name}s", f"{field.name}es", f"{field.name.removesuffix('y')}ies")
        found = (f"{k.name}.{f.name}" for k in self.every if k is not kind for f in k.fields if f.writes)
        return next((each for each in found if each.partition(".")[2] in names), "")

    def seen_in(self, kind: Kind, field: Field) -> list[str]:
        done = self.seen.acts({})
        return [str(d.params[field.name]) for d in done if d.skill == kind.name and d.good and field.name in d.params]


def _acts(kind: Kind) -> bool:
    entry: SkillEntry = kind.data["entry"]
    return not entry.test and (entry.impl == "world" or entry.impl not in (*ELSEWHERE, WORLD_SKILL))


def _sentence(kind: Kind) -> str:
    return str(kind.data["entry"].sentence)


def _params(kind: Kind) -> frozenset[str]:
    return frozenset(field.name for field in kind.fields if not field.writes)


def _with(kind: Kind, brings: tuple[str, ...]) -> Kind:
    return kind._replace(data={**kind.data, "entry": kind.data["entry"]._replace(brings=brings)})

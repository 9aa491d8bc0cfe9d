"""Panels: the made-up skills of a trade, each of which simply does something, and what was done with them.

Switches and single acts, acts on one of a kind, checks, gauges and messages; some need another act first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, ClassVar, Literal, NamedTuple

from bt_runtime.types import Observation, Task, Verdict
from recipes.starter import data
from recipes.starter.own_skills.skills import Words, make_skill, named


class Act(NamedTuple):
    """One act, and how it is asked for."""

    said: str  # the sentence of the skill
    do: str  # in the words of the goal
    it: str  # with a pronoun
    x: str  # what is acted on
    part: str  # the participle
    lacks: str = ""  # what is answered where it is wanting


@dataclass
class Panel:
    """The skills of a place, what is wanted, and what was done."""

    goal: str = ""
    lines: list[str] = field(default_factory=list)  # the teacher's answers, one after the other
    wanted: list[list[str]] = field(default_factory=list)  # acts; those of one stage in any order
    reads: list[str] = field(default_factory=list)  # what has to be read besides
    skills: list[Any] = field(default_factory=list)
    needs: dict[str, Act] = field(default_factory=dict)  # sentence → the act that it needs first
    answers: dict[str, str] = field(default_factory=dict)  # sentence → why nothing comes of it
    harmless: set[str] = field(default_factory=set)  # sentences that only look
    shape: str = ""
    outcome: bool | None = None  # of a condition
    held: str = ""
    done: list[str] = field(default_factory=list)

    judges: ClassVar[bool] = True  # it is no world: the skills are the agent's own

    def reset(self, task: Task) -> Observation:
        self.done.clear()
        return Observation("")

    def verdict(self) -> Verdict:
        acts = [said for said in self.done if said not in self.harmless]
        stages = []
        for stage in self.wanted:
            stages.append(sorted(acts[: len(stage)]) == sorted(stage))
            acts = acts[len(stage) :]
        return Verdict(int(all(stages) and not acts and all(said in self.done for said in self.reads)), 1)

    def refuses(self, said: str) -> str:
        """Why nothing comes of an act now; nothing where it works."""
        need = self.needs.get(said)
        return self.answers[said] if need and need.said not in self.done else ""


class Trade:
    """The words of one trade, drawn for one panel; makes its skills."""

    def __init__(self, rng: Random, held: bool) -> None:
        self.words: Words = data.read("own_skills/panel_words")
        apart = self.words["held"]
        name = rng.choice([each for each in self.words["trades"] if (each in apart) == held])
        self.own: Mapping[str, Any] = self.words["trades"][name]
        self.rng = rng
        self.panel = Panel()
        self.bare = rng.random() < 0.25  # skills are listed without articles
        self.sentences: set[str] = set()
        self.kind, self.many = self.own["kind"]
        self.slot = self.kind.replace(" ", "_")
        self.source = self.many.replace(" ", "_")
        self.things = self._things()
        self.treats: list[list[str]] = self.own["treat"]
        self.told: Callable[[str], str] = str
        self.acts = self._acts()

    # Words ---------------------------------------------------------------------------------------------

    def _things(self) -> list[str]:
        """What there is of the kind: by its own names, by odd ones, or by numbers."""
        rng, count = self.rng, self.rng.randint(2, 5)
        form = rng.random()
        if form < 0.55:
            return [f"{name} {self.kind}" for name in rng.sample(self.own["names"], count)]
        if form < 0.8:
            odd = {self.word().capitalize() for _ in range(count)}
            return [f"{name} {self.kind}" if form < 0.7 else name for name in sorted(odd)]
        joint, marks = rng.choice((" ", " ", "-")), rng.sample("ABCDEFGH" if rng.random() < 0.4 else "123456789", count)
        return [f"{self.kind.replace(' ', '-')}{joint}{mark}" for mark in marks]

    def word(self) -> str:
        return "".join(self.rng.choices(self.words["syllables"], k=self.rng.randint(2, 3)))

    def person(self) -> str:
        if self.rng.random() < 0.4:
            return str(self.rng.choice(self.words["people"]))
        return f"{self.rng.choice(self.words['titles'])} {self.word().capitalize()}".strip()

    def _acts(self) -> list[tuple[str, str]]:
        """Verb and thing: all that the trade's switches and single acts can do."""
        found = [
            (verb, thing)
            for group, verbs in self.words["groups"].items()
            for thing in self.own.get(group, ())
            for verb in verbs
        ]
        found += [(verb, thing) for verb, things in self.own["v"].items() for thing in things]
        odd = {thing: named(thing, self.rng, 0.12, self.words) for _, thing in found}
        return [(verb, odd[thing]) for verb, thing in found]

    def act(self, verb: str, thing: str) -> Act:
        say, _, _, part, others, *lacks = self.words["verbs"][verb]
        x = the(thing)
        said = say.format(x=thing if self.bare else x)
        way, part = (say, part) if self.rng.random() < 0.45 else self.rng.choice(others).split("|")
        lack = lacks[0].format(x=x, X=start(x)) if lacks else ""
        return Act(said, way.format(x=x), way.format(x="it"), x, part, lack)

    def treat(self, which: Sequence[str], thing: str) -> Act:
        x = the(thing)
        said = which[0].format(x=thing if self.bare else x)
        return Act(said, which[0].format(x=x), which[0].format(x="it"), x, which[1])

    def opposite(self, verb: str) -> str:
        return next((b if verb == a else a for a, b in self.words["pairs"] if verb in (a, b)), "")

    # Skills --------------------------------------------------------------------------------------------

    def add(self, verb: str, thing: str) -> None:
        say, about, says, *_ = self.words["verbs"][verb]
        x = thing if self.bare else the(thing)
        told = says.format(x=the(thing), X=start(the(thing))) if self.rng.random() < 0.6 else ""
        self._made(say.format(x=x), about, told)

    def add_treat(self, which: Sequence[str], listed: bool) -> None:
        told = start(f"{{{self.slot}}} is {which[1]}.") if self.rng.random() < 0.6 else ""
        self._made(self._slotted(which[0]), f"So that it is {which[3]}.", told, listed=listed, slot=True)

    def add_check(self, states: Mapping[str, str], listed: bool) -> Callable[[str], str]:
        """How one is checked; gives the sentence of each."""
        say = self.rng.choice(self.words["check"])
        about = self.rng.choice(self.words["checked"])
        name, form = self.rng.choice(("state", "seen", "condition")), self.rng.choice(("", "", "It is {%s}."))
        told = form % name if form else ""
        self._made(self._slotted(say), about, told, {name: states}, listed=listed, slot=True, harmless=True)
        return lambda thing: str(say.format(x=thing if self.bare else the(thing)))

    def _slotted(self, say: str) -> str:
        """With a slot, which takes an article where all its things do."""
        article = "" if self.bare or the(self.things[0]) == self.things[0] else "the "
        return say.format(x=f"{article}{{{self.slot}}}")

    def add_list(self) -> str:
        said = self.rng.choice(self.words["list"]).format(n=self.many)
        about = self.rng.choice(self.words["listed"]).format(n=self.many)
        self._made(said, about, "", {self.source: self.things}, of=list, harmless=True)
        return str(said)

    def add_gauge(self, gauge: Sequence[Any], value: float) -> str:
        name, unit, _, _ = gauge
        slot = name.replace(" ", "_")
        said = self.rng.choice(self.words["read"]).format(g=name)
        told = self.rng.choice(self.words["readouts"]).format(v=f"{{{slot}}}")
        about = self.rng.choice(self.words["reading"]).format(u=unit)
        self._made(said, about, told, {slot: f"{value:g} {unit}"}, harmless=True)
        return str(said)

    def add_message(self, people: Sequence[str]) -> Callable[[str, str], str]:
        say, about = self.rng.choice(self.words["message"]), self.rng.choice(self.words["messages"])
        fixed = people[0] if len(people) == 1 else ""
        types: dict[str, Any] = {} if fixed else {"person": Literal[tuple(people)]}
        said = say.replace("{person}", fixed) if fixed else say
        self._made(said, about, "", types=types | {"text": str})
        return lambda who, text: str(say.format(person=who, text=text))

    def _made(
        self,
        sentence: str,
        about: str,
        told: str,
        gives: Mapping[str, Any] | None = None,
        *,
        of: type = str,
        listed: bool = False,
        slot: bool = False,
        harmless: bool = False,
        types: Mapping[str, Any] | None = None,
    ) -> None:
        if sentence in self.sentences:
            return
        self.sentences.add(sentence)
        panel, last = self.panel, dict[str, Any]()

        def does(given: Mapping[str, Any]) -> str:
            last.update(given)
            said = sentence.format(**given)
            if harmless:
                panel.harmless.add(said)
            return panel.refuses(said)

        def tells() -> dict[str, Any]:
            thing = last.get(self.slot, "")
            return {
                name: value[thing] if isinstance(value, Mapping) else value for name, value in (gives or {}).items()
            }

        used = {self.slot: str if listed else Literal[tuple(self.things)]} if slot else types or {}
        sources = {self.slot: self.source} if listed else {}
        made = make_skill(
            panel, sentence, about, told, used, sources, does, tells if gives else None, [*(gives or {})], of
        )
        panel.skills.append(made)


def the(thing: str) -> str:
    """With an article, where it is no name and has no number."""
    bare = (len(thing.split()) == 1 and thing[:1].isupper()) or thing[-1].isdigit() or thing[-1].isupper()
    return thing if bare else f"the {thing}"


def start(text: str) -> str:
    return text[:1].upper() + text[1:]

"""Generalises one agent's acts by its goal: values of the goal become slots, and tries of other values become a
search."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from bt_runtime.agents.compile.form import base
from bt_runtime.agents.compile.goal import Goal
from bt_runtime.agents.compile.lexicon import Lexicon
from bt_runtime.agents.compile.trace import Act, Life, PlanPart
from bt_runtime.language.sentence import Sentence

FREE = "<free>"
NUMBER = "<number>"
IT = "it"  # the entry with the slots of the goal
ENTRIES = frozenset(("goal", "form", "told", "tried", "found", "given_up", IT))  # entries of every compiled tree
_KNOWN_NUMBER = re.compile(r"\{the_\w+\.number(?:_\d+)?\}")


Held = tuple[frozenset[str], frozenset[str]]  # facts: brought, and told by outputs


class StepMoment(NamedTuple):
    """What an agent knew before a step."""

    offered: tuple[str, ...]
    heard: str
    brought: frozenset[str] = frozenset()  # the facts that skills had brought …
    told: frozenset[str] = frozenset()  # … and that their latest outputs told


class SearchRound(NamedTuple):
    """One round of a search: the value tried, the action that tried it, and what else was done."""

    skill: str
    slot: str
    value: str
    moment: StepMoment  # moment at which the value was chosen
    inner: tuple[tuple[str, str], ...] = ()  # (skill, slot) of what else was done there
    could: frozenset[tuple[str, str]] = frozenset()  # … and of what could have been done there


@dataclass(slots=True)
class Step:
    """An action or a subgoal, with its values as templates over the goal's slots."""

    key: tuple[str, ...]
    what: str  # act, call or each
    skill: str = ""  # an act's skill; a call's control node
    values: Mapping[str, str] = field(default_factory=dict)
    goals: tuple[str, ...] = ()  # a call's goals, as templates
    tries: tuple[str, ...] = ()  # values that `each` went through
    hit: str = ""  # … and the one that was enough
    moment: StepMoment = field(default_factory=lambda: StepMoment((), ""))
    search: tuple[SearchRound, ...] = ()
    said: str = ""  # an act's sentence as a form
    times: int = 1  # … done with one number after another
    leave: tuple[str, ...] = ()  # values that a call's searches leave out, as templates

    @property
    def began(self) -> StepMoment:
        """The moment before the search for this step, or before the step itself."""
        return self.search[0].moment if self.search else self.moment


@dataclass(slots=True)
class AgentStory:
    """An agent's life as steps; `missing`: a search at its end without success."""

    life: Life
    goal: Goal
    steps: list[Step]
    missing: tuple[SearchRound, ...] = ()
    end: StepMoment = field(default_factory=lambda: StepMoment((), ""))  # after the last step
    unread: int = 0  # acts and parts that are not understood
    run: str = ""
    task: str = ""

    @property
    def free(self) -> tuple[str, ...]:
        """The values that it tried and that its goal does not name, in order."""
        searched = (each.search for each in self.steps)
        return tuple(dict.fromkeys(one.value for tries in (*searched, self.missing) for one in tries))


def story(
    life: Life, goal: Goal, lexicon: Lexicon, run: str = "", task: str = "", always: frozenset[str] = frozenset(),
    held: Sequence[Held] = (),
) -> AgentStory:  # fmt: skip
    """Tells a life as steps. `always`: values that are the same whatever the goal. `held`: the facts that held after
    so many of the run's actions."""
    return _Teller(life, goal, lexicon, always, held).told(run, task)


class _Teller:
    def __init__(self, life: Life, goal: Goal, lexicon: Lexicon, always: frozenset[str], held: Sequence[Held]) -> None:
        self.life, self.goal, self.lexicon, self.held = life, goal, lexicon, held
        self.known: dict[str, str] = {value: f"{{{IT}.{slot}}}" for slot, value in goal.slots.items()}
        self.always = always
        self.steps: list[Step] = []
        self.tries: list[SearchRound] = []
        self.unread = 0
        self.arrived = False  # the act before tried a value

    def told(self, run: str, task: str) -> AgentStory:
        for act in self.life.acts:
            if isinstance(act, PlanPart):
                self.part(act)
            elif act.succeeded:
                self.act(act)
        end = self.moment(self.life)
        return AgentStory(self.life, self.goal, self.steps, tuple(self.tries), end, self.unread, run, task)

    def moment(self, at: Act | PlanPart | Life) -> StepMoment:
        return StepMoment(at.offered, at.heard, *(self.held[at.after] if at.after < len(self.held) else ()))

    def act(self, act: Act) -> None:
        if self.arrived:
            self.tries[-1] = self.tries[-1]._replace(could=self.possible(self.tries[-1].value, act.offered))
            self.arrived = False
        deed = self.lexicon.read(act.sentence)
        if deed is None:
            self.unread += 1
            return
        values = {slot: self.template(value) for slot, value in deed.values.items()}
        free = [slot for slot, value in values.items() if value == FREE]
        if len(free) > 1:
            self.unread += 1
            return
        if free and len(values) > 1 and (self.here(deed.values[free[0]]) or self.begins_here()):
            values[free[0]] = f"<{free[0]}>"  # where it stands after the search: what is offered there tells it
        elif free and len(values) > 1 and any(value.startswith("{") for value in values.values()):
            self.unread += 1  # done to what the goal names: no try of a search
            return
        elif free:
            self.tried(deed.skill, free[0], deed.values[free[0]], act)
            return
        if not free and any(self.here(value) for value in deed.values.values()):
            self.tried(deed.skill, next(s for s, v in deed.values.items() if v == self.tries[-1].value), "", act)
            return
        key = ("act", deed.skill, *(f"{slot}={any_number(values[slot])}" for slot in sorted(values)))
        said = Sentence(self.lexicon.template(deed.skill)).say(spelled(values))
        self.add(Step(key, "act", deed.skill, values, moment=self.moment(act), said=said))
        for slot, value in filled(values).items():
            if NUMBER in values[slot]:
                self.known.setdefault(deed.values[slot], value)

    def here(self, value: str) -> bool:
        """True for the value that was tried last."""
        return bool(self.tries) and self.tries[-1].value == value

    def begins_here(self) -> bool:
        """True at the first act of a part that was cut from a life: an earlier part may have ended at its place."""
        return self.life.cut and not self.steps and not self.tries

    def tried(self, skill: str, slot: str, value: str, act: Act) -> None:
        last = self.tries[-1] if self.tries else None
        if last is not None and (value in ("", last.value)) and skill != last.skill:
            self.tries[-1] = last._replace(inner=(*last.inner, (skill, slot)))
        else:
            self.tries.append(SearchRound(skill, slot, value, self.moment(act)))
            self.arrived = True

    def possible(self, value: str, offered: tuple[str, ...]) -> frozenset[tuple[str, str]]:
        """Returns the actions that were offered for this value alone."""
        deeds = (self.lexicon.read(each) for each in offered if value in each)
        alone = [deed for deed in deeds if deed is not None and [*deed.values.values()] == [value]]
        return frozenset((deed.skill, next(iter(deed.values))) for deed in alone)

    def part(self, part: PlanPart) -> None:
        if not part.control:
            self.unread += 1
            return
        goals = tuple(self.replaced(goal) for goal in part.goals)
        moment = self.moment(part)
        free = [self.loose(goal) for goal in goals]
        same = {form for form, _ in free}
        if part.control and len(goals) > 1 and len(same) == 1 and all(value for _, value in free):
            form = next(iter(same))
            hit = next((v for (_, v), life in zip(free, part.lives, strict=False) if life.succeeded), "")
            tried = tuple(value for _, value in free)
            said = self.offer_of(tried, part.offered)
            self.add(
                Step(("each", part.control, form), "each", part.control, {}, (form,), tried, hit, moment, said=said)
            )
            return
        leave = tuple(self.replaced(value) for value in part.leave)
        self.add(Step(("call", part.control, *goals), "call", part.control, {}, goals, moment=moment, leave=leave))

    def loose(self, goal: str) -> tuple[str, str]:
        """Replaces the one value of a subgoal that is not in the goal above by `<free>`; returns the text and the
        value."""
        told = self.outside(goal)
        return (goal.replace(told, FREE), told) if told and goal.count(told) == 1 else (goal, "")

    def offer_of(self, values: tuple[str, ...], offered: tuple[str, ...]) -> str:
        """Returns the form of the actions that offered these values, with one slot for them."""
        for sentence in offered:
            deed = self.lexicon.read(sentence)
            for slot, value in deed.values.items() if deed is not None else ():
                if value in values and len(deed.values) == 1:  # type: ignore[union-attr]
                    return asked(self.lexicon, deed.skill, slot)  # type: ignore[union-attr]
        return ""

    def outside(self, goal: str) -> str:
        held = [value for value in self.values if re.search(rf"\b{re.escape(value)}(?!\w)", goal)]
        return max(held, key=len, default="")

    @property
    def values(self) -> Mapping[str, None]:
        found = (self.lexicon.read(each) for act in self.life.acts[:1] for each in act.offered)
        return {value: None for deed in found if deed is not None for value in deed.values.values()}

    def replaced(self, text: str) -> str:
        for value in sorted(self.known, key=len, reverse=True):
            text = re.sub(rf"(?<!\w){re.escape(value)}(e?s)?(?!\w)", _constant(self.known[value]), text)
        return text

    def template(self, value: str) -> str:
        if value in self.known:
            return self.known[value]
        if value in self.always:
            return value
        kind = base(value)
        if kind != value and kind in self.known:
            return f"{self.known[kind]} {NUMBER}"
        return FREE

    def add(self, step: Step) -> None:
        last = self.steps[-1] if self.steps else None
        if last is not None and last.key == step.key and NUMBER in step.said and not self.tries:
            last.times += 1
            return
        step.search, self.tries = tuple(self.tries), []
        self.steps.append(step)


def asked(lexicon: Lexicon, skill: str, slot: str) -> str:
    """Returns the form of a skill's sentences with this slot open: `go to <place>`."""
    return Sentence(lexicon.template(skill)).say({slot: f"<{slot}>"})


def number_of(template: str) -> str:
    """Returns the entry that holds the number of `{it.thing} <number>`: `the_thing`."""
    found = re.search(r"\{\w+\.(\w+)\}", template)
    return f"the_{found[1]}" if found is not None else "the_one"


def any_number(template: str) -> str:
    """Returns a template with every number open: which one it was is no difference between two acts."""
    return _KNOWN_NUMBER.sub(NUMBER, template)


def numbers_of(values: Mapping[str, str]) -> frozenset[str]:
    """Returns the numbers of earlier acts that these values name: `{the_thing.number}`."""
    return frozenset(found for value in values.values() for found in _KNOWN_NUMBER.findall(value))


def opened(text: str) -> str:
    """Opens all numbers of a text: the first is `<number>`, the second `<number_2>`."""
    names = map(_numbered, itertools.count())
    return re.sub(r"<number(?:_\d+)?>", lambda _: f"<{next(names)}>", any_number(text))


def is_open(slot: str, value: str) -> bool:
    """True for a value that what is offered at the moment completes."""
    return NUMBER in value or value == f"<{slot}>"


def spelled(values: Mapping[str, str]) -> dict[str, str]:
    """Returns the values with their open numbers told apart: `<number>`, `<number_2>`."""
    numbered = [slot for slot, value in values.items() if NUMBER in value]
    names = {slot: f"<{_numbered(at)}>" for at, slot in enumerate(numbered)}
    return {slot: value.replace(NUMBER, names.get(slot, "")) for slot, value in values.items()}


def filled(values: Mapping[str, str]) -> dict[str, str]:
    """Returns the values with what `offered` has found in place of what was open."""
    entry = entry_of(values)
    made = {slot: f"{{{entry}.{slot}}}" if value == f"<{slot}>" else value for slot, value in values.items()}
    numbered = [slot for slot, value in values.items() if NUMBER in value]
    return made | {s: made[s].replace(NUMBER, f"{{{entry}.{_numbered(at)}}}") for at, s in enumerate(numbered)}


def entry_of(values: Mapping[str, str]) -> str:
    """Returns the entry of what `offered` finds for an act with these values; "" when none of them is open."""
    return next((number_of(value) for slot, value in values.items() if is_open(slot, value)), "")


def _numbered(at: int) -> str:
    return "number" if at == 0 else f"number_{at + 1}"


def _constant(text: str) -> Callable[[re.Match[str]], str]:
    """Replaces by this text; the ending of a plural stays."""
    return lambda found: text + ("s" if found[1] else "")

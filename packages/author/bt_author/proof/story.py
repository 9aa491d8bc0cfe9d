"""Makes a story concrete: the events of each tick, and the ticks' times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from bt_author.proof import parts
from bt_author.proof.choices import BAD, BREAKS, OK, RUN, WORDS, Choices, State
from bt_author.proof.explorer import Explorer, Mark, Step
from bt_author.proof.search import Story
from bt_runtime.language.kinds.data import UNKNOWN

Event = tuple[Any, ...]
MOST_TRIES = 20_000  # ticks that are tried to make one story concrete
ROUNDS = 4  # how often a cycle is gone through until the same state comes again


class Moment(NamedTuple):
    """One tick of a story."""

    events: tuple[Event, ...]
    status: str
    shown: Mapping[str, str]  # path → what the node shows
    reads: Mapping[str, Any] = {}  # the entries that the property reads
    armed: tuple[tuple[int, int], ...] = ()  # times before which the next tick comes: a tick, and milliseconds after it
    urgent: bool = False


class Telling(NamedTuple):
    """A story tick by tick. `repeats`: the tick from which it repeats; None: the property is broken at its end."""

    moments: tuple[Moment, ...]
    repeats: int | None = None


def told(model: Explorer, story: Story, start: State | None = None) -> Telling:
    """Returns a story of this model with the events of each tick."""
    state, moments = start or model.first(), []
    births = dict.fromkeys(range(len(state.zone)), 0)  # clock → tick in which it was started
    for number, choices in enumerate(story.ticks):
        births[0] = number
        step, t = model.replay(state, choices, births)
        state = step.state
        births = {new: births[old] for old, new in model.renamed.items()} if state.slots else {}
        armed = tuple((births[clock], offset) for clock, offset in state.armed)
        moments.append(_moment(model, step, t, armed))
    return Telling(tuple(moments), story.repeats)


def _moment(model: Explorer, step: Step, t: Choices, armed: tuple[tuple[int, int], ...]) -> Moment:
    shown = {path: model.word(number) for path, number in model.nodes.items()
             if number in model.shown or model.word(number) == WORDS[RUN]}  # fmt: skip
    root = model.board.root
    names = sorted({name for reader in model.atoms for name in reader.atom.entries})
    reads = {name: root[name] for name in names if name in root and root[name] is not UNKNOWN}
    return Moment(tuple(t.events or ()), WORDS[step.status], shown, reads, armed, step.state.urgent)


def left_out(model: Explorer) -> frozenset[str]:
    """Returns the paths of the parts of which a model knows only the results."""
    return frozenset(path for path, number in model.nodes.items() if model.all[number].spec.kind is parts.PART)


def concrete(rough: Explorer, story: Story, fine: Explorer, skills_end: bool = False) -> Telling | None:
    """Finds the same story in the complete model, with the omitted parts' results as given; None when the tree has no
    such story."""
    states, wanted = [rough.first()], list[Wanted]()
    for choices in story.ticks:
        step, t = rough.replay(states[-1], choices, ANY_BIRTH)
        results = {e[1]: e[2] for e in t.events or () if e[0] == "any"}
        wanted.append(Wanted(step, results, {e[2]: (e[3], e[4]) for e in t.events or () if e[0] == "poll"}))
        states.append(step.state)
    if story.repeats is not None and story.repeats < len(wanted):
        wanted += wanted[story.repeats :] * (ROUNDS - 1)
    steered = _Steered(fine, wanted)
    found = steered.run()
    if found is None:
        return None
    chosen, states = found
    if story.repeats is None or story.repeats >= len(story.ticks):
        return told(fine, Story(tuple(chosen), None if story.repeats is None else len(chosen)))
    length = len(story.ticks) - story.repeats
    ends = [story.repeats + length * n for n in range(ROUNDS + 1)]
    for at, first in enumerate(ends):
        for last in ends[at + 1 :]:
            if states[first] == states[last] and steered.fair(first, last, skills_end):
                return told(fine, Story(tuple(chosen[:last]), first))
    return None


ANY_BIRTH: Mapping[int, int] = dict.fromkeys(range(64), 0)


class Wanted(NamedTuple):
    """A tick of a rough story: the results of parts that are left out, and of skills with their outputs."""

    step: Step
    parts: Mapping[str, int]
    polls: Mapping[str, tuple[int, Mapping[str, Any]]]


class _Steered:
    """Searches, tick by tick, for choices with the results that a rough story requires."""

    def __init__(self, model: Explorer, wanted: Sequence[Wanted]) -> None:
        self.model, self.wanted, self.left = model, wanted, MOST_TRIES
        self.marks: list[frozenset[Mark]] = []  # marks of the chosen ticks
        self.skills = {each.path: each for each in model.acting()}

    def run(self) -> tuple[list[tuple[int, ...]], list[State]] | None:
        states, chosen = [self.model.first()], list[tuple[int, ...]]()
        ways = [self.ways(states[0], 0)]
        while ways:
            if len(chosen) == len(self.wanted):
                return chosen, states
            step = next(ways[-1], None)
            if step is None:
                ways.pop()
                if chosen:
                    chosen.pop()
                    states.pop()
                    self.marks.pop()
                continue
            chosen.append(step.choices)
            self.marks.append(step.marks)
            states.append(step.state)
            ways.append(self.ways(step.state, len(chosen)) if len(chosen) < len(self.wanted) else iter(()))
        return None

    def fair(self, first: int, last: int, skills_end: bool) -> bool:
        """True when these ticks may repeat for ever: nothing goes on in all of them that must end."""
        always = frozenset.intersection(*self.marks[first:last])
        return not any(skills_end or mark[0] == "time" for mark in always)

    def number(self, path: str, status: int, given: Mapping[str, Any]) -> int | None:
        """The number of a skill's result in this model."""
        skill = self.skills.get(path)
        for at, (result, values) in enumerate(skill.results if skill is not None else ()):
            said = {name: value for name, value in values.items() if value is not UNKNOWN}
            if result == status and said == dict(given):
                return at
        return None

    def ways(self, state: State, at: int) -> Iterator[Step]:
        rough, results, polls = self.wanted[at]
        polled = {path: n for path, poll in polls.items() if (n := self.number(path, *poll)) is not None}
        seen: set[State] = set()

        def steered(state: State, prefix: Sequence[int]) -> Choices:
            t = Choices(state, prefix)
            t.wanted, t.polled = results, polled
            return t

        for step, t in self.model.steps_by(state, steered):
            self.left -= 1
            if self.left < 0:
                return
            alike = not t.mismatch and (step.status, step.bits) == (rough.status, rough.bits)
            if alike and step.state not in seen:
                seen.add(step.state)
                yield step._replace(choices=tuple(t.turned.get(i, c) for i, c in enumerate(step.choices)))


def times(telling: Telling) -> list[int] | None:
    """Returns the time of each tick in milliseconds from the first, as early as possible; None when there are no such
    times."""
    lower: list[tuple[int, int, int]] = []  # tick i comes at least so long after tick j
    for at, moment in enumerate(telling.moments):
        if at:
            before = telling.moments[at - 1]
            lower.append((at, at - 1, 0))
            if before.urgent:
                lower.append((at - 1, at, 0))
            lower += [(tick, at, -offset) for tick, offset in before.armed]
        lower += [event[1:] for event in moment.events if event[0] == "apart"]
    found = [0] * len(telling.moments)
    for _ in range(len(found) * 2 + 2):
        changed = False
        for i, j, least in lower:
            if found[i] < found[j] + least:
                found[i] = found[j] + least
                changed = True
        if not changed:
            return found
    return None


def words(telling: Telling) -> Iterator[str]:
    """Describes the story, one line for each tick."""
    when = times(telling) or [0] * len(telling.moments)
    before = Moment((), "", {})
    for at, moment in enumerate(telling.moments):
        said = [text for event in moment.events if (text := _said(event))]
        said += [f"{path} runs" for path in _leaves(moment) if path not in _leaves(before)]
        said += [f"{name} = {value!r}" for name, value in moment.reads.items()
                 if (name, value) not in before.reads.items() and f"{name} is {value!r}" not in said]  # fmt: skip
        before = moment
        ended = f" - the tree: {moment.status}" if moment.status != "running" else ""
        again = "from here on for ever: " if telling.repeats == at else ""
        yield f"{again}tick {at + 1} at {when[at] / 1000:g} s: {', '.join(said) or 'nothing new'}{ended}"
    if telling.repeats == len(telling.moments):
        yield "and so it stays"


def _leaves(moment: Moment) -> list[str]:
    """Returns the running nodes without a running child."""
    running = [path for path, word in moment.shown.items() if word == "running"]
    return [path for path in running if not any(other.startswith(f"{path}/") for other in running)]


def _said(event: Event) -> str:
    match event:
        case ("set" | "input" | "write", name, value):
            return f"{name} is written" if value is UNKNOWN else f"{name} is {value!r}"
        case ("poll", name, path, status, given):
            gives = f" with {', '.join(f'{k} = {v!r}' for k, v in given.items())}" if given else ""
            what = {RUN: "goes on", OK: f"succeeds{gives}", BAD: "fails", BREAKS: "breaks"}[status]
            return f"{name} ({path}) {what}"
        case ("cancel", name, path):
            return f"{name} ({path}) is cancelled"
        case ("agent", path, status, doing, _):
            return f"{path} {'does ' + ', '.join(doing) if doing else WORDS[status]}"
        case ("any", path, status):
            return f"{path}: {WORDS[status]}"
    return ""


__all__ = ["Moment", "Telling", "concrete", "left_out", "times", "told", "words"]

"""ALFWorld: a home in text. The real engine plays it in a separate process, never inside a tick."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from bt_envs.alfworld.game import HINT, STATES, TREATED, Fact, Game, judge, kind_of, parts, read
from bt_envs.alfworld.pool import shared
from bt_envs.alfworld.refusal import FEEDBACKS, told
from bt_envs.alfworld.words import NOTHING, VIEWS, View, command, offered, shown, spoken
from bt_envs.alfworld.worker_pool import WorkerPool
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.skills.worlds.text_world import TextWorld, one_of
from bt_runtime.skills.worlds.ways import Aim, Way
from bt_runtime.types import TASK, Observation, Task, Verdict

# How each fact of a game comes about, as its oracle knows it: every thing, wherever it is.

AT_ONCE = ((1, ("near {place}",)), (1, ("holding {thing}", "hand free")))
_TREATMENTS = {state: t for state, head in STATES.items() for t in TREATED.values() if t.fact == head}
_LAMPS = ("desklamp", "floorlamp")


def aims(game: Game) -> list[Aim]:
    """What can be wanted of a game: where a thing is, what was done to it, and which lamp it is looked at under."""
    places = [place for place, location in game.places.items() if location]
    things = [thing for thing in game.things if kind_of(thing) not in _LAMPS]
    lamps = [thing for thing in game.things if kind_of(thing) in _LAMPS]
    found = [Aim("{thing} is in {place}", "put {thing} in {place}", {"thing": things, "place": places})]
    for state, treatment in _TREATMENTS.items():
        if any(kind_of(place) == treatment.tool for place in places):
            asked = f"put a {state} {{thing}} in {{place}}"
            found.append(Aim(f"{{thing}} is {state}", f"{treatment.verb} {{thing}}", {"thing": things}))
            found.append(Aim(f"{{thing}} is {state} in {{place}}", asked, {"thing": things, "place": places}))
    asked = "look at {thing} under the {lamp}"
    return [*found, *([Aim("{thing} is lit by {lamp}", asked, {"thing": things, "lamp": lamps})] if lamps else [])]


def ways(game: Game, facts: frozenset[Fact], fact: str, put: str) -> Iterator[Way]:
    """`put`: how a thing is put down, in the words of the world's view."""
    verb, _, name = fact.partition(" ")
    if verb == "near" and game.places.get(name):
        yield Way(f"go to {name}", (), (fact,))
    elif verb == "holding":
        for place in _where(game, facts, name):
            needs = ("hand free", *_reach(game, place))
            yield Way(f"take {name} from {place}", needs, (fact, "not hand free", f"not {name} is in {place}"))
    elif fact == "hand free":
        for thing in (each[1] for each in facts if each[0] == "holds"):
            place = next(p for p, location in game.places.items() if location and p not in game.openable)
            brings = (fact, f"not holding {thing}", f"{thing} is in {place}")
            yield Way(put.format(thing=thing, place=place), (f"holding {thing}", f"near {place}"), brings)
    else:
        yield from _states(game, facts, fact, put)


def _states(game: Game, facts: frozenset[Fact], fact: str, put: str) -> Iterator[Way]:
    name, _, wanted = fact.partition(" is ")
    state, _, place = f" {wanted}".partition(" in ")  # `sinkbasin 1` has an `in ` of its own
    if wanted in ("open", "closed") and name in game.openable:
        denied = "closed" if wanted == "open" else "open"
        yield Way(f"{'open' if wanted == 'open' else 'close'} {name}", (f"near {name}",),
                  (fact, f"not {name} is {denied}"))  # fmt: skip
    elif name not in game.things:
        return
    elif wanted in _TREATMENTS:
        treatment = _TREATMENTS[wanted]
        for tool in (p for p, location in game.places.items() if location and kind_of(p) == treatment.tool):
            yield Way(f"{treatment.verb} {name} with {tool}", (f"holding {name}", f"near {tool}"), (fact,))
    elif game.places.get(place) and (not state or state.strip() in _TREATMENTS):
        first = [f"{name} is {state.strip()}"] if state else []
        needs = (*first, f"holding {name}", *_reach(game, place))
        brings = (fact, f"{name} is in {place}", "hand free", f"not holding {name}")
        yield Way(put.format(thing=name, place=place), needs, brings)
    elif wanted.startswith("lit by "):
        lamp = wanted.removeprefix("lit by ")
        for place in _where(game, facts, lamp):
            yield Way(f"use {lamp}", (f"holding {name}", f"near {place}"), (fact, f"{lamp} is on"))


def _where(game: Game, facts: frozenset[Fact], thing: str) -> list[str]:
    """The furniture that a thing is in, as far as one can go to it."""
    return sorted(each[2] for each in facts if each[:2] == ("inreceptacle", thing) and game.places.get(each[2]))


def _reach(game: Game, place: str) -> Sequence[str]:
    return (f"near {place}", *([f"{place} is open"] if place in game.openable else []))


_ALWAYS = ("help", "inventory", "look")


class Now(NamedTuple):
    """The engine's last reply: text, success, offered commands and facts."""

    text: str
    won: bool
    commands: tuple[str, ...]
    facts: frozenset[Fact]

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Now:
        facts = frozenset(tuple(str(word) for word in fact) for fact in told["facts"])
        return cls(str(told["text"]), bool(told["won"]), tuple(map(str, told["commands"])), facts)


class AlfWorld(TextWorld):
    called, name = "ALFWorld", "alfworld"
    rules = (
        "- Furniture and things are called by kind and number: fridge 1, apple 2.",
        "- You see what is on furniture when you go to it, and what is in it once it is open.",
        "- You hold one thing at most, and act on what you stand before.",
        "- Food is heated with a microwave and cooled with a fridge, things are cleaned with a sinkbasin, all while"
        " held.",
    )

    def __init__(self, pool: WorkerPool, view: str = "papers", feedback: str = "terse") -> None:
        """Creates a world. `view`: papers (the papers' wording), react (without the arrivals) or engine (the
        engine's wording).
        `feedback`: terse ("Nothing happens.") or detailed (AutoPlan's reasons)."""
        one_of(view, VIEWS, "view of ALFWorld", "views")
        if feedback not in FEEDBACKS:
            raise BtError(f"feedback is {' or '.join(FEEDBACKS)}, not {feedback!r}", "detailed says what is wrong")
        self._pool, self._feedback = pool, feedback
        self._view: View = view  # type: ignore[assignment]
        self._owner = object()
        self.without = ("move",) if view != "engine" else ("put",)
        self._now = Now("", False, (), frozenset())
        self._done: list[str] = []
        self._lost: BtError | None = None

    def begin(self, task: Task) -> Observation:
        """Begins a task. `task.data`: problem (PDDL), goal. The first text comes from the problem, while the engine
        loads."""
        self._take(task)
        if self._game.at(self._game.start):  # it begins before a piece of furniture: only the engine knows the words
            self._now = self._played(None)
        else:
            self._pool.begin(self._owner, self._asked(None))
        return self._observed()

    def _take(self, task: Task) -> None:
        problem, goal = str(task.data["problem"]), spoken(str(task.data["goal"]))
        self._game, self._problem, self._goal = read(problem), problem, goal
        self._task, self._done, self._lost = task, [], None
        self._room, self._now = _beginning(self._game, goal)

    def _asked(self, act: str | None) -> dict[str, Any]:
        return {"problem": self._problem, "goal": self._goal, "done": self._done, "act": act}

    def _played(self, act: str | None) -> Now:
        if self._lost is not None:
            raise self._lost
        try:
            answer = self._pool.play(self._owner, self._asked(act))
        except BtError as lost:
            self._lost = lost
            raise
        if "fault" in answer:
            raise BtError(f"the engine cannot play this game: {answer['fault']}", HINT)
        return Now.of(answer)

    def _observed(self) -> Observation:
        return Observation(shown(self._now.text, self._view, self._game.places))

    def act(self, sentence: str) -> Observation:
        """Raises BtError when the engine's process is lost: the episode is broken then, not failed."""
        said = command(sentence)
        if self._task is None:
            return Observation("There is no task yet: reset comes first.", False, "no task")
        if said.startswith("think"):
            return Observation("OK.")
        if self._now.won:
            return Observation(NOTHING, False, "the task is done")
        if said not in self._now.commands:
            why = "that is none of the commands that can be given here and now"
            terse = self._feedback == "terse"
            return Observation(NOTHING if terse else told(said, self._game, self._now.facts), False, why)
        self._now = self._played(said)
        self._done = [*self._done, said]
        return self._observed()

    def look(self) -> Observation:
        """Describes the room; after the first act also what is held and the last reply. The goal is left out."""
        if self._task is None or not self._done:
            return Observation(self._room if self._task is not None else "There is no task yet.")
        held = [fact[1] for fact in self._now.facts if fact[0] == "holds"]
        carried = f"You are carrying: a {held[0]}." if held else "You are not carrying anything."
        return Observation("\n".join((self._room, carried, self._observed().text)))

    def skills(self) -> Sequence[str]:
        """The engine's admissible commands, in the words of the view."""
        return [] if self._now.won else [offered(said, self._view) for said in self._now.commands]

    def verdict(self) -> Verdict:
        """Returns the parts of the goal that are met; all of them when the engine reports success."""
        if self._task is None:
            return Verdict(0, 1)
        met, total = parts(self._game, self._now.facts)
        return Verdict(total if self._now.won else min(met, total - 1), total)

    def holds(self, fact: str) -> bool | None:
        return judge(fact, self._game, self._now.facts) if self._task is not None else None

    def ways(self, fact: str) -> Sequence[Way]:
        """Returns the actions that bring a fact. Like the oracle, it knows where everything is."""
        put = "move {thing} to {place}" if self._view == "engine" else "put {thing} in/on {place}"
        return [*ways(self._game, self._now.facts, fact, put)] if self._task is not None else []

    def aims(self) -> Sequence[Aim]:
        return aims(self._game) if self._task is not None else []

    def at_once(self) -> Sequence[tuple[int, Sequence[str]]]:
        return AT_ONCE

    def page(self) -> str:
        return self.look().text

    def digest(self) -> str:
        state = repr((self._task and self._problem, sorted(self._now.facts)))
        return blake2b(state.encode(), digest_size=8).hexdigest()

    def kept(self) -> dict[str, Any]:
        return {"done": self._done, "now": {**self._now._asdict(), "facts": sorted(self._now.facts)}}

    def recover(self, task: Task | None, kept: Mapping[str, Any]) -> None:
        """Restores the state at once; the engine replays the commands at the next act."""
        done, now = [str(said) for said in kept["done"]], Now.of(kept["now"])
        if task is not None:
            self._take(task)
        self._task, self._done, self._now, self._lost = task, done, now, None

    def close(self) -> None:
        """Ends the world. Its worker process stays for the next one."""
        self._pool.leave(self._owner)

    def __getstate__(self) -> dict[str, Any]:
        how = {"workers": self._pool.bound, "view": self._view, "feedback": self._feedback}
        return {**how, "snapshot": self.snapshot()}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        AlfWorld.__init__(self, shared(state["workers"]), state["view"], state["feedback"])
        self.restore(state["snapshot"])


def _beginning(game: Game, goal: str) -> tuple[str, Now]:
    """Returns the first text: the room in a sentence, equal to what the engine will say."""
    seen = [f"a {place}" for place, location in game.places.items() if location]
    listed = ", and ".join(filter(None, (", ".join(seen[:-1]), *seen[-1:]))) or "nothing"
    room = f"You are in the middle of a room. Looking quickly around you, you see {listed}."
    text = f"-= Welcome to TextWorld, ALFRED! =-\n\n{room}\n\n{TASK} {goal}."
    ways = (f"go to {place}" for place, location in game.places.items() if location)
    return room, Now(text, False, tuple(sorted((*ways, *_ALWAYS))), game.start)

"""The house as a world: sentences in, observations out. After opening it neither reads nor writes files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Literal

from bt_envs.house.acts import VERBS, Doer, RefusedAct, split
from bt_envs.house.catalogue import Catalogue
from bt_envs.house.goals import Condition, conditions
from bt_envs.house.goals import verdict as judge
from bt_envs.house.layout import House
from bt_envs.house.picture import picture
from bt_envs.house.rulebook import Rulebook
from bt_envs.house.rules import Rules, as_data, describe
from bt_envs.house.sight import glance
from bt_envs.house.speech import say
from bt_envs.house.start import house_of, state_of
from bt_envs.house.state import HANDS, State
from bt_envs.house.treatment import TREATMENTS, offered
from bt_envs.house.ways import AT_ONCE, aims, ways
from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.skills.worlds.manual import manual
from bt_runtime.skills.worlds.ways import Aim, Way
from bt_runtime.types import Json, Observation, Task, Verdict

Feedback = Literal["full", "detailed", "terse"]
TERSE = "Nothing happens."
_MADE = ("hot", "cold", "clean")


RULES = (
    "- Rooms, furniture and things are called by kind and number: kitchen 1, fridge 1, apple 2.",
    "- You are near what you went to last. Go to a room first, then to its furniture, then act on what is there.",
    "- What is closed shows what is in it once it is open. Opening takes a free hand.",
    f"- You hold at most {HANDS} things. What you put down goes on or in the furniture that you went to last.",
    "- A machine has to be closed before it is turned on, and off before it is opened.",
)


class HouseWorld:
    instant = True  # an act takes microseconds: a job of its own would cost more

    def __init__(
        self, catalogue: Catalogue, homes: Mapping[str, House], rulebook: Rulebook, feedback: Feedback = "full",
        sitting: bool = False, rules: Rules | None = None,
    ) -> None:  # fmt: skip
        self.catalogue = catalogue
        self.rulebook = rulebook
        self.homes = dict(homes)
        self._feedback = feedback
        self._verbs = {verb: do for verb, do in VERBS.items() if sitting or verb != "sit on"}
        self._built: dict[str, House] = {}  # houses that came with a task
        self._own_rules = rules  # rules for tasks that bring none
        self.rules: Rules | None = None
        self._task: Task | None = None
        self._goal: tuple[Condition, ...] = ()
        self._house: House | None = None
        self._state: State | None = None
        self.last = Observation("")  # the latest reply, for whoever decides by what was read

    def reset(self, task: Task) -> Observation:
        if self._own_rules and "rules" not in task.data:
            task = task._replace(data={**task.data, "rules": as_data(self._own_rules)})
        self._begin(task, *self._set_up(task))
        return self.last

    def _set_up(self, task: Task) -> tuple[House, State, Rules | None]:
        """Builds house, state and rules from the task's data, without changing the world yet."""
        try:
            house = self._find_house(task.data)
            conditions(task.data.get("goal", ()))
            rules = self.rulebook.find(task.data["rules"]) if "rules" in task.data else None
            return house, state_of(task.data, house), rules
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            raise BtError(
                f"the task `{task.id}` is none of a house: {problem!r}", "see `btr lab tasks house --json`"
            ) from problem

    def _begin(self, task: Task, house: House, state: State, rules: Rules | None) -> None:
        self._task, self._house, self._state, self.rules = task, house, state, rules
        self._goal = conditions(task.data.get("goal", ()))
        self.last = self.look()

    def _find_house(self, data: Mapping[str, Any]) -> House:
        named = data.get("house", "")
        if isinstance(named, str):
            if named not in self.homes:
                hint = did_you_mean(named, self.homes, f"houses here: {', '.join(self.homes)}")
                raise BtError(f"no house is called `{named}`", hint)
            return self.homes[named]
        key = json.dumps(named, sort_keys=True)
        if key not in self._built:
            self._built[key] = house_of(named, self.catalogue)
        return self._built[key]

    @property
    def house(self) -> House:
        if self._house is None:
            raise BtError("the world has no task yet", "call reset(task) first")
        return self._house

    @property
    def state(self) -> State:
        if self._state is None:
            raise BtError("the world has no task yet", "call reset(task) first")
        return self._state

    @property
    def asked(self) -> str:
        """The goal in words."""
        return self._task.goal if self._task else ""

    @property
    def goal(self) -> tuple[Condition, ...]:
        return self._goal

    def look(self, who: int = 0) -> Observation:
        """Describes the rooms, the current room and the hands, for an agent that starts now."""
        return Observation(say(glance(self.house, self.state, self.state.bodies[who], "start")))

    def _doer(self, who: int) -> Doer:
        return Doer(self.house, self.catalogue, self.state, who, self.rules)

    def act(self, sentence: str) -> Observation:
        return self.act_as(0, sentence)

    def act_as(self, who: int, sentence: str) -> Observation:
        """Lets body `who` act; a task has one body for each room in its `start`."""
        self.last = self._acted(who, sentence)
        return self.last

    def _acted(self, who: int, sentence: str) -> Observation:
        found = split(sentence)
        verbs = {**self._verbs, **TREATMENTS} if self.rules else self._verbs
        verb = verbs.get(found[0]) if found else None
        if found is None or verb is None:
            return self._refused(f"You can only {', '.join(verbs)}.")
        try:
            reply = verb(self._doer(who), found[1])
        except RefusedAct as refusal:
            reply = refusal.reply
        if reply.ok:
            return Observation(say(reply.said))
        if self._feedback == "detailed":
            return self._refused(reply.detailed or reply.said.text)
        return self._refused(say(reply.said), reply.said.text)

    def _refused(self, text: str, why: str = "") -> Observation:
        return Observation(TERSE if self._feedback == "terse" else text, False, why or text)

    def things(self) -> Sequence[str]:
        """The kinds of things that can be carried, for which working memory can be asked."""
        return sorted(self.catalogue.things)

    def told(self) -> Sequence[str]:
        """The special rules of this house, one sentence each."""
        return describe(self.rules) if self.rules else ()

    def skills(self) -> Sequence[str]:
        """Lists the sentences on offer. With house rules, some of them fail, so that the rules must be found out."""
        return tuple(dict.fromkeys(self._skills()))

    def _skills(self) -> Iterator[str]:
        house, state, body = self.house, self.state, self.state.bodies[0]
        free = len(body.hands) < HANDS
        near = state.in_reach(house, body)
        for room in house.rooms:
            yield f"go to {room.name}"
        for place in house.glance[body.room]:
            yield f"go to {house.fixtures[place].name}"
        if free:
            for thing in state.in_sight(house, body):
                if thing not in body.hands:
                    yield f"pick up {state.name(thing)}"
        if body.target is not None and body.target in near and self._can_take(body.target):
            for thing in body.hands:
                yield f"put down {state.name(thing)}"
        for place in near:
            yield from self._doors_and_switches(place, free)
        if self.rules:
            yield from offered(self._doer(0), self.rulebook.appliances)

    def _can_take(self, place: int) -> bool:
        furniture = self.house.fixtures[place].furniture
        return furniture.holds_on or (furniture.holds_in and (not furniture.opens or place in self.state.open))

    def _doors_and_switches(self, place: int, free: bool) -> Iterator[str]:
        fixture, state = self.house.fixtures[place], self.state
        furniture, is_open, runs = fixture.furniture, place in state.open, place in state.running
        guarded = furniture.guarded and not self.rules  # what opens only when off in this house is to be found out
        if furniture.opens:
            if is_open:
                yield f"close {fixture.name}"
            elif free and not (guarded and runs):
                yield f"open {fixture.name}"
        if furniture.switch:
            if runs:
                yield f"turn off {fixture.name}"
            elif not (guarded and is_open):
                yield f"turn on {fixture.name}"

    def verdict(self) -> Verdict:
        return judge(self._goal, self.house, self.state)

    def holds(self, fact: str) -> bool | None:
        """Tests a fact; None when the fact is unknown. `X` is a name with its number.

        Facts: `hand free`, `near X`, `at X` (gone to last, what is put down goes there), `in X` (a room), `holding X`,
        `not holding X`, `X on Y`, `X in Y`. States: `X is open`, `closed`, `turned on`, `turned off`, `hot`, `cold`,
        `clean`."""
        body = self.state.bodies[0]
        if fact == "hand free":
            return len(body.hands) < HANDS
        verb, _, name = fact.partition(" ")
        if verb == "near":
            return self._near(name)
        if verb == "at" and name in self.house.index:
            return body.target == self.house.index[name] and self._near(name)
        if verb == "in" and name in self.house.room_of:
            return self.house.room_of[name] == body.room
        if verb == "holding":
            return self.state.index.get(name) in body.hands
        if fact.startswith("not holding "):
            return self.state.index.get(fact.removeprefix("not holding ")) not in body.hands
        return self._condition(fact)

    def ways(self, fact: str) -> Sequence[Way]:
        """Returns the actions that bring a fact. Like the oracle, it knows where everything is."""
        return ways(self.house, self.state, fact)

    def aims(self) -> Sequence[Aim]:
        return aims(self.house, self.state)

    def at_once(self) -> Sequence[tuple[int, Sequence[str]]]:
        return AT_ONCE

    def _near(self, name: str) -> bool:
        body = self.state.bodies[0]
        if name in self.house.room_of:
            return self.house.room_of[name] == body.room
        if name in self.house.index:
            return self.house.index[name] in self.state.in_reach(self.house, body)
        thing = self.state.index.get(name)
        return thing is not None and thing in self.state.in_sight(self.house, body)

    def _condition(self, fact: str) -> bool | None:
        name, sign, state = fact.partition(" is ")
        if sign and name in self.state.index and state in ("open", "closed"):
            return (self.state.index[name] in self.state.open_things) == (state == "open")
        if sign and name in self.state.index and state in _MADE:
            return state in self.state.made.get(self.state.index[name], ())
        if sign:
            place = self.house.index.get(name)
            return None if place is None else self._is(place, state)
        for how in ("on", "in"):
            thing, sign, holder = fact.partition(f" {how} ")
            if sign and thing in self.state.index:
                i, place = self.state.index[thing], self.house.index.get(holder)
                return place is not None and self.state.place[i] == place and self.state.how[i] == how
        return None

    def _is(self, place: int, state: str) -> bool | None:
        if state in ("open", "closed"):
            return (place in self.state.open) == (state == "open")
        if state in ("turned on", "turned off"):
            return (place in self.state.running) == (state == "turned on")
        return None

    def picture(self) -> Json:
        return picture(self.house, self.state)

    def digest(self) -> str:
        return blake2b(self.snapshot(), digest_size=8).hexdigest()

    def snapshot(self) -> bytes:
        task = self._task._asdict() if self._task else None
        return json.dumps({"task": task, "state": self._state.dump() if self._state else None}).encode()

    def restore(self, snapshot: bytes) -> None:
        try:
            found = json.loads(snapshot)
            if found["task"] is None:
                self._task, self._house, self._state, self._goal, self.rules = None, None, None, (), None
                return
            task = Task(**found["task"])
            house, state, rules = self._set_up(task)
            state.load(found["state"])
        except (KeyError, TypeError, ValueError, IndexError) as problem:
            raise BtError(
                f"this is no snapshot of a house: {problem!r}", "give what `snapshot()` returned"
            ) from problem
        self._begin(task, house, state, rules)

    def manual(self) -> Mapping[str, Json]:
        return manual("house", RULES, "household", () if self.rules is not None else TREATMENTS)

    def close(self) -> None:
        """No-op: the world holds no external resource."""

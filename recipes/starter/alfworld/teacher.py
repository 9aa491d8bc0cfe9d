"""The teacher of ALFWorld: what a small model can follow by one look at a time.

A thought names, for each kind of furniture where such a thing is kept, the first of that kind in the opening. From
there the places of the kind are looked at in the order of the opening, and then those of the next kind. What comes
after a thing was taken, cleaned, heated or cooled is said in a thought that names place and thing, and done word for
word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from bt_envs.alfworld.game import kind_of
from bt_envs.alfworld.invent import book
from bt_envs.alfworld.refusal import USED
from bt_runtime.agents.story import EXPAND, StoryStep
from bt_runtime.language.project import packaged
from recipes.starter.alfworld.goal import Wanted, wanted
from recipes.starter.alfworld.rooms import furnished
from recipes.starter.policy import Policy, Thinks, played
from recipes.starter.reflection import REFLECTS, reflected
from recipes.starter.seen import Seen, role
from recipes.starter.steps import ORDER, written

STEPS = 12  # of a plan at most
CUT = 14  # of more places of one kind than this, those with higher numbers are a step of their own
_ROOM = re.compile(r"you see (a [\w ,]+)\.")
_NAMED = re.compile(r"[a-z]+ \d+")
_SEEN = re.compile(r"(?:On the ([a-z]+ \d+), |The ([a-z]+ \d+) is open\. In it, )you see ([^.]*)\.")
_SHUT = re.compile(r"The ([a-z]+ \d+) is closed\.")
_DONE = re.compile(r"You (?:pick up|put|clean|heat|cool) the [a-z]+ \d+ (?:from|in/on|using) the ([a-z]+ \d+)\.")
_DID = re.compile(
    r"You (pick up|put|clean|heat|cool|turn on|close) the ([a-z]+ \d+)(?: (?:from|in/on|using) the ([a-z]+ \d+))?\."
)
_HELD = re.compile(r"You are carrying: a ([a-z]+ \d+)\.|You pick up the ([a-z]+ \d+) from")
_FIND = re.compile(
    r"find and (take|use) an? ([a-z]+)(?: that is not at ([a-z]+ \d+))?(?: from ([a-z]+ \d+) to ([a-z]+ \d+))?"
)
_TREAT = re.compile(r"(clean|heat|cool) the ([a-z]+) with ([a-z]+ \d+)")
_PUT = re.compile(r"put the ([a-z]+) in/on ([a-z]+ \d+)")
_MAY = re.compile(r"may be at (.+)\.")


def teacher(seen: Seen, sentences: Sequence[str]) -> str:
    """The next line of an agent, or the whole answer of a planner."""
    if REFLECTS in seen.system:
        return reflected(seen)
    agent = Agent(seen, sentences)
    return agent.planned() if ORDER in seen.system else agent.answer()


@lru_cache(maxsize=1)
def _kept() -> dict[str, frozenset[str]]:
    """kind of furniture → kinds of things that are kept there."""
    small, large = book(packaged("envs") / "alfworld" / "homes.yaml").holds, furnished().holds
    return {kind: small.get(kind, frozenset()) | large.get(kind, frozenset()) for kind in {*small, *large}}


class Agent(Thinks):
    """One agent, as its prompt tells of it."""

    def __init__(self, seen: Seen, sentences: Sequence[str]) -> None:
        self.seen, self.sentences = seen, sentences
        self.expands = "think, act, expand" in seen.system
        self.hands_on = role(seen.system) == "executor"  # then somebody plans it
        room = _ROOM.search(seen.opening)
        self.places: list[str] = _NAMED.findall(room[1]) if room else []
        self.step = StoryStep("think", "")
        self.here, self.held = "", ""
        self.sight: dict[str, list[str]] = {}  # what was seen at a place that is open
        self.treated: set[tuple[str, str]] = set()
        self.lit: set[str] = set()
        for line in seen.opening.split("\n")[1:]:
            self._read(line)

    # what happened ------------------------------------------------------------------------------------------

    def _note(self, step: StoryStep) -> None:
        self.step = step
        if step.move == "act":
            self._read(step.observation)

    def _read(self, text: str) -> None:
        if found := _SEEN.search(text):
            self.here = found[1] or found[2]
            self.sight[self.here] = _NAMED.findall(found[3])
        elif found := _SHUT.search(text):
            self.here = found[1]
            self.sight.pop(self.here, None)
        elif found := _DONE.search(text):
            self.here = found[1]
        verb, name, place = _did(text)
        if held := _HELD.search(text):
            self.held = held[1] or held[2]
        if verb == "pick up" and name in self.sight.get(place, ()):
            self.sight[place].remove(name)
        elif verb == "put":
            self.held = ""
            self.sight.setdefault(place, []).append(name)
        elif verb in USED:
            self.treated.add((verb, name))
        elif verb == "turn on":
            self.lit.add(name)
        elif verb == "close":
            self.sight.pop(name, None)

    def answer(self) -> str:
        line, ended = played(self._policy(), self.seen.steps, self._note)
        return line if ended or (self.places and self._can_act()) else "Act: done"

    def _can_act(self) -> bool:
        return any(sentence not in ("done", "failure") for sentence in self.sentences) or not self.sentences

    def _policy(self) -> Policy:
        goal = self.seen.goal
        if found := _FIND.fullmatch(goal):
            verb, thing, off, first, last = found.groups()
            return self._find(verb, thing, off or "", self._between(first, last) if first else None, bool(first))
        if found := _TREAT.fullmatch(goal):
            return self._treat(found[1], found[2], found[3])
        if found := _PUT.fullmatch(goal):
            return self._put(found[1], found[2])
        whole = wanted(goal)
        if whole is None:
            return self._left()
        return self._expanded(whole) if self.expands else self._tried(whole) if self.hands_on else self._flat(whole)

    # steps --------------------------------------------------------------------------------------------------

    def planned(self) -> str:
        if found := _FIND.fullmatch(self.seen.goal):
            verb, thing, off, first, last = found.groups()
            places = self._between(first, last) if first else self._kept_at(thing, off)
            steps = [f"find and {verb} {_a(thing)} from {a} to {b}" for a, b in _ranges(places)]
            return written(f"{thing} may be at {_heads(places)}.", steps or [f"look for {_a(thing)}"], "OR")
        for shape in (_TREAT, _PUT):
            if found := shape.fullmatch(self.seen.goal):
                steps = [f"find and take {_a(found[2] if shape is _TREAT else found[1])}", self.seen.goal]
                return written(f"{', '.join(steps)}.", steps)
        whole = wanted(self.seen.goal)
        steps = self._steps(whole) if whole else [f"look after {self.seen.goal}"]
        return written(f"{', '.join(steps)}.", steps)

    def _steps(self, whole: Wanted) -> list[str]:
        how, thing, place = whole
        first = f"find and take {_a(thing)}"
        if how == "look":
            return [first, f"find and use {_a(place)}"]
        target = self._first(place)
        put = f"put the {thing} in/on {target}"
        if how == "two":
            return [first, put, f"{first} that is not at {target}", put]
        treat = [f"{how} the {thing} with {self._first(USED[how].tool)}"] if how else []
        return [first, *treat, put]

    def _first(self, kind: str) -> str:
        return next((place for place in self.places if kind_of(place) == kind), f"{kind} 1")

    def _kept_at(self, thing: str, off: str = "") -> list[str]:
        """Where such a thing may be, in the order of the opening; of what nobody knows, everywhere."""
        fit = [p for p in self.places if p != off and thing in _kept().get(kind_of(p), ())]
        return fit or [p for p in self.places if p != off]

    def _between(self, first: str, last: str) -> list[str]:
        """The places of the opening from the first to the last."""
        known = first in self.places and last in self.places
        return self.places[self.places.index(first) : self.places.index(last) + 1] if known else []

    def _behind(self, heads: Sequence[str]) -> list[str]:
        """The places that a thought means: of each kind the one that is named, and those after it."""
        kinds = ((head, kind_of(head)) for head in heads if head in self.places)
        return [p for head, kind in kinds for p in self.places[self.places.index(head) :] if kind_of(p) == kind]

    # what an agent does -------------------------------------------------------------------------------------

    def _left(self) -> Policy:
        """A whole task is for the planner."""
        yield from ()
        return False

    def _expanded(self, whole: Wanted) -> Policy:
        plan = "\n".join(["sequence:", *(f"- {part}" for part in self._steps(whole))])
        while not (self.step.move == "expand" and self.step.observation):
            yield f"{EXPAND}\n{plan}"
        return True

    def _tried(self, whole: Wanted) -> Policy:
        """An executor does what takes one search by itself, as far as its steps go. Of two things it takes the first,
        and hands on the rest: the plan begins with what is held."""
        if whole.how != "two":
            return (yield from self._flat(whole))
        if (yield from self._find("take", whole.thing, "", None, lead="The first of two: ")):
            yield from self._think(f"I have {self.held}, the first of two.")
        return False

    def _flat(self, whole: Wanted) -> Policy:
        how, thing, place = whole
        if not (yield from self._find("take", thing, "", None)):
            return False
        if how == "look":
            return (
                yield from self._find("use", place, "", None, lead=f"Now I look for {_a(place)} with {self.held}. ")
            )
        target, found = self._first(place), self.here
        if how in USED and not (yield from self._treat(how, thing, self._first(USED[how].tool), True)):
            return False
        if not (yield from self._put(thing, target, True)) or how != "two":
            return how != "two"
        rest = self._kept_at(thing, target)
        rest = rest[rest.index(found) :] if found in rest else rest
        return (yield from self._find("take", thing, target, rest)) and (yield from self._put(thing, target, True))

    def _find(
        self, verb: str, thing: str, off: str, at: list[str] | None, told: bool = False, lead: str = ""
    ) -> Policy:
        """The places of the list, one after the other; what a thought left out comes in another one. `told`: the goal
        says which places, and no thought does. `lead`: what the first thought says before its list. A thought names the
        place where the first of two was put before those where the second may be."""
        left = at if at is not None else self._kept_at(thing, off)
        while not self._has(verb, thing):
            if self._in_sight(thing, off) and (verb == "use" or not self.held):
                yield self._got(verb, thing, off)
                continue
            left = [place for place in left if not self._looked(place) or self._at(place, thing, off)]
            if not left:
                return False
            if not told:
                yield from self._think(f"{lead}{f'Not {off}: ' if off else ''}{thing} may be at {_heads(left)}.")
                lead = ""
            said = None if told else _MAY.search(self.step.text)
            for place in [p for p in self._behind(_NAMED.findall(said[1])) if p != off] if said else left:
                yield from self._look_at(place, verb, thing, off)
                if self._has(verb, thing):
                    return True
        return True

    def _has(self, verb: str, thing: str) -> bool:
        if verb == "use":
            return any(kind_of(lamp) == thing for lamp in self.lit)
        return kind_of(self.held) == thing

    def _looked(self, place: str) -> bool:
        return place in self.sight

    def _at(self, place: str, thing: str, off: str) -> str:
        return next((n for n in self.sight.get(place, ()) if kind_of(n) == thing and place != off), "")

    def _in_sight(self, thing: str, off: str) -> str:
        return self._at(self.here, thing, off)

    def _got(self, verb: str, thing: str, off: str) -> str:
        name = self._in_sight(thing, off)
        return f"Act: use {name}" if verb == "use" else f"Act: take {name} from {self.here}"

    def _look_at(self, place: str, verb: str, thing: str, off: str) -> Policy:
        """Until it is had, or is seen not to be there."""
        while not self._has(verb, thing):
            if self._in_sight(thing, off) and (verb == "use" or not self.held):
                yield self._got(verb, thing, off)
            elif self.held and kind_of(self.held) != thing and verb == "take" and self._free_hand():
                yield self._free_hand()
            elif self._looked(place) and not self._at(place, thing, off):
                return False
            elif self.here != place:
                yield f"Act: go to {place}"
            else:
                yield self._opened(place)
        return True

    def _opened(self, place: str) -> str:
        """Opens a receptacle; one that was open when the agent began is examined again."""
        again = f"examine {place}"
        return (
            f"Act: open {place}"
            if f"open {place}" in self.sentences or again not in self.sentences
            else f"Act: {again}"
        )

    def _free_hand(self) -> str:
        """What is held by mistake is let go where one stands."""
        return next((f"Act: {s}" for s in self.sentences if s.startswith(f"put {self.held} in/on ")), "")

    def _treat(self, verb: str, thing: str, tool: str, thinks: bool = False) -> Policy:
        if kind_of(self.held) != thing and not (yield from self._find("take", thing, "", None)):
            return False
        if thinks:
            yield from self._think(f"I have {self.held}. Now I {verb} {self.held} with {tool}.")
        while (verb, self.held) not in self.treated:
            if kind_of(self.held) != thing:
                return (yield from self._treat(verb, thing, tool, thinks))
            yield f"Act: {verb} {self.held} with {tool}" if self.here == tool else f"Act: go to {tool}"
        return True

    def _put(self, thing: str, target: str, thinks: bool = False) -> Policy:
        if kind_of(self.held) != thing and not (yield from self._find("take", thing, target, None)):
            return False
        name = self.held
        if thinks:
            yield from self._think(f"I have {name}. Now I put {name} in/on {target}.")
        while name not in self.sight.get(target, ()) or self.held == name:
            if self.held != name:  # it was let go elsewhere
                return (yield from self._put(thing, target, thinks))
            if self.here != target:
                yield f"Act: go to {target}"
            else:
                put = f"put {name} in/on {target}"
                yield f"Act: {put}" if self._looked(target) or put in self.sentences else f"Act: open {target}"
        return True


def _heads(places: Sequence[str]) -> str:
    """The first place of each kind, in the order of the places."""
    firsts: dict[str, str] = {}
    for place in places:
        firsts.setdefault(kind_of(place), place)
    return ", ".join(firsts.values())


def _ranges(places: Sequence[str]) -> list[tuple[str, str]]:
    """First and last place of each step that looks. A step has the places of one kind; of more than `CUT` those with
    higher numbers are a step of their own. The last steps are joined where a plan has no room for all."""
    found: list[list[str]] = []
    for place in places:
        number = int(place.rpartition(" ")[2])
        if found and kind_of(found[-1][0]) == kind_of(place) and number != CUT:
            found[-1].append(place)
        else:
            found.append([place])
    while len(found) > STEPS:
        found[-2:] = [found[-2] + found[-1]]
    return [(each[0], each[-1]) for each in found]


def _did(text: str) -> tuple[str, str, str]:
    found = _DID.search(text)
    return (found[1], found[2], found[3] or "") if found else ("", "", "")


def _a(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"

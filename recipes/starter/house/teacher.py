"""A teacher for the house: what a careful agent says next, told by the prompt alone.

A policy is a generator: it yields a line and goes on once something was done; the driver plays what the prompt tells
against it, so that a slip only makes it look again. Every answer follows from what stands close by: a place from the
list that was thought of, a thing from what is seen.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

from bt_envs.house.notes import is_a
from bt_envs.house.phrases import plural
from bt_runtime.agents.story import StoryStep
from bt_runtime.agents.surroundings import RECALL
from bt_runtime.tree.budget import Budget
from recipes.starter.errand import Errand, understood
from recipes.starter.house.hands import Hands, content, home_of
from recipes.starter.judge import STILL, missing, pressing
from recipes.starter.policy import Policy, played
from recipes.starter.reflection import ENDED, LESSON, REFLECTS, denied
from recipes.starter.seen import Seen, role
from recipes.starter.steps import ORDER, written

Line = str
_WIDEST = Budget().width
_SAW = re.compile(r"You saw ([A-Za-z ]+? \d+) near ([A-Za-z ]+? \d+) in ([A-Za-z ]+? \d+)(,[^.]*)?\.")
_NOTED = re.compile(r"([A-Za-z ]+? \d+) is near ([A-Za-z ]+? \d+) in ([A-Za-z ]+? \d+)")
_FIND = re.compile(r"find and pick up (the|another) ([A-Za-z ]+?)(?: in ([A-Za-z ]+? \d+))?")
_PUT = re.compile(r"go to the (?=[A-Za-z ]++(?<= [oi]n it)\Z)([A-Za-z ]+?) and put down the ([A-Za-z ]+?) (on|in) it")
_MOVE = re.compile(r"move (the|\d+) (?=[A-Za-z ]++\Z)([A-Za-z ]+?) (on|in) the ([A-Za-z ]+)")
_BRING = re.compile(r"put the (?=[A-Za-z ]++\Z)([A-Za-z ]+?) (on|in) the ([A-Za-z ]+)")
_OPEN = re.compile(r"open the ([A-Za-z ]+)")
_START = re.compile(r"close and turn on the ([A-Za-z ]+)")


def teacher(seen: Seen, sentences: Sequence[str], told: Mapping[str, list[Errand]] | None = None) -> Line:
    """What to say next. `told`: what an instruction means, where somebody knows."""
    node = Node(seen, sentences, role(seen.system) == "reactree", told or {})
    if REFLECTS in seen.system:
        return node.reflected()
    return node.planned() if ORDER in seen.system else node.answer()


@lru_cache(maxsize=1)
def any_recall() -> str:
    """Who can say this can ask a memory."""
    return f"{RECALL}{min(content().catalogue.things)}"


class Node(Hands):
    """One agent node, as its prompt tells of it."""

    def __init__(self, seen: Seen, sentences: Sequence[str], expands: bool, told: Mapping[str, list[Errand]]) -> None:
        super().__init__(seen.opening, sentences)
        self.seen, self.expands, self.told = seen, expands, told
        self.hands_on = role(seen.system) == "executor"  # then somebody plans it
        self.recalls = any_recall() in self.sentences

    def answer(self) -> Line:
        return played(self._policy(), self.seen.steps, self._note)[0]

    def _note(self, step: StoryStep) -> None:
        self.step = step
        if step.move == "act" and not step.text.startswith(RECALL):
            verb, name = _verb(step.text)
            before = set(self.notes.held)
            self.notes.read(step.observation, name)
            if verb == "put down" and name in before - set(self.notes.held):
                self.brought.append((name, self.notes.place))
            elif verb == "turn on" and step.observation.startswith("You turn on"):
                self.running.add(name)
            elif verb == "turn off" and step.observation.startswith("You turn off"):
                self.running.discard(name)

    def _policy(self) -> Policy:
        goal = self.seen.goal
        shapes: tuple[tuple[re.Pattern[str], Callable[..., Policy]], ...] = (
            (_FIND, self._find),
            (_PUT, self._put),
            (_MOVE, self._move),
            (_BRING, self._bring_it),
            (_OPEN, self._open_the),
            (_START, self._start),
        )
        for shape, policy in shapes:
            told = shape.fullmatch(goal)
            if told and ((self.expands and self.seen.primary) or shape is not _MOVE):
                return policy(*told.groups())
        return self._whole() if self.expands else self._tried() if self.hands_on else self._flat()

    # steps, for others to carry out --------------------------------------------------------------

    def planned(self) -> str:
        """What can be found is looked for in every room until it is there; all else is found and put down in turn."""
        goal = self.seen.goal
        if find := _FIND.fullmatch(goal):
            which, thing, room = find.groups()
            rooms = [other for other in self._rooms(self._home_of_thing(thing)) if other != room]
            steps = [f"find and pick up {which} {thing} in {other}" for other in rooms]
            return written(f"{thing} may be in {', '.join(rooms)}.", steps, "OR")
        errands = self._errands()
        steps = [step for errand in errands for step in self._steps(errand)]
        if len(steps) > _WIDEST:  # each part is planned in turn
            steps = [errand.goal() for errand in errands]
        if errands and _PUT.fullmatch(goal):  # not in the words that came to nothing
            place, thing, way = errands[0].place, errands[0].thing, errands[0].way
            steps = [*self._finds(errands[0]), f"put the {thing} {way} the {place}"]
        return written(f"{', '.join(errand.goal() for errand in errands)}.", steps or [f"look after {goal}"], "AND")

    # what an attempt teaches ---------------------------------------------------------------------

    def reflected(self) -> str:
        """Where things were found, as the next attempt will think it, and what is still to be found."""
        wanted: Counter[str] = Counter()
        for errand in self._errands():
            wanted[errand.thing] += errand.amount
        found: dict[str, str] = {}
        for step in self.seen.steps:
            before, at = set(self.notes.held), (self.notes.place, self.notes.room)
            self._note(step._replace(observation=step.observation.partition(ENDED)[0]))
            for name in self.notes.held:
                if name not in before and any(is_a(name, thing) for thing in wanted):
                    found.setdefault(name, f"{name} is near {at[0]} in {at[1]}")
        judged = denied(self.seen)
        missing = [t for t, n in wanted.items() if t and sum(is_a(name, t) for name in found) < n]
        lines = [", ".join(found.values())] if found else []
        thought = [step.text for step in self.seen.steps if step.move == "think"]
        lines += [f"{thing} is not in {', '.join(rooms)}" for thing in missing if (rooms := self._vain(thing, thought))]
        if judged:  # in the words of whoever looked at it
            lines += [f"{STILL}{judged}"]
        elif missing:
            lines += [f"Still to find: {', '.join(missing)}"]
        return f"{LESSON} {'. '.join(lines) or 'Put down all that is held'}.\n"

    def _vain(self, thing: str, told: Iterable[str]) -> list[str]:
        """Rooms in which it was not, as an attempt has thought, or a note tells."""
        sign = f"{thing} is not in "
        rooms = [text.removeprefix(sign).rstrip(".").split(", ") for text in told if text.startswith(sign)]
        return list(dict.fromkeys(room for each in rooms for room in each if room in self.notes.rooms))

    def _steps(self, errand: Errand) -> list[str]:
        if not errand.thing:
            return [errand.goal()]
        opened = [f"open the {errand.place}"] if errand.amount > 1 and self._shuts(errand) else []
        what = errand.thing if errand.amount == 1 else plural(errand.thing)
        return [*opened, *self._finds(errand), f"go to the {errand.place} and put down the {what} {errand.way} it"]

    def _finds(self, errand: Errand) -> list[str]:
        """A plan begins where the attempt before it ended: what is held is not looked for again."""
        have = range(self._held(errand.thing), errand.amount)
        return [f"find and pick up {'another' if number else 'the'} {errand.thing}" for number in have]

    def _tried(self) -> Policy:
        """An executor does a task of one thing by itself. Of several it takes up the first, and hands on the rest: the
        plan begins with what is held."""
        errands = self._errands()
        if len(errands) == 1 and errands[0].amount == 1:
            return (yield from self._flat())
        if errands and (yield from self._find("the", errands[0].thing, None)):
            yield from self._think(f"I have {self.notes.held[-1]}, the first of several.")
        return False

    # the whole task ------------------------------------------------------------------------------

    def _whole(self) -> Policy:
        """A part for each kind of thing, whatever the others give; a lone part is taken apart at once."""
        errands = self._errands()
        if not errands:
            return False
        if len(errands) == 1:
            return (yield from self._move_it(errands[0]))
        return (yield from self._expand("parallel", [errand.goal() for errand in errands]))

    def _errands(self) -> list[Errand]:
        errands = self.told.get(self.seen.goal) or understood(self.seen.goal, self.catalogue)
        return pressing(self.seen.notes, missing(self.seen.notes, errands))

    def _flat(self) -> Policy:
        """All of it in one go: said as a list, of which one is taken after the other until there is none."""
        errands = self._errands()
        came_out = bool(errands)
        if errands:
            yield from self._think(f"{', '.join(errand.goal() for errand in errands)}.")
        for number, errand in enumerate(errands, 1):
            yield from self._think(f"Part {number}: {errand.goal()}.")
            came_out &= yield from (self._bring(errand) if errand.thing else self._start(errand.place))
        return came_out

    def _bring(self, errand: Errand) -> Policy:
        if errand.amount > 1 and self._shuts(errand):
            yield from self._open_the(errand.place)
        for count in range(errand.amount):
            if count:
                yield from self._think(f"Another {errand.thing}.")
            if not (yield from self._find("another" if count else "the", errand.thing, None)):
                return False
        return (yield from self._put(errand.place, errand.thing, errand.way))

    def _move(self, count: str, thing: str, way: str, place: str) -> Policy:
        amount = 1 if count == "the" else int(count)
        return (yield from self._move_it(Errand(thing if amount == 1 else self._one(thing), amount, way, place)))

    def _bring_it(self, thing: str, way: str, place: str) -> Policy:
        return (yield from self._put(place, thing, way))

    def _move_it(self, errand: Errand) -> Policy:
        if not errand.thing:
            return (yield from self._start(errand.place))
        return (yield from self._expand("sequence", self._steps(errand)))

    def _shuts(self, errand: Errand) -> bool:
        furniture = self.catalogue.furniture.get(errand.place)
        return errand.way == "in" and furniture is not None and furniture.opens

    # find ----------------------------------------------------------------------------------------

    def _find(self, which: str, thing: str, room: str | None) -> Policy:
        """Into the hand: from where it was seen, else room by room."""
        wanted = self._held(thing) + 1 if which == "another" or not (self.expands or self.hands_on) else 1
        if room is not None:
            return (yield from self._search(thing, room, wanted))
        if self._held(thing) >= wanted:
            return True
        for name, place, where in self._noted(thing):
            yield from self._think(f"{name} is near {place} in {where}.")
            if (yield from self._fetch(thing, wanted, name, place, where)):
                return True
        if self.recalls:
            yield from self._recall(thing)
            for name, place, where in self._remembered(self.step.observation):
                yield from self._think(f"{name} is near {place} in {where}.")
                if (yield from self._fetch(thing, wanted, name, place, where)):
                    return True
                break
        rooms = self._rooms(self._home_of_thing(thing))
        if self.expands:
            return (yield from self._expand("fallback", [f"find and pick up {which} {thing} in {r}" for r in rooms]))
        if self.seen.notes:  # an earlier attempt has looked there
            vain = self._vain(thing, [each for note in self.seen.notes for each in note.split(". ")])
            rooms.sort(key=lambda room: room in vain)
        yield from self._think(f"I look for {thing} in {', '.join(rooms)}.")
        for each in rooms:
            if (yield from self._search(thing, each, wanted)):
                return True
        return False

    def _noted(self, thing: str) -> list[tuple[str, str, str]]:
        """What earlier attempts have found, and this one has not had in its hands."""
        found = [told for note in self.seen.notes for told in _NOTED.findall(note)]
        had = {*self.notes.held, *(name for name, _ in self.brought)}
        return [told for told in dict.fromkeys(found) if is_a(told[0], thing) and told[0] not in had][:1]

    def _recall(self, thing: str) -> Policy:
        sentence = f"{RECALL}{thing}"
        while True:
            yield f"Act: {sentence}"
            if self.step.move == "act" and self.step.text == sentence:
                return True

    def _remembered(self, told: str) -> list[tuple[str, str, str]]:
        """What is still to be had: (thing, place, room)."""
        return [(m[1], m[2], m[3]) for m in _SAW.finditer(told) if not m[4] and m[3] in self.notes.rooms]

    def _fetch(self, thing: str, wanted: int, name: str, place: str, room: str) -> Policy:
        while self._held(thing) < wanted:
            if self.notes.room != room:
                yield f"Act: go to {room}"
            elif self.notes.place != place:
                if place not in self.notes.fixtures.get(room, ()):
                    return False
                yield f"Act: go to {place}"
            elif self._free(thing) is None:
                if self.notes.open.get(place) is not False or not (yield from self._open_here(thing)):
                    return False
            else:
                yield from self._take(thing)
        return True

    def _search(self, thing: str, room: str, wanted: int) -> Policy:
        """Every place of the room where it could be, one after the other."""
        while self.notes.room != room:
            yield f"Act: go to {room}"
        if self._held(thing) >= wanted:
            return True
        places = self._places(thing, room)
        if places:
            yield from self._think(f"{thing} may be at {', '.join(places)}.")
        for place in places:
            if (yield from self._look_at(thing, room, place, wanted)):
                return True
        yield from self._think(f"{thing} is not in {room}.")
        return False

    def _look_at(self, thing: str, room: str, place: str, wanted: int) -> Policy:
        while self._held(thing) < wanted:
            if self.notes.room != room:
                yield f"Act: go to {room}"
            elif self.notes.place != place and not self._free(thing):
                yield f"Act: go to {place}"
            elif self._free(thing):
                yield from self._take(thing)
            elif self.notes.open.get(place) is False:
                if not (yield from self._open_here(thing)):
                    return False
            else:
                return False
        return True

    # rooms, and how things are said --------------------------------------------------------------

    def _home_of_thing(self, thing: str) -> str:
        known = self.catalogue.things.get(thing)
        return home_of(known.kept[0]) if known and known.kept else "kitchen"

    def _expand(self, control: str, parts: Sequence[str]) -> Policy:
        """Again after another plan was refused; when this one is, there is nothing better to say."""
        plan = "\n".join([f"{control}:", *(f"- {part}" for part in parts)])
        while not (self.step.move == "expand" and self.step.text == plan):
            yield f"Expand:\n{plan}"
        return False


def _verb(sentence: str) -> tuple[str, str]:
    """`go to sink 1` → go to, sink 1."""
    for verb in ("go to", "pick up", "put down", "turn on", "turn off", "open", "close"):
        if sentence.startswith(f"{verb} "):
            return verb, sentence.removeprefix(f"{verb} ")
    return "", sentence

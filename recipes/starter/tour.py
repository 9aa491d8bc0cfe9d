"""A teacher for a planner that never looks: it is shown what it did and not what came of it (`lota`).

What it wants it takes wherever it can be taken; else it goes on to the next place, in an order that is always the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from random import Random

from bt_runtime.agents.story import ACT
from bt_runtime.distill.documents import Document
from bt_runtime.envs.house.catalogue import Catalogue
from bt_runtime.envs.house.notes import Notes, is_a
from bt_runtime.envs.house.state import HANDS
from recipes.starter.errand import Errand, understood
from recipes.starter.house import content, home_of
from recipes.starter.seen import Seen, read

# what takes least to look at first
_ORDER = (
    "kitchen table", "kitchen counter", "coffee table", "fridge", "kitchen cabinet", "stove", "sink", "dishwasher",
    "cabinet", "microwave oven", "kitchen counter drawer", "pantry shelf", "sofa", "desk", "nightstand", "bookshelf",
    "bed", "hall table", "side table", "tv stand",
)  # fmt: skip
_VERBS = ("go to ", "pick up ", "put down ")
_ROOM = re.compile(r"\b(?:room|kitchen|pantry|hall|study|home office|bedroom|bathroom) \d+$")
_GOES = f"{ACT} go to"
# Of the answers that go on from a place so many are learnt wholly, divided by how many things are wanted: in a quarter
# of the places something is taken, and each of those things is to be likelier than to go on.
KEPT = 0.06
_ROOMS = 0.4  # of the others that go on to another room: what may still be in this one comes first


def teacher(seen: Seen, sentences: Sequence[str], told: Mapping[str, list[Errand]] | None = None) -> str:
    known: Catalogue = content().catalogue
    errands = (told or {}).get(seen.goal) or understood(seen.goal, known)
    return f"{ACT} {Tour(seen, sentences, errands, known).next()}"


class Tour:
    """What was done, as the prompt tells it, and what can be done now."""

    def __init__(self, seen: Seen, sentences: Sequence[str], errands: Sequence[Errand], known: Catalogue) -> None:
        self.can, self.known = list(sentences), known
        self.place = errands[-1].place if errands else ""
        self.shuts = bool(errands) and errands[-1].way == "in" and known.furniture[self.place].opens
        self.runs = any(not errand.thing for errand in errands)
        self.wanted = Counter({e.thing: 0 for e in errands if e.thing})
        for errand in errands:
            if errand.thing:
                self.wanted[errand.thing] += errand.amount
        notes = Notes()
        notes.read(seen.opening, "")
        self.rooms = sorted(notes.rooms, key=lambda room: known.rank_of_room(room.rpartition(" ")[0]))
        self.room, self.through = notes.room, set[str]()  # through: nothing is left there
        self.sought = {notes.room}  # where one has been with full hands
        self.done = [step.text for step in seen.steps]
        self.held: list[str] = []
        self.brought: set[str] = set()
        self.at, self.where, self.visited = "", "", set[str]()  # where: the room of the place things are brought to
        self.opened = False  # the place itself, once
        for act in self.done:
            self._take_in(act)

    def _take_in(self, act: str) -> None:
        verb, name = next(((v, act.removeprefix(v)) for v in _VERBS if act.startswith(v)), ("", ""))
        if verb == "go to " and name in self.rooms:
            if name != self.room and not self.ready():
                self.through.add(self.room)
            self.room, self.at = name, ""
        elif verb == "go to ":
            self.at = name
            self.visited.add(name)
        elif verb == "pick up ":
            self.held.append(name)
            self.brought.discard(name)
        elif verb == "put down ":
            self.held = [each for each in self.held if each != name]
            if is_a(self.at, self.place):
                self.brought.add(name)
        if is_a(self.at, self.place):
            self.where, self.opened = self.room, True
        self.sought = {*self.sought, self.room} if self.ready() else {self.room}

    def _left(self, *names: Iterable[str]) -> dict[str, int]:
        """How many of each are wanted besides these."""
        told = [name for each in names for name in each]
        return {thing: n - sum(is_a(name, thing) for name in told) for thing, n in self.wanted.items()}

    def ready(self) -> bool:
        """Is it time to bring what is held? Or is the door to be opened first, with a hand that is free."""
        left = self._left(self.brought, self.held)
        return len(self.held) >= HANDS or not any(n > 0 for n in left.values()) or (self.shuts and not self.opened)

    def next(self) -> str:
        here = is_a(self.at, self.place)
        if not any(n > 0 for n in self._left(self.brought).values()):
            return self._finish()
        if here and self.shuts and f"open {self.at}" in self.can:
            return f"open {self.at}"
        if here and (down := next((s for s in self.can if s.startswith("put down ")), "")):
            return down
        if not self.ready() and (take := self._takes()):
            return take
        if self.ready():
            return self._towards()
        if not here and f"open {self.at}" in self.can:
            return f"open {self.at}"
        return self._onward()

    def _takes(self) -> str:
        """What is wanted and can be taken; the one with the lowest number."""
        found = [s for s in self.can if s.startswith("pick up ") and s.removeprefix("pick up ") not in self.brought]
        for thing, n in self._left(self.brought, self.held).items():
            able = [s for s in found if is_a(s.removeprefix("pick up "), thing)]
            if n > 0 and able and self.at:
                return min(able, key=lambda s: int(s.rpartition(" ")[2]))
        return ""

    def _finish(self) -> str:
        if not self.runs or self.done[-1].startswith("turn on "):
            return "done"
        return next((s for s in self.can if s in (f"close {self.at}", f"turn on {self.at}")), "failure")

    def _towards(self) -> str:
        """To where things are brought: it is here, or in a room in which one was, or where such furniture stands."""
        for sentence in self.can:
            if sentence.startswith("go to ") and is_a(sentence.removeprefix("go to "), self.place):
                return sentence
        if self.where:
            return f"go to {self.where}"
        usual = sorted(self.rooms, key=lambda room: room.rpartition(" ")[0] != home_of(self.place))
        left = [room for room in usual if room not in self.sought]
        return f"go to {left[0]}" if left else "failure"

    def _onward(self) -> str:
        """The next place here where a thing that is wanted may be; else the next room."""
        kinds = {kind for thing in self.wanted for kind in (self.known.things[thing].kept or self.known.furniture)}
        here = [s.removeprefix("go to ") for s in self.can if s.startswith("go to ")]
        order = dict.fromkeys([*_ORDER, *(name for name, each in self.known.furniture.items() if each.holds)])
        for kind in (kind for kind in order if kind in kinds and kind != self.place):
            for name in here:
                if is_a(name, kind) and name not in self.visited:
                    return f"go to {name}"
        left = [room for room in self.rooms if room not in self.through and room != self.room]
        return f"go to {left[0]}" if left else "failure"


def thinned(document: Document, rng: Random, errands: Sequence[Errand]) -> list[Document]:
    """With most answers that go on from a place learnt only from where they say which place is next: a model that is
    not shown what is there has to prefer what it could take to going on, though mostly nothing is there, and has to
    know the way all the same. It never learns to give up, nor the way there."""
    if document.text.endswith(f"{ACT} failure\n"):
        return []
    often, kept = KEPT / max(1, len({errand.thing for errand in errands if errand.thing})), []
    for begin, end in document.learn:
        answer = document.text[begin:end]
        if not _leaves(document.text[:begin], answer, errands) or rng.random() < often:
            kept.append((begin, end))
        elif not _ROOM.search(answer.strip()) or rng.random() < _ROOMS:
            kept.append((begin + len(_GOES), end))
    return [document._replace(learn=tuple(kept))] if kept else []


def _leaves(prompt: str, answer: str, errands: Sequence[Errand]) -> bool:
    """Does it go on from a place, with a hand free for what may be there? Whoever has just put something down goes on
    as well, or is done: that is learnt."""
    tour = Tour(read(prompt), (), errands, content().catalogue)
    seeks = bool(tour.at) and not tour.ready() and not tour.done[-1].startswith("put down ")
    return seeks and answer.startswith(f"{_GOES} ")

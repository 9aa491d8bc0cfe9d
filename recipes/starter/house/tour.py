"""A teacher for a planner that never looks: it is shown what it did and not what came of it (`lota`).

What it wants it takes wherever it can be taken; else it opens what is in reach, and goes on to the next place, in an
order that is always the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from random import Random

from bt_envs.house.catalogue import Catalogue
from bt_envs.house.notes import Notes, is_a
from bt_envs.house.state import HANDS
from bt_lab.distill.documents import Document
from bt_runtime.agents.story import ACT
from bt_runtime.types import Task
from recipes.starter.errand import Errand, meant, understood
from recipes.starter.house.hands import content, home_of
from recipes.starter.seen import GOAL, Seen, read

# what takes least to look at first
_ORDER = (
    "kitchen table", "kitchen counter", "coffee table", "fridge", "kitchen cabinet", "stove", "sink", "dishwasher",
    "cabinet", "microwave oven", "kitchen counter drawer", "pantry shelf", "sofa", "desk", "nightstand", "bookshelf",
    "bed", "hall table", "side table", "tv stand",
)  # fmt: skip
_VERBS = ("go to ", "pick up ", "put down ", "open ")
_ROOM = re.compile(r"\b(?:room|kitchen|pantry|hall|study|home office|bedroom|bathroom) \d+$")
# Of the answers that open something, and that go on from a place, so many are learnt wholly, divided by how many things
# are wanted: in a quarter of the places something is taken, and each of those things, with any number that it may have,
# is to be likelier than to open the next door, and that likelier than to go on.
OPENED, KEPT = 0.04, 0.01
_SEEKS = {f"{ACT} go to": KEPT, f"{ACT} open": OPENED}
_ENDED = 0.5  # of the short documents' ends
_ON_THE_WAY = (1, 1, 1, 2, 2, 3, 5)  # places that are looked at for a thing
_ROOMS = 0.6  # of the others that go on to another room: what may still be in this one comes first
_ASTRAY = (0.45, 0.4, 0.15)  # what is gone on with, what is passed by, what is put down in the wrong place


def teacher(seen: Seen, sentences: Sequence[str], told: Mapping[str, list[Errand]] | None = None) -> str:
    known: Catalogue = content().catalogue
    errands = (told or {}).get(seen.goal) or understood(seen.goal, known)
    return f"{ACT} {Tour(seen, sentences, errands, known).next()}"


class Tour:
    """What was done, as the prompt tells it, and what can be done now. It goes with one thing at a time: whoever is
    shown nothing does not know well whether it holds one or two, and what it brings alone it puts down twice."""

    def __init__(
        self, seen: Seen, sentences: Sequence[str], errands: Sequence[Errand], known: Catalogue, hands: int = 1
    ) -> None:
        self.can, self.known, self.hands = list(sentences), known, hands
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
            self.visited.discard(self.at)  # more of what is wanted may be there
        elif verb == "put down ":
            self.held = [each for each in self.held if each != name]
            if is_a(self.at, self.place):
                self.brought.add(name)
        elif verb == "open ":
            self.visited.add(name)
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
        if len(self.held) >= self.hands or not any(n > 0 for n in left.values()):
            return True
        return self.shuts and not self.opened and sum(self.wanted.values()) > 1  # one hand can carry, the other open

    def next(self) -> str:
        here = is_a(self.at, self.place)
        if not any(n > 0 for n in self._left(self.brought).values()):
            return self._finish()
        if here and self.shuts and f"open {self.at}" in self.can:
            return f"open {self.at}"
        if here and (down := next((s for name in self.held if (s := f"put down {name}") in self.can), "")):
            return down
        if not self.ready() and (take := self._takes()):
            return take
        if self.ready():
            return self._towards()
        return self._opens() or self._onward()

    def _takes(self) -> str:
        """What is wanted and can be taken; the one with the lowest number."""
        found = [s for s in self.can if s.startswith("pick up ") and s.removeprefix("pick up ") not in self.brought]
        for thing, n in self._left(self.brought, self.held).items():
            able = [s for s in found if is_a(s.removeprefix("pick up "), thing)]
            if n > 0 and able and self.at:
                return min(able, key=lambda s: int(s.rpartition(" ")[2]))
        return ""

    def _opens(self) -> str:
        """What is in reach and shut, and may hold something: without going there."""
        kinds = self._kinds()
        doors = [s.removeprefix("open ") for s in self.can if s.startswith("open ")]
        wanted = [name for kind in kinds for name in doors if is_a(name, kind)]
        nearest = [name for name in wanted if name == self.at]
        return f"open {[*nearest, *wanted][0]}" if self.at and wanted else ""

    def _finish(self) -> str:
        if not self.runs or self.done[-1].startswith("turn on "):
            return "done"
        return next((s for s in self.can if s in (f"close {self.at}", f"turn on {self.at}")), "failure")

    def _towards(self) -> str:
        """To where things are brought: it is here, one that was opened first, or in a room in which one was, or where
        such furniture stands."""
        here = [s.removeprefix("go to ") for s in self.can if s.startswith("go to ")]
        if near := sorted((name for name in here if is_a(name, self.place)), key=lambda name: name not in self.visited):
            return f"go to {near[0]}"
        if self.where:
            return f"go to {self.where}"
        usual = sorted(self.rooms, key=lambda room: room.rpartition(" ")[0] != home_of(self.place))
        left = [room for room in usual if room not in self.sought]
        return f"go to {left[0]}" if left else "failure"

    def _onward(self) -> str:
        """The next place here where a thing that is wanted may be; else the next room."""
        here = [s.removeprefix("go to ") for s in self.can if s.startswith("go to ")]
        for kind in self._kinds():
            for name in here:
                if is_a(name, kind) and name not in self.visited:
                    return f"go to {name}"
        left = [room for room in self.rooms if room not in self.through and room != self.room]
        return f"go to {left[0]}" if left else "failure"

    def _kinds(self) -> list[str]:
        """Of the furniture that may hold what is still to be found."""
        left = [thing for thing, n in self._left(self.brought, self.held).items() if n > 0]
        kinds = {kind for thing in left for kind in (self.known.things[thing].kept or self.known.furniture)}
        order = dict.fromkeys([*_ORDER, *(name for name, each in self.known.furniture.items() if each.holds)])
        return [kind for kind in order if kind in kinds and kind != self.place]


def astray(seen: Seen, sentences: Sequence[str], told: Mapping[str, list[Errand]], rng: Random) -> str:
    """What a planner does that takes no care: it goes on with one thing in its hand, passes by what it wants, puts
    down in the wrong place. The way back has to be seen: how much is still to be brought is read off what was."""
    known: Catalogue = content().catalogue
    tour = Tour(seen, sentences, told[seen.goal], known)
    both = Tour(seen, sentences, told[seen.goal], known, hands=HANDS)
    downs = [s for s in sentences if s.startswith("put down ")]
    how = rng.choices(range(len(_ASTRAY)), _ASTRAY)[0]
    if how == 0 and both.held:
        said = both.next()
    elif how == 1 and tour.at and tour.next().startswith("pick up "):
        said = tour._onward()
    elif how == 2 and downs:
        said = downs[0]
    else:
        said = tour.next()
    return f"{ACT} {said if said not in ('done', 'failure') else tour.next()}"


def thinned(document: Document, rng: Random, errands: Sequence[Errand]) -> list[Document]:
    """With most answers that go on from a place, or open what is near, learnt only from where they say which: a model
    that is not shown what is there has to prefer what it could take, though mostly nothing is there, and has to know
    the way all the same. It never learns to give up, nor the way there."""
    if document.text.endswith(f"{ACT} failure\n"):
        return []
    many, kept = max(1, len({errand.thing for errand in errands if errand.thing})), []
    for begin, end in document.learn:
        answer = document.text[begin:end]
        verb = next((verb for verb in _SEEKS if answer.startswith(verb)), "")
        if not verb or not _seeking(document.text[:begin], errands) or rng.random() < _SEEKS[verb] / many:
            kept.append((begin, end))
        elif not _ROOM.search(answer.strip()) or rng.random() < _ROOMS:
            kept.append((begin + len(verb), end))
    return [document._replace(learn=tuple(kept))] if kept else []


def _seeking(prompt: str, errands: Sequence[Errand]) -> bool:
    """Is it at a place, with a hand free for what may be there? Whoever has just put something down goes on as well,
    or is done: that is learnt."""
    tour = Tour(read(prompt), (), errands, content().catalogue)
    return bool(tour.at) and not tour.ready() and not tour.done[-1].startswith("put down ")


def brought(document: Document, rng: Random, task: Task) -> Document:
    """The same home, another goal, and acts as a planner without care has them: all that is learnt is what follows on
    what was put down. What is made up has any number of things and of places on the way, and twice as many such
    decisions in a third of the length. What ends it is one short word, and has to be likelier than any one place to
    go on to, not than all of them: it is learnt from half of them."""
    errands, known, notes = meant(task)[task.goal], content().catalogue, Notes()
    opening = read(document.text).opening
    notes.read(opening, "")
    text = f"{document.text[: document.text.rfind(GOAL)]}{GOAL}{task.goal}\n{opening}\n"
    acts = _trips(errands, rng, known, sorted(notes.rooms))
    spans: list[tuple[int, int]] = []
    before = ""
    for said in acts:
        after = before.startswith(("put down ", "close ", "turn on "))
        if after and (said != "done" or rng.random() < _ENDED):
            onward = said.startswith("go to ")
            spans.append((len(text), len(text) + len(f"{ACT} {'go to' if onward else said}") + (not onward)))
        text, before = f"{text}{ACT} {said}\n", said
    return Document(f"{document.kind} brought", text, tuple(spans))


def _trips(errands: Sequence[Errand], rng: Random, known: Catalogue, rooms: Sequence[str]) -> list[str]:
    """Made up: what is sought, taken and brought, mostly one at a time, until there is no more."""
    place, room, runs = f"{errands[-1].place} 1", rng.choice(rooms), not errands[-1].thing
    shuts, away = errands[-1].way == "in" and known.furniture[errands[-1].place].opens, rng.random() < 0.3
    wanted = Counter[str]()
    for errand in errands:
        wanted[errand.thing] += errand.amount * bool(errand.thing)
    left = [f"{thing} {n}" for thing, many in wanted.items() for n in rng.sample(range(1, 9), many)]
    rng.shuffle(left)
    opened = [f"go to {place}", f"open {place}"] if shuts else []
    acts = list(opened) if len(left) > 1 else []
    while left:
        held = [left.pop() for _ in range(min(len(left), rng.choice((1, 1, 1, 1, HANDS))))]
        for name in held:
            kinds = [kind for kind in known.things[name.rpartition(" ")[0]].kept if kind != errands[-1].place]
            for _ in range(rng.choice(_ON_THE_WAY)):
                kind = rng.choice(kinds or ("kitchen counter",))
                spot = f"{kind} {rng.randint(1, 5)}"
                acts += [f"go to {spot}"]
                acts += [f"open {spot}"] * (known.furniture[kind].opens and f"open {spot}" not in acts)
            acts += [f"pick up {name}"]
        acts += [f"go to {room}"] * away + [f"go to {place}"]
        acts += opened[1:] if opened and opened[1] not in acts else []
        acts += [f"put down {name}" for name in held]
    return [*acts, *(f"close {place}", f"turn on {place}") * runs, "done"]

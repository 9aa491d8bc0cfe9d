"""What a careful agent does with its hands in the house: take, put down, open, turn on, and go there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from bt_envs.house.catalogue import Catalogue, Furniture
from bt_envs.house.notes import Notes, is_a
from bt_envs.house.phrases import plural
from bt_envs.house.state import HANDS
from bt_envs.house.suite import Content, load_content
from bt_runtime.agents.story import StoryStep
from recipes.starter.policy import Policy, Thinks

# where furniture stands as a rule: the room to go to first
_HOMES = {
    "living room": (
        "sofa", "armchair", "coffee table", "side table", "tv", "tv stand", "bookshelf", "cabinet", "piano", "radio",
    ),
    "bedroom": ("bed", "nightstand", "dresser", "closet", "desk", "computer", "table lamp", "shoe rack"),
    "bathroom": ("bathroom cabinet", "bathroom counter", "bathtub", "towel rack", "washing machine", "laundry basket"),
}  # fmt: skip
_HOME = {name: room for room, names in _HOMES.items() for name in names}


@lru_cache(maxsize=1)
def content() -> Content:
    """Read once: a teacher is asked thousands of times."""
    return load_content()


def home_of(kind: str) -> str:
    """The kind of room where such furniture stands as a rule."""
    return _HOME.get(kind, "kitchen")


class Hands(Thinks):
    """An agent's hands, and its notes of what it saw; `sentences` are the actions that it may choose from."""

    def __init__(self, opening: str, sentences: Sequence[str]) -> None:
        self.sentences = frozenset(sentences)
        self.catalogue: Catalogue = content().catalogue
        self.notes = Notes()
        self.notes.read(opening, "")
        self.step = StoryStep("think", "")  # the last one that was made
        self.running: set[str] = set()
        self.brought: list[tuple[str, str]] = []  # (thing, place) of what was put down

    def _one(self, thing: str) -> str:
        return next((name for name in self.catalogue.things if thing in (name, plural(name))), thing)

    def _take(self, thing: str) -> Policy:
        other = next((n for n in self.notes.held if not is_a(n, thing)), None)
        if len(self.notes.held) >= HANDS and other is not None:  # a hand must be free
            yield f"Act: put down {other}"
        else:
            yield f"Act: pick up {self._free(thing)}"
        return True

    def _free(self, thing: str) -> str | None:
        """One that is in sight and not in the hand."""
        if not self.notes.place:
            return None
        return next((n for n in in_order(self.notes.sight) if is_a(n, thing) and n not in self.notes.held), None)

    def _held(self, thing: str) -> int:
        return sum(is_a(name, thing) for name in self.notes.held)

    def _places(self, thing: str, room: str) -> list[str]:
        """Where such a thing is kept as a rule, as one sees it; for a thing that nobody knows, all that holds any."""
        known = self.catalogue.things.get(thing)
        holds = [name for name, furniture in self.catalogue.furniture.items() if furniture.holds]
        kept = (known.kept if known else ()) or holds
        return [name for name in self.notes.fixtures.get(room, ()) if name.rpartition(" ")[0] in kept]

    # put, open, start ----------------------------------------------------------------------------

    def _put(self, place: str, thing: str, way: str) -> Policy:
        """All that is held of it; what was let go on the way is taken up again."""
        one = self._one(thing)
        wanted = self._held(one)
        while self._there(one, place) < wanted:
            free = self._free(one)
            if not self._held(one):
                if free is None or is_a(self.notes.place, place):
                    return False
                yield f"Act: pick up {free}"
            elif not is_a(self.notes.place, place):
                if not (yield from self._reach(place)):
                    return False
            elif way == "in" and self.notes.open.get(self.notes.place) is False:
                if not (yield from self._open_here(one)):
                    return False
            else:
                yield f"Act: put down {next(n for n in self.notes.held if is_a(n, one))}"
        return wanted > 0

    def _there(self, thing: str, place: str) -> int:
        """How many were put down there, and not taken up again."""
        kept = {name for name, at in self.brought if is_a(name, thing) and is_a(at, place)}
        return len(kept - set(self.notes.held))

    def _open_here(self, thing: str) -> Policy:
        """One step towards an open door: what runs is turned off, and a hand is free."""
        here = self.notes.place
        other = next((n for n in self.notes.held if not is_a(n, thing)), None)
        if here in self.running:
            yield f"Act: turn off {here}"
        elif len(self.notes.held) < HANDS:
            yield f"Act: open {here}"
        elif other is not None and f"put down {other}" in self.sentences:
            yield f"Act: put down {other}"
        else:
            return False
        return True

    def _open_the(self, place: str) -> Policy:
        while True:
            if not is_a(self.notes.place, place):
                if not (yield from self._reach(place)):
                    return False
            elif self.notes.open.get(self.notes.place) is False:
                if not (yield from self._open_here("")):
                    return False
            else:
                return True

    def _start(self, place: str) -> Policy:
        furniture = self.catalogue.furniture.get(place, Furniture(place))
        while True:
            if not is_a(self.notes.place, place):
                if not (yield from self._reach(place)):
                    return False
            elif self.notes.place in self.running:
                return True
            elif self.notes.open.get(self.notes.place) and furniture.guarded:
                yield f"Act: close {self.notes.place}"
            else:
                yield f"Act: turn on {self.notes.place}"

    def _reach(self, kind: str) -> Policy:
        """Stand at a fixture of that kind; look for it room by room."""
        seen: set[str] = set()
        while not is_a(self.notes.place, kind):
            here = next((f for f in self.notes.fixtures.get(self.notes.room, ()) if is_a(f, kind)), None)
            if here is not None:
                yield f"Act: go to {here}"
                continue
            seen.add(self.notes.room)
            room = next((r for r in self._rooms(home_of(kind)) if r not in seen), None)
            if room is None:
                return False
            yield f"Act: go to {room}"
        return True

    def _rooms(self, first: str) -> list[str]:
        """As they were told, those of that kind in front."""
        return sorted(self.notes.rooms, key=lambda r: r.rpartition(" ")[0] != first)


def in_order(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: (name.rpartition(" ")[0], int(name.rpartition(" ")[2])))

"""The changing part of a house: where each thing is, what is open or running, and each body's room and hands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from bt_envs.house.layout import House

HANDS = 2


class InitialThing(NamedTuple):
    """A thing where it lies at the start."""

    kind: str
    place: int  # a fixture
    how: str  # "on", "in" or "by"


@dataclass(slots=True)
class Body:
    """An agent's body in the house."""

    room: int
    at: int | None = None  # the fixture gone to; None in the middle of the room
    target: int | None = None  # the receptacle last gone to: what is put down goes there
    hands: list[int] = field(default_factory=list)
    seat: int | None = None


@dataclass(slots=True)
class State:
    kinds: list[str]  # kind of each thing
    numbers: list[int]
    place: list[int]  # fixture that holds it; -1 - body when it is in a hand
    how: list[str]
    contents: list[list[int]]  # things in or on each fixture
    open: set[int]
    running: set[int]
    open_things: set[int]
    made: dict[int, set[str]]  # hot, cold, clean, dirty
    bodies: list[Body]
    index: dict[str, int]
    handled: set[int] = field(default_factory=set)  # what was picked up, noted only where there are house rules

    def name(self, thing: int) -> str:
        return f"{self.kinds[thing]} {self.numbers[thing]}"

    def hidden(self, house: House, thing: int) -> bool:
        """True when the thing is inside something that is closed."""
        place = self.place[thing]
        return (
            place >= 0 and self.how[thing] == "in" and house.fixtures[place].furniture.opens and place not in self.open
        )

    def in_reach(self, house: House, body: Body) -> tuple[int, ...]:
        """The fixtures near a body."""
        return house.near[body.at] if body.at is not None else ()

    def in_sight(self, house: House, body: Body) -> Iterator[int]:
        """The visible things near a body, those in its hands first."""
        yield from body.hands
        for place in self.in_reach(house, body):
            shut = place not in self.open and house.fixtures[place].furniture.opens
            for thing in self.contents[place]:
                if not (shut and self.how[thing] == "in"):
                    yield thing

    def take(self, thing: int, who: int) -> None:
        self.contents[self.place[thing]].remove(thing)
        self.place[thing] = -1 - who
        self.bodies[who].hands.append(thing)

    def put(self, thing: int, who: int, place: int, how: str) -> None:
        self.bodies[who].hands.remove(thing)
        self.place[thing] = place
        self.how[thing] = how
        self.contents[place].append(thing)

    def dump(self) -> dict[str, Any]:
        return {
            "place": self.place,
            "how": self.how,
            "open": sorted(self.open),
            "running": sorted(self.running),
            "open_things": sorted(self.open_things),
            "made": {str(thing): sorted(states) for thing, states in self.made.items()},
            "bodies": [asdict(body) for body in self.bodies],
            **({"handled": sorted(self.handled)} if self.handled else {}),
        }

    def load(self, found: Mapping[str, Any]) -> None:
        """Restores a state that `dump` returned, for equal things in an equal house."""
        if len(found["place"]) != len(self.kinds) or len(found["how"]) != len(self.kinds):
            raise ValueError("it is of other things")
        self.place, self.how = list(found["place"]), list(found["how"])
        self.open, self.running = set(found["open"]), set(found["running"])
        self.open_things = set(found["open_things"])
        self.made = {int(thing): set(states) for thing, states in found["made"].items()}
        self.bodies = [Body(**body) for body in found["bodies"]]
        self.handled = set(found.get("handled", ()))
        for i in range(len(self.contents)):
            self.contents[i] = []
        for thing, place in enumerate(self.place):
            if place >= 0:
                self.contents[place].append(thing)


def begin(
    house: House,
    things: Sequence[InitialThing],
    rooms: Iterable[int] = (0,),
    open_: Iterable[int] = (),
    running: Iterable[int] = (),
) -> State:
    """The state before anyone has done anything, one body for each room named."""
    counts: Counter[str] = Counter()
    numbers = []
    for thing in things:
        counts[thing.kind] += 1
        numbers.append(counts[thing.kind])
    state = State(
        kinds=[t.kind for t in things],
        numbers=numbers,
        place=[t.place for t in things],
        how=[t.how for t in things],
        contents=[[] for _ in house.fixtures],
        open=set(open_),
        running=set(running),
        open_things=set(),
        made={},
        bodies=[Body(room) for room in rooms],
        index={},
    )
    for i, thing in enumerate(things):
        state.contents[thing.place].append(i)
        state.index[state.name(i)] = i
    return state

"""Homes and errands made by a seed for lessons: none of them is one of the evaluation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from random import Random
from typing import Any

from bt_envs.house.catalogue import Catalogue
from bt_envs.house.layout import House, along_walls
from bt_envs.house.start import house_of
from bt_envs.house.suite import load_content
from bt_envs.house.tasks import Errand, make_task
from bt_runtime.types import Json, Task
from recipes.starter.data import read
from recipes.starter.house.phrasing import asked, phrase

# furniture that a kind of room has always, and may have
_ALWAYS, _AT_TIMES = read("house/homes")["always"], read("house/homes")["at_times"]
_ONE_ROOM = ("kitchen", "living room", "bedroom")  # what a studio has in its living room
_SIZES = (2, 3, 3, 4, 4, 4, 5, 5, 6, 7)


def make_home(rng: Random, catalogue: Catalogue, most: int = max(_SIZES)) -> dict[str, Json]:
    """A home as it travels with its task, of so many rooms at most. One that an evaluation uses is thrown away."""
    while True:
        rooms = _rooms(rng)
        if len(rooms) > most:
            continue
        fixtures: list[Json] = []
        for index, (kinds, _) in enumerate(rooms):
            pieces = [kind for kind, count in _furniture(kinds, rng) for _ in range(count)]
            boxes = along_walls([catalogue.furniture[p].width for p in pieces], (100.0 * (index + 1), 0.0))
            fixtures += [[p, index, list(b.centre), list(b.size)] for p, b in zip(pieces, boxes, strict=True)]
        home: dict[str, Json] = {
            "name": f"home {rng.getrandbits(32):08x}",
            "rooms": [name for _, name in rooms],
            "fixtures": fixtures,
        }
        if outline(home) not in _kept_apart():
            return home


def outline(home: Mapping[str, Any]) -> frozenset[tuple[str, str, int]]:
    """What stands in which room, and how often: what tells one home from another."""
    return frozenset(
        (home["rooms"][room], kind, n)
        for (room, kind), n in Counter((room, kind) for kind, room, *_ in home["fixtures"]).items()
    )


@lru_cache(maxsize=1)
def _kept_apart() -> frozenset[frozenset[tuple[str, str, int]]]:
    content = load_content()
    return frozenset(_outline_of(home) for name, home in content.homes.items() if content.split[name] != "train")


def _outline_of(house: House) -> frozenset[tuple[str, str, int]]:
    rooms = [room.name for room in house.rooms]
    return outline({"rooms": rooms, "fixtures": [[f.furniture.name, f.room] for f in house.fixtures]})


def _rooms(rng: Random) -> list[tuple[tuple[str, ...], str]]:
    """(whose furniture it has, its name), in any order."""
    if rng.random() < 0.15:
        found: list[tuple[tuple[str, ...], str]] = [(_ONE_ROOM, "living room 1"), (("bathroom",), "bathroom 1")]
    else:
        kinds = ["kitchen", *rng.choices([k for k in _ALWAYS if k != "kitchen"], k=rng.choice(_SIZES) - 1)]
        if rng.random() < 0.8 and "living room" not in kinds:
            kinds.append("living room")
        numbers: Counter[str] = Counter()
        found = []
        for kind in kinds:
            numbers[kind] += 1
            found.append(((kind,), f"{kind} {numbers[kind]}"))
    rng.shuffle(found)
    return found


def _furniture(kinds: Sequence[str], rng: Random) -> Iterator[tuple[str, int]]:
    counts: Counter[str] = Counter()
    for kind in kinds:
        for name, most in _ALWAYS[kind].items():
            counts[name] += rng.randint(1, most if len(kinds) == 1 else min(most, 3))
        for name, most in _AT_TIMES[kind].items():
            if rng.random() < (0.55 if len(kinds) == 1 else 0.3):
                counts[name] += rng.randint(1, most)
    found = list(counts.items())
    rng.shuffle(found)
    yield from found


# Errands -----------------------------------------------------------------------------------------

_AMOUNTS, _LONG = (1, 1, 2, 2, 3, 3, 3, 4, 4, 5, 6), (7, 8, 9)
_CLOSE = 0.4  # of the tasks: two of a kind that are wanted are in one place
_LAST, _STRANGE = 0.2, 0.3  # tasks in which what is wanted is in the last of its kind; with things of other homes


def make_errand(rng: Random, home: Mapping[str, Any], catalogue: Catalogue) -> Errand:
    """Something to a place that this home has; as a rule things that are used together."""
    there = {kind for kind, *_ in home["fixtures"]}
    places = [f for f in catalogue.furniture.values() if f.name in there and f.holds and f.seen]
    usually = ("kitchen table", "coffee table", "fridge", "dishwasher", "dishwasher")  # this has most to be learnt
    common = [f for f in places for _ in range(usually.count(f.name))]
    place = rng.choice(common if common and rng.random() < 0.6 else places)
    way = "in" if place.holds_in and (not place.holds_on or rng.random() < 0.5) else "on"
    usual = [e.things for e in load_content().errands.values()]
    kept = [name for name, thing in catalogue.things.items() if there & {*thing.kept} - {place.name}]
    if rng.random() < 0.15:  # what only other people's homes have
        kept += [name for name, thing in catalogue.things.items() if not thing.kept]
    things = list(rng.choice(usual)) if rng.random() < 0.55 else rng.sample(kept, 7)
    then = "turned on" if place.guarded and way == "in" and rng.random() < 0.9 else ""
    return Errand("lesson", way, place.name, tuple(things), then, (phrase(rng, way, bool(then)),))


def make_lesson_task(seed: int, number: int, pair: bool = False) -> Task:
    """A task of its own home; at times one of its things is nowhere. `pair`: two of one thing are all that it wants."""
    rng = Random(f"house lesson {seed} {number}")
    catalogue = load_content().catalogue
    home = make_home(rng, catalogue)
    errand = make_errand(rng, home, catalogue)
    amount = max(1, rng.choice(_AMOUNTS if rng.random() < 0.96 else _LONG) - bool(errand.then))
    wanted = {rng.choice(errand.things): 2} if pair else _wanted(errand.things, amount, rng)
    house = house_of(home, catalogue)
    said, order = asked(errand, wanted, rng)
    task = make_task(errand, house, catalogue, rng, f"lesson-house-{seed}-{number:06}", wanted, said)
    things = list(task.data["things"])
    if rng.random() < 0.06:
        gone = rng.choice(sorted(wanted))
        things = [entry for entry in things if entry[0] != gone]
    if rng.random() < _LAST:
        things = [_in_the_last(entry, house) if entry[0] in wanted else entry for entry in things]
    if rng.random() < _CLOSE:
        things = _side_by_side(things, [thing for thing, many in wanted.items() if many > 1])
    if rng.random() < _STRANGE:
        things += _strange(house, catalogue, rng)
    errands: Json = {"things": order, "way": errand.way, "place": errand.place, "runs": bool(errand.then)}
    return task._replace(data={**task.data, "house": home, "things": things, "asked": errands})


def _in_the_last(entry: Sequence[str], house: House) -> list[str]:
    """Not in the first fridge but in the second: whoever looks no further misses it."""
    thing, spot, way = entry
    kind = spot.rpartition(" ")[0]
    return [thing, max((f.name for f in house.fixtures if f.furniture.name == kind), key=_number), way]


def _side_by_side(things: Sequence[Sequence[str]], pairs: Sequence[str]) -> list[list[str]]:
    """Those of which two are wanted stand where the first of them stands: whoever holds one sees both still."""
    spots: dict[str, tuple[str, str]] = {}
    return [[t, *(spots.setdefault(t, (spot, way)) if t in pairs else (spot, way))] for t, spot, way in things]


def _number(name: str) -> int:
    return int(name.rpartition(" ")[2])


def _strange(house: House, catalogue: Catalogue, rng: Random) -> list[list[str]]:
    """Things that homes of ours have not, here and there."""
    spots = [f for f in house.fixtures if f.furniture.holds]
    names = [name for name, thing in catalogue.things.items() if not thing.kept]
    found = [(name, rng.choice(spots)) for name in rng.sample(names, rng.randint(1, 8))]
    return [[name, spot.name, "on" if spot.furniture.holds_on else "in"] for name, spot in found]


def _wanted(things: Sequence[str], amount: int, rng: Random) -> dict[str, int]:
    counts: Counter[str] = Counter()
    while sum(counts.values()) < amount:
        open_ = [t for t in things if counts[t] < 2]
        fresh = [t for t in open_ if not counts[t]]
        if not open_:
            break
        counts[rng.choice(fresh if fresh and rng.random() < 0.6 else open_)] += 1
    return dict(counts)

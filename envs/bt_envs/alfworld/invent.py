"""Invents homes with a task each, by split and number, as problems in ALFWorld's PDDL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from random import Random
from typing import NamedTuple

from bt_envs.alfworld.game import KINDS, TREATED, Aim
from bt_runtime.language import project
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.kinds.shape import SCALAR, closed
from bt_runtime.skills.worlds.content import TEXTS, by_name, check_of, read_yaml, texts, word_lists
from bt_runtime.skills.worlds.registry import Split, in_split
from bt_runtime.types import Task

MOST, FURNITURE = 30, 200  # pieces of a kind, and of furniture, in a room
_ABLE = ("cleanable", "heatable", "coolable", "sliceable", "toggleable", "isReceptacleObject")
_CELLS = range(1, 9)  # cells of a room
_SHARP = ("knife", "butterknife")
_TRIES = 200  # rooms, until one has a task of the kind
_PIECES = by_name({"type": SCALAR})
_PLACE = {"type": "object", **closed({"opens": {"type": "boolean"}, "holds": TEXTS}, ("holds",))}
_ROOM = {"type": "object", **closed({"furniture": _PIECES, "things": _PIECES}, ("furniture", "things"))}
_CHECK = check_of(
    "a file of homes",
    {"groups": by_name(TEXTS), "able": by_name(TEXTS), "receptacles": by_name(_PLACE), "rooms": by_name(_ROOM)},
    ("receptacles", "rooms"),
)


class InventedRoom(NamedTuple):
    furniture: Mapping[str, tuple[int, int]]
    things: Mapping[str, tuple[int, int]]


class SceneBook(NamedTuple):
    holds: Mapping[str, frozenset[str]]  # receptacle → things
    opens: frozenset[str]
    able: Mapping[str, frozenset[str]]  # heatable … → things
    rooms: Mapping[str, InventedRoom]


class Home(NamedTuple):
    """An invented home; its ids are in ALFWorld's form."""

    places: Mapping[str, str]  # id → kind
    things: Mapping[str, tuple[str, str]]  # id → kind, the id of where it lies
    opens: frozenset[str]  # ids of places
    start: str = ""  # where the agent stands, at none of the places
    before: Mapping[str, str] = {}  # id of a place → where one stands before it


tasks = partial(word_lists, "alfworld/tasks")


@lru_cache(maxsize=4)
def book(path: Path) -> SceneBook:
    found = read_yaml(path, _CHECK).data
    groups, able = ({name: texts(each) for name, each in found.get(key, {}).items()} for key in ("groups", "able"))
    places = found["receptacles"]
    holds = {kind: _spread(texts(fields["holds"]), groups, path) for kind, fields in places.items()}
    opens = frozenset(kind for kind, fields in places.items() if fields.get("opens"))
    rooms = {
        name: InventedRoom(
            *({kind: _range(each, path) for kind, each in room[key].items()} for key in InventedRoom._fields)
        )
        for name, room in found["rooms"].items()
    }
    strange = [kind for room in rooms.values() for kind in room.furniture if kind not in holds]
    if strange or not rooms:
        raise BtError(f"{path}: rooms are furnished with {strange or 'nothing'}", "name it under `receptacles`")
    if any(sum(high for _, high in room.furniture.values()) > FURNITURE for room in rooms.values()):
        raise BtError(f"{path}: a room has more than {FURNITURE} pieces of furniture", "give it fewer")
    return SceneBook(holds, opens, {name: _spread(able.get(name, ()), groups, path) for name in _ABLE}, rooms)


def _spread(named: Sequence[str], groups: Mapping[str, tuple[str, ...]], path: Path) -> frozenset[str]:
    """Replaces group names by their members."""
    kinds = frozenset(kind for name in named for kind in groups.get(name, (name,)))
    if not all(kind.isascii() and kind.isalpha() for kind in kinds):
        raise BtError(f"{path}: kinds of things are words of letters, not {sorted(kinds)}", "write `desklamp`")
    return kinds


def _range(value: object, path: Path) -> tuple[int, int]:
    low, _, high = str(value).partition("-")
    if not low.isdecimal() or not (high or low).isdecimal() or not int(low) <= int(high or low) <= MOST:
        raise BtError(f"{path}: `{value}` is no number of pieces", f"write 2, or 1-4; {MOST} at most")
    return int(low), int(high or low)


def task(split: Split, seed: int, kind: str, number: int) -> Task:
    """Invents a task, equal for equal arguments. Each goal belongs to one split."""
    path = project.find("envs", "alfworld/homes")
    if path is None:
        raise BtError("envs/alfworld/homes.yaml is not there", "install bt_runtime again")
    known, rng = book(path), Random(f"alfworld {split} {seed} {kind} {number}")
    for _ in range(_TRIES):
        home = _home(known, known.rooms[rng.choice(list(known.rooms))], rng)
        goals = [g for g in goals_of(known, home, kind) if in_split(f"{kind} {' '.join(g)}", split)]
        if goals:
            thing, place = rng.choice(goals)
            said = rng.choice(tasks()[kind]["said"])
            name = f"alfworld-{split}-{seed}-{number:04}"
            return written(name, known, located(home, rng), Aim(kind, thing, place), said)
    raise BtError(f"no room of {path} has a task `{kind}` for {split}", "give its rooms more things and furniture")


def _home(known: SceneBook, room: InventedRoom, rng: Random) -> Home:
    places = {make_id(kind, rng): kind for kind, span in room.furniture.items() for _ in range(rng.randint(*span))}
    lying = {}
    for kind, span in room.things.items():
        fit = [i for i, place in places.items() if kind in known.holds[place]]
        for _ in range(rng.randint(*span) if fit else 0):
            lying[make_id(kind, rng)] = (kind, rng.choice(fit))
    return Home(places, lying, frozenset(i for i, kind in places.items() if kind in known.opens))


def located(home: Home, rng: Random) -> Home:
    """Gives each piece of furniture a place to stand before, and the agent one apart from all of them."""
    spots = [f"loc_bar_{x}_bar_{z}_bar_{turn}_bar_45" for x in _CELLS for z in _CELLS for turn in range(4)]
    start, *before = rng.sample(spots, len(home.places) + 1)
    return home._replace(start=start, before=dict(zip(home.places, before, strict=True)))


def make_id(kind: str, rng: Random) -> str:
    at = ("".join((rng.choice(("_plus_", "_minus_")), f"{rng.randrange(500) / 100:05.2f}")) for _ in range(3))
    where = "_bar_".join(at).replace(".", "_dot_")
    return f"{kind.removesuffix('basin')}_bar_{where}_bar_{kind}" if kind.endswith("basin") else f"{kind}_bar_{where}"


def goals_of(known: SceneBook, home: Home, kind: str) -> Iterator[tuple[str, str]]:
    """Returns the kinds of things and places with a goal that is not reached yet, but reachable."""
    kinds = sorted({thing for thing, _ in home.things.values()})
    places = sorted(set(home.places.values()))
    lamps = known.able["toggleable"]
    for thing in (k for k in kinds if k not in lamps):
        if kind == KINDS[1]:
            yield from ((thing, lamp) for lamp in kinds if lamp in lamps)
        elif kind not in TREATED or (thing in known.able[TREATED[kind].able] and TREATED[kind].tool in places):
            lying = [home.places[place] for each, place in home.things.values() if each == thing]
            enough = len(lying) >= (2 if kind == KINDS[5] else 1)
            yield from ((thing, p) for p in places if enough and thing in known.holds[p] and p not in lying)


def written(name: str, known: SceneBook, home: Home, aim: Aim, said: str) -> Task:
    """Writes an invented home as a task with its PDDL problem. `said` is the goal, with {o} for the object and {r}
    for the receptacle."""
    lines = [f"(define (problem {name.replace('-', '_')})", "(:domain alfred)", "(:objects", "agent1 - agent"]
    lines += [f"{k}Type - otype" for k in sorted({k for k, _ in home.things.values()} | {*_SHARP})]
    tools = [treatment.tool for treatment in TREATED.values()]  # the rules name them, whether they are there or not
    lines += [f"{k}Type - rtype" for k in sorted({*home.places.values(), *tools})]
    lines += [f"{i} - object" for i in home.things] + [f"{i} - receptacle" for i in home.places]
    lines += [f"{spot} - location" for spot in dict.fromkeys((home.start, *home.before.values()))]
    lines += [")", "(:init", f"(atLocation agent1 {home.start})"]
    for place, kind in home.places.items():
        lines += [f"(receptacleType {place} {kind}Type)", f"(receptacleAtLocation {place} {home.before[place]})"]
        lines += [f"(openable {place})"] if place in home.opens else []
    here = sorted({kind for kind, _ in home.things.values()})
    for kind in sorted(set(home.places.values())):
        lines += [f"(canContain {kind}Type {thing}Type)" for thing in here if thing in known.holds[kind]]
    for thing, (kind, place) in home.things.items():
        lines += [f"(objectType {thing} {kind}Type)", f"(inReceptacle {thing} {place})"]
        lines += [f"(objectAtLocation {thing} {home.before[place]})"]
        lines += [f"({able} {thing})" for able, kinds in known.able.items() if kind in kinds]
        lines += [f"(pickupable {thing})"] if kind not in known.able["toggleable"] else []
    wanted, goal = (text.format(o=aim.thing, r=aim.place) for text in (tasks()[aim.kind]["goal"][0], said))
    problem = "\n".join((*lines, ")", "")) + wanted
    return Task(name, aim.kind, goal, {"problem": problem, "goal": goal})

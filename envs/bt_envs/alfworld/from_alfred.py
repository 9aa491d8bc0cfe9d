"""Converts ALFRED's tasks to games of ALFWorld, by writing the room's data as a problem.

Facts missing in the data (docs/data.md) are guessed, so a converted game may differ from ALFWorld's own in wording."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random

from bt_envs.alfred import kinds, trials
from bt_envs.alfred.room import Room, RoomThing
from bt_envs.alfred.support import support
from bt_envs.alfworld.game import KINDS, TREATED, Aim
from bt_envs.alfworld.invent import Home, SceneBook, book, tasks, written
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import packaged
from bt_runtime.types import Json, Task

_CLOSED = ("Fridge", "Cabinet", "Microwave", "Drawer", "Safe")  # at the start, as far as the layout has them
_SIGNS = {"|": "_bar_", "+": "_plus_", "-": "_minus_", ".": "_dot_"}
_STANDS = {"DeskLamp": "Vase"}  # where the one may stand, so may the other
_LAMP = "DeskLamp"  # nothing holds a floor lamp: such a task cannot be won


def games(data: Path, seed: int, split: str) -> Iterator[Task]:
    """Yields the playable, winnable tasks of `alfred/` in the data folder, in an order decided by the seed."""
    if split not in trials.SPLITS:
        raise BtError(f"ALFRED's data have no split `{split}`", f"they have: {', '.join(trials.SPLITS)}")
    rows = list(trials.rows(data, split))
    Random(f"alfworld alfred {seed}").shuffle(rows)
    found = (game(row, trials.layouts(data)) for row in rows)
    return (task for task in found if task is not None)


def game(row: trials.Row, layout: Mapping[str, Json]) -> Task | None:
    """Builds the task of one trial. Returns None for tasks that ALFWorld leaves out (slices, movable receptacles)
    and for unwinnable ones."""
    params, kind = row["pddl_params"], row["task_type"]
    if kind not in KINDS or params["object_sliced"] or params["toggle_target"] not in ("", _LAMP):
        return None
    room = trials.room_of(row, layout)
    place = params["toggle_target"] or params["parent_target"]
    aim = Aim(kind, params["object_target"].lower(), place.lower())
    home = _home(room, layout[f"{room.name}-openable"])
    known = _holding(home, aim)
    if not _winnable(known, home, aim):
        return None
    name = str(row.get("path") or row["task_id"])
    said = Random(f"alfworld {row['task_id']}").choice(tasks()[kind]["said"])
    return written(name, known, home, aim, said)


def _home(room: Room, views: Mapping[str, Json]) -> Home:
    furniture = {t.id: t for t in room.things if t.kind in kinds.FURNITURE - {*kinds.INHERITED.values()}}
    where = [(t.id, t.kind, t.at) for t in furniture.values()]
    lying = {}
    for thing in room.things:
        if thing.kind in kinds.PICKUPABLE or thing.kind == _LAMP:
            at = _under(thing, room) or support(_STANDS.get(thing.kind, thing.kind), thing.at, where)
            if at in furniture:
                lying[_id(thing.id)] = (thing.kind.lower(), _id(at))
    x, z, turn = room.start
    return Home(
        {_id(i): t.kind.lower() for i, t in furniture.items()},
        lying,
        frozenset(_id(i) for i, t in furniture.items() if t.kind in _CLOSED and i in views),
        _spot(x, z, turn, 30),
        {_id(i): _spot(*views[i]) if i in views else _nearest(room, t) for i, t in furniture.items()},
    )


def _under(thing: RoomThing, room: Room) -> str | None:
    """The furniture below a thing, also when the thing lies in a cup there."""
    parent = room.thing(thing.parent) if thing.parent is not None else None
    return None if parent is None else parent.id if parent.kind in kinds.FURNITURE else _under(parent, room)


def _nearest(room: Room, place: RoomThing) -> str:
    """Returns the standing place nearest to a thing, turned to it, for things without a view in the layout."""
    x, z = min(room.stands, key=lambda spot: (spot[0] - place.at.x) ** 2 + (spot[1] - place.at.z) ** 2)
    right, ahead = place.at.x - x, place.at.z - z
    sideways = abs(right) > abs(ahead)
    return _spot(x, z, (90 if right > 0 else 270) if sideways else (0 if ahead > 0 else 180), 30)


def _spot(x: float, z: float, turn: float, horizon: float) -> str:
    """Returns a location id; positions count in quarter metres, angles in quarter turns."""
    return _id(f"loc|{round(4 * x)}|{round(4 * z)}|{round(turn / 90)}|{round(horizon)}")


def _id(said: str) -> str:
    return "".join(_SIGNS.get(sign, sign) for sign in said)


def _holding(home: Home, aim: Aim) -> SceneBook:
    """Returns what each piece of furniture can hold: as in invented homes, and besides what the task puts there."""
    known = book(packaged("envs") / "alfworld" / "homes.yaml")
    holds = {kind: set(known.holds.get(kind, ())) for kind in home.places.values()}
    for kind, place in home.things.values():
        holds[home.places[place]].add(kind)
    if aim.place in holds:
        holds[aim.place].add(aim.thing)
    return known._replace(holds={kind: frozenset(things) for kind, things in holds.items()})


def _winnable(known: SceneBook, home: Home, aim: Aim) -> bool:
    """True when the room holds everything that the goal names, and the thing can be treated as the goal says."""
    things = Counter(kind for kind, _ in home.things.values())
    treatment = TREATED.get(aim.kind)
    able = treatment is None or (treatment.tool in home.places.values() and aim.thing in known.able[treatment.able])
    there = things[aim.place] > 0 if aim.kind == KINDS[1] else aim.place in home.places.values()
    return able and there and things[aim.thing] >= (2 if aim.kind == KINDS[5] else 1)

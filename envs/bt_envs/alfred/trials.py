"""Reads ALFRED's own recorded tasks and scenes from `alfred/` in the data folder; they are never shipped."""

from __future__ import annotations

import gzip
import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from bt_envs.alfred import kinds
from bt_envs.alfred.room import Point, Room, RoomThing, make_id
from bt_envs.alfred.support import support
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.skills.worlds.content import read_json
from bt_runtime.skills.worlds.entries import entries
from bt_runtime.skills.worlds.outline import outline
from bt_runtime.types import Json

LAYOUTS = "thor_layouts_120scenes.json.gz"
SPLITS = {"train": "json_2.1.0_train.jsonl.gz", "eval": "json_2.1.0_valid_seen.jsonl.gz"}
SCENES = ((1, "kitchen"), (201, "living room"), (301, "bedroom"), (401, "bathroom"))
SAME = 0.06  # metres: the plan and the pose speak of one thing
INSIDE = 0.11  # metres across: it stands in that cup
TRIAL = "traj_data.json"
NEEDED = ("task_id", "task_type", "pddl_params", "scene")
HINT = "ALFRED's tasks are folders of traj_data.json, or a file with one in each line"
Row = Mapping[str, Any]


def rows(data: Path, split: str) -> Iterator[Row]:
    """The tasks of one split, one dictionary each."""
    path = data / "alfred" / SPLITS[split]
    if not path.is_file():
        raise BtError(f"no ALFRED data at {path}", "name the data folder: --data DIR, or BTR_DATA")
    return rows_of(path)


def is_ours(path: Path) -> bool:
    """True for a file with a task in each line, a `traj_data.json`, or a folder with such files at any depth."""
    if path.is_dir():
        return next(_trials(path), None) is not None
    return outline(path).has("pddl_params", "scene")


def rows_of(place: Path) -> Iterator[Row]:
    if place.is_dir():
        yield from (_row(read_json(path, HINT), path) for path in sorted(_trials(place)))
    elif outline(place).rows:
        yield from (_row(entry, place) for entry in entries(place, HINT))
    else:
        yield _row(read_json(place, HINT), place)


def _trials(place: Path) -> Iterator[Path]:
    return (Path(folder) / TRIAL for folder, _, names in os.walk(place) if TRIAL in names)


def _row(found: Any, path: Path) -> Row:
    """Converts a recorded task to the flat form: ALFRED's files nest it in `plan` and `turk_annotations`."""
    try:
        flat = {} if "high_pddl" in found else {"high_pddl": found["plan"]["high_pddl"]}
        flat |= {} if "anns" in found else {"anns": found["turk_annotations"]["anns"]}
        return {**{name: found[name] for name in NEEDED}, **found, **flat}
    except (KeyError, TypeError) as problem:
        raise BtError(f"{path} holds no task of ALFRED: {problem!r}", HINT) from problem


def sentences(row: Row) -> list[str]:
    """In how many ways people have said this task, as they wrote them; none twice."""
    return list(dict.fromkeys(each["task_desc"].strip() for each in row["anns"]))


@lru_cache(maxsize=2)
def layouts(data: Path) -> Mapping[str, Json]:
    path = data / "alfred" / LAYOUTS
    if not path.is_file():
        raise BtError(
            f"there are no layouts of ALFRED's scenes at {path}", "name the data folder: --data DIR, or BTR_DATA"
        )
    with gzip.open(path, "rt", encoding="utf-8") as text:
        found: Mapping[str, Json] = json.load(text)
    return found


def room_of(row: Row, layout: Mapping[str, Json]) -> Room:
    """Builds the room of a scene: receptacles and standing places from the layout, things from their recorded poses."""
    name = row["scene"]["floor_plan"]
    if f"{name}-openable" not in layout:
        raise BtError(f"the data describes no scene {name}", "use another task")
    places = _Places(layout[f"{name}-openable"], layout[f"{name}-objects"])
    parents = places.learn(row["high_pddl"])
    things = [*places.fixed]
    furniture = [(t.id, t.kind, t.at) for t in places.fixed]
    for thing_id, at in _things(row).items():
        kind = kinds.id_kind(thing_id)
        parent = parents.get(thing_id) or support(kind, at, furniture)
        things.append(RoomThing(thing_id, kind, at, parent))
    things = [_in_dish(thing, things, parents) for thing in things]
    start = row["scene"]["init_action"]
    number = row["scene"]["scene_num"]
    scene = next(word for first, word in reversed(SCENES) if number >= first)
    stands = tuple(sorted(places.stands | {(start["x"], start["z"])}))
    return Room(name, scene, tuple(things), stands, (start["x"], start["z"], float(start["rotation"])))


def _things(row: Row) -> dict[str, Point]:
    """Returns every object with a pose, under the plan's name, and the few that only the plan mentions."""
    named = _named(row["high_pddl"])
    found: dict[str, Point] = {}
    for pose in row["scene"]["object_poses"]:
        kind, place = pose["objectName"].split("_")[0], pose["position"]
        at = Point(place["x"], place["y"], place["z"])
        same = (i for i, other in named.items() if kinds.id_kind(i) == kind and math.dist(at, other) < SAME)
        found.setdefault(next(same, make_id(kind, at)), at)
    return {**named, **found}


def _in_dish(thing: RoomThing, things: list[RoomThing], parents: Mapping[str, str]) -> RoomThing:
    """True for a spoon with a cup at the same position: it is in the cup, unless the plan says otherwise."""
    dishes = [t for t in things if t.kind in kinds.MOVABLE_RECEPTACLES and t.id != thing.id]
    near = (t for t in dishes if t.at.flat(thing.at) < INSIDE and abs(t.at.y - thing.at.y) < 0.15)
    dish = next((t for t in near if kinds.fits(thing.kind, t.kind)), None)
    if dish is None or thing.id in parents or thing.kind in kinds.MOVABLE_RECEPTACLES:
        return thing
    return replace(thing, parent=dish.id)


def _named(plan: Json) -> dict[str, Point]:
    """Returns the objects that the plan picks up, by the ids that it uses."""
    found: dict[str, Point] = {}
    for step in (s["planner_action"] for s in plan):
        target = step.get("objectId", "")
        if step["action"] in ("PickupObject", "SliceObject") and target.count("|") == 3:
            found.setdefault(target, Point(*(float(part) for part in target.split("|")[1:4])))
    return found


class _Places:
    """The furniture of a scene, as far as the data names it."""

    def __init__(self, views: Mapping[str, Json], present: Json) -> None:
        self.fixed: list[RoomThing] = []
        self.stands: set[tuple[float, float]] = set()
        for object_id, (x, z, _, _) in views.items():
            self.add(object_id)
            self.stands.add((float(x), float(z)))
        for basin in [t for t in self.fixed if t.kind == "SinkBasin"]:
            self.add(basin.id.removesuffix("|SinkBasin"))
            if "Faucet" in present:
                self.add(make_id("Faucet", Point(basin.at.x, basin.at.y + 0.2, basin.at.z)))

    def add(self, object_id: str) -> str:
        if all(t.id != object_id for t in self.fixed):
            kind = kinds.id_kind(object_id)
            x, y, z = (float(part) for part in object_id.split("|")[1:4])
            self.fixed.append(RoomThing(object_id, kind, Point(x, y, z)))
        return object_id

    def learn(self, plan: Json) -> dict[str, str]:
        """Adds the furniture, positions and containment that only the plan mentions; returns the receptacle of each
        thing."""
        parents: dict[str, str] = {}
        for step in (s["planner_action"] for s in plan):
            if "location" in step:
                _, x, z, _, _ = step["location"].split("|")
                self.stands.add((int(x) / 4, int(z) / 4))
            for key in ("receptacleObjectId", "objectId"):
                target = step.get(key, "")
                if kinds.id_kind(target) in kinds.FURNITURE | kinds.FIXED:
                    self.add(target)
            if step["action"] == "PickupObject" and "coordinateReceptacleObjectId" in step:
                parent = self.at(*step["coordinateReceptacleObjectId"])
                if parent is not None:
                    parents[step["objectId"]] = parent
        return parents

    def at(self, kind: str, box: Json) -> str | None:
        """The receptacle of this kind at these quarter-metre coordinates (x, x, z, z, y, y)."""
        place = Point(box[0] / 4, box[4] / 4, box[2] / 4)
        if kind not in kinds.FURNITURE:
            return None
        same = [t for t in self.fixed if t.kind == kind and math.dist(t.at, place) < 0.1]
        return same[0].id if same else self.add(make_id(kind, place))

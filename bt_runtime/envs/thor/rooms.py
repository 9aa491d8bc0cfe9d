"""Rooms written as YAML in `envs/rooms/`: read with every fault at once, each with its line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from bt_runtime import project
from bt_runtime.envs.thor import kinds
from bt_runtime.envs.thor.room import Point, Room, Thing, make_id, spread, stands_of
from bt_runtime.faults.diagnostic import BtError, Diagnostic, Faults, nearest
from bt_runtime.language import source
from bt_runtime.types import Json

FOLDER = "rooms"
SCENES = ("kitchen", "living room", "bedroom", "bathroom")
FIELDS = {"version", "room", "about", "scene", "size", "start", "furniture"}
PIECE = {"at", "height", "holds", "open"}
FAR = 50  # metres: a room is not larger, and nothing stands farther away
HEIGHTS = {"Cabinet": 1.6, "Shelf": 1.3, "Drawer": 0.5, "Fridge": 1.0, "Safe": 0.5, "Faucet": 1.1, "Microwave": 1.1}


class _Reader:
    """Collects faults with their place while a room is put together."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.faults: list[Diagnostic] = []
        self.things: list[Thing] = []

    def fault(self, node: source.Node, message: str, help: str = "") -> None:
        self.faults.append(Diagnostic("BT750", message, self.file, node.span, help=help))

    def number(self, value: Json) -> bool:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= FAR

    def pair(self, node: source.Node, value: Json, what: str) -> tuple[float, float] | None:
        if isinstance(value, list) and len(value) == 2 and all(map(self.number, value)):
            return float(value[0]), float(value[1])
        self.fault(node, f"`{what}` takes two numbers in metres, at most {FAR:g}", "for example [2.0, 1.5]")
        return None

    def known(self, node: source.Node, kind: Json) -> bool:
        if isinstance(kind, str) and kind in kinds.ALL:
            return True
        guess = nearest(str(kind), kinds.ALL)
        self.fault(node, f"no kind of thing is called `{kind}`", f"did you mean `{guess}`?" if guess else "")
        return False

    def add(self, kind: str, at: Point, parent: str | None = None, open: bool = False) -> Thing:
        taken = {t.id for t in self.things}
        while make_id(kind, at) in taken:
            at = Point(round(at.x + 0.05, 3), at.y, at.z)
        thing = Thing(make_id(kind, at), kind, at, parent, open)
        self.things.append(thing)
        return thing

    def piece(self, node: source.Node, entry: Json) -> None:
        if not (isinstance(entry, dict) and len(entry) == 1 and isinstance(next(iter(entry.values())), dict)):
            self.fault(node, "a piece of furniture is a kind with its fields", "- Fridge: {at: [0.3, 2.7]}")
            return
        (kind, fields), *_ = entry.items()
        if not self.known(node, kind):
            return
        for extra in sorted(set(fields) - PIECE):
            self.fault(node, f"`{kind}` has no field `{extra}`", f"fields here: {', '.join(sorted(PIECE))}")
        at = self.pair(node, fields.get("at"), "at")
        height = fields.get("height", HEIGHTS.get(kind, 0.8))
        if not self.number(height):
            self.fault(node, "`height` is a number of metres")
        elif at is not None:
            thing = self.add(kind, Point(at[0], float(height), at[1]), open=bool(fields.get("open", False)))
            self.contents(node, thing, fields.get("holds", []))

    def contents(self, node: source.Node, receptacle: Thing, holds: Json) -> None:
        if not isinstance(holds, list):
            self.fault(node, "`holds` is a list of kinds", "holds: [Mug, Plate]")
            return
        for index, kind in enumerate(holds):
            if not self.known(node, kind):
                continue
            if not kinds.fits(kind, receptacle.kind):
                self.fault(node, f"{receptacle.kind} does not take {kind}")
                continue
            self.add(kind, spread(receptacle.at, index), receptacle.id)


def parse(text: str, file: str = "room.yaml") -> Room:
    """The room that this text describes; raises Faults with all of them."""
    return _room(source.parse(text, file))


def _room(document: source.Document) -> Room:
    top, file, text = document.sound(), document.name, document.text
    reader = _Reader(file)
    if not isinstance(top, source.YamlMap):
        reader.fault(top, "a room is a mapping", f"fields here: {', '.join(sorted(FIELDS))}")
        raise Faults(reader.faults, {file: text})
    data: dict[str, Any] = top.data()
    nodes = {key.text: value for key, value in top}
    for extra in sorted(str(key) for key in set(data) - FIELDS):
        reader.fault(nodes.get(extra, top), f"a room has no field `{extra}`", f"did you mean {nearest(extra, FIELDS)}?")
    if data.get("version") != 1:
        reader.fault(nodes.get("version", top), "this reader knows version 1", "version: 1")
    if data.get("scene") not in SCENES:
        reader.fault(nodes.get("scene", top), "`scene` names the sort of room", f"one of {', '.join(SCENES)}")
    size = reader.pair(nodes.get("size", top), data.get("size"), "size")
    start = data.get("start", {})
    if not isinstance(start, dict):
        reader.fault(nodes.get("start", top), "`start` has `at` and `turn`", "start: {at: [2.0, 1.0], turn: 0}")
        start = {}
    at = reader.pair(nodes.get("start", top), start.get("at", [0, 0]), "at")
    furniture, pieces = data.get("furniture"), nodes.get("furniture")
    if not isinstance(furniture, list) or not furniture or not isinstance(pieces, source.YamlList):
        reader.fault(nodes.get("furniture", top), "`furniture` lists at least one piece")
    else:
        for node, entry in zip(pieces, furniture, strict=True):
            reader.piece(node, entry)
    stands = stands_of(size, reader.things) if size else ()
    if size and not stands:
        reader.fault(nodes.get("size", top), "nothing can stand in this room", "make it larger or move the furniture")
    if reader.faults or at is None:
        raise Faults(reader.faults, {file: text})
    turn = float(start.get("turn", 0)) if reader.number(start.get("turn", 0)) else 0.0
    name = str(data.get("room", Path(file).stem))
    return Room(name, data["scene"], tuple(reader.things), stands, (*at, turn), str(data.get("about", "")))


def paths(root: Path | None = None) -> Iterator[Path]:
    """Every room file: the project's own, then the shipped ones that it does not replace."""
    seen: set[str] = set()
    for folder in project.folders("envs", root):
        for path in sorted((folder / FOLDER).glob("*.yaml")):
            if path.stem not in seen:
                seen.add(path.stem)
                yield path


def read_rooms(root: Path | None = None) -> Mapping[str, Room]:
    """All rooms by file name."""
    found = {path.stem: _cached(path, path.stat().st_mtime_ns) for path in paths(root)}
    if not found:
        raise BtError("no rooms were found", f"put one into envs/{FOLDER}/, or run `btr init`")
    return found


def read_room(name: str, root: Path | None = None) -> Room:
    chosen = {path.stem: path for path in paths(root)}
    if name not in chosen:
        guess = nearest(name, chosen)
        hint = f"did you mean `{guess}`?" if guess else f"rooms here: {', '.join(chosen)}"
        raise BtError(f"no room is called `{name}`", hint)
    return _cached(chosen[name], chosen[name].stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _cached(path: Path, changed: int) -> Room:
    return _room(source.read(path))

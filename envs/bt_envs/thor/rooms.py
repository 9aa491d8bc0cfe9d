"""Reads the rooms of `envs/rooms/`, written in YAML; all faults are reported at once, each with its line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from bt_envs.alfred import kinds
from bt_envs.alfred.room import Point, Room, RoomThing, make_id, spread, stands_of
from bt_runtime.language import project, source
from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.language.kinds.shape import Schema, closed
from bt_runtime.skills.worlds.content import TEXT, Content, check_of

FOLDER = "rooms"
SCENES = ("kitchen", "living room", "bedroom", "bathroom")
FAR = 50  # metres: a room is not larger, and nothing stands farther away
HEIGHTS = {"Cabinet": 1.6, "Shelf": 1.3, "Drawer": 0.5, "Fridge": 1.0, "Safe": 0.5, "Faucet": 1.1, "Microwave": 1.1}

_METRES: Schema = {"type": "number", "minimum": -FAR, "maximum": FAR}


def _pair(name: str) -> Schema:
    said = f"`{name}` takes two numbers in metres, at most {FAR:g}, for example [2.0, 1.5]"
    return {"type": "array", "items": _METRES, "minItems": 2, "maxItems": 2, "errorMessage": said}


_PIECE = closed({
    "at": _pair("at"),
    "height": _METRES,
    "holds": {"type": "array", "items": TEXT, "errorMessage": "`holds` is a list of kinds: [Mug, Plate]"},
    "open": {"type": "boolean"},
}, ("at",))  # fmt: skip
_FURNITURE: Schema = {
    "type": "object", "minProperties": 1, "maxProperties": 1,
    "errorMessage": "a piece of furniture is a kind with its fields: `Fridge: {at: [0.3, 2.7]}`",
    "additionalProperties": {"type": "object", "$comment": "a piece of furniture", **_PIECE},
}  # fmt: skip
_START = closed({"at": _pair("at"), "turn": {"type": "number"}}, ())
_SCENE: Schema = {"enum": list(SCENES), "errorMessage": f"`scene` names the sort of room: {', '.join(SCENES)}"}
_PIECES: Schema = {"type": "array", "minItems": 1, "items": _FURNITURE}
_FIELDS: Schema = {
    "room": TEXT, "scene": _SCENE, "size": _pair("size"), "start": {"type": "object", **_START}, "furniture": _PIECES,
}  # fmt: skip
CHECK = check_of("a room", _FIELDS, ("scene", "size", "furniture"))


class _RoomReader:
    """Collects faults with their place while the furniture of a room is put together."""

    def __init__(self, content: Content) -> None:
        self.content = content
        self.things: list[RoomThing] = []

    def known(self, kind: str, *at: str | int) -> bool:
        if kind in kinds.ALL:
            return True
        self.content.fault(f"no kind of thing is called `{kind}`", did_you_mean(kind, kinds.ALL), *at)
        return False

    def add(self, kind: str, at: Point, parent: str | None = None, open: bool = False) -> RoomThing:
        taken = {t.id for t in self.things}
        while make_id(kind, at) in taken:
            at = Point(round(at.x + 0.05, 3), at.y, at.z)
        thing = RoomThing(make_id(kind, at), kind, at, parent, open)
        self.things.append(thing)
        return thing

    def piece(self, i: int, kind: str, fields: Mapping[str, Any]) -> None:
        if not self.known(kind, "furniture", i):
            return
        (x, z), y = fields["at"], fields.get("height", HEIGHTS.get(kind, 0.8))
        thing = self.add(kind, Point(float(x), float(y), float(z)), open=fields.get("open", False))
        for index, held in enumerate(map(str, fields.get("holds", ()))):
            place = ("furniture", i, kind, "holds", index)
            if self.known(held, *place) and not kinds.fits(held, kind):
                self.content.fault(f"{kind} does not take {held}", "", *place)
            elif held in kinds.ALL:
                self.add(held, spread(thing.at, index), thing.id)


def parse(text: str, file: str = "room.yaml") -> Room:
    """Parses a room; raises Faults with all of its faults."""
    return _room(source.parse(text, file))


def _room(document: source.Document) -> Room:
    content = Content(document, CHECK)
    if "" in content.wrong or "furniture" in content.wrong:
        content.sound()
    data, reader = content.data, _RoomReader(content)
    for i, piece in enumerate(data["furniture"]):
        for kind, fields in piece.items():
            reader.piece(i, kind, fields)
    stands = stands_of((data["size"][0], data["size"][1]), reader.things) if "size" not in content.wrong else ()
    if not stands and "size" not in content.wrong:
        content.fault("nothing can stand in this room", "make it larger or move the furniture", "size")
    content.sound()
    start = data.get("start", {})
    x, z = start.get("at", (0, 0))
    name = str(data.get("room", Path(document.name).stem))
    place = (float(x), float(z), float(start.get("turn", 0)))
    return Room(name, data["scene"], tuple(reader.things), stands, place, str(data.get("about") or ""))


def paths(root: Path | None = None) -> Iterator[Path]:
    """Yields every room file: the project's own, then the shipped ones that it does not replace."""
    seen: set[str] = set()
    for folder in project.folders("envs", root):
        for path in sorted((folder / FOLDER).glob("*.yaml")):
            if path.stem not in seen:
                seen.add(path.stem)
                yield path


def read_rooms(root: Path | None = None) -> Mapping[str, Room]:
    """Returns all rooms by file name."""
    found = {path.stem: _cached(path, path.stat().st_mtime_ns) for path in paths(root)}
    if not found:
        raise BtError("no rooms were found", f"put one into envs/{FOLDER}/, or run `btr init`")
    return found


def read_room(name: str, root: Path | None = None) -> Room:
    chosen = {path.stem: path for path in paths(root)}
    if name not in chosen:
        hint = did_you_mean(name, chosen, f"rooms here: {', '.join(chosen)}")
        raise BtError(f"no room is called `{name}`", hint)
    return _cached(chosen[name], chosen[name].stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _cached(path: Path, changed: int) -> Room:
    return _room(source.read(path))

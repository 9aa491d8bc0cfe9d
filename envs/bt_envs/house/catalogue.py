"""Reads the kinds of furniture and things from envs/house/things.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.language.kinds.shape import closed
from bt_runtime.skills.worlds.content import OPEN, TEXT, TEXTS, Content, by_name, check_of, read_yaml, texts

MOST = 100  # things of one kind in a home
_WORDS = ("seen", "opens", "into", "onto", "switch", "guarded", "wide")
_COUNT = {"type": "integer", "minimum": 0, "maximum": MOST,
          "errorMessage": f"`up_to` is a whole number: a home has at most {MOST} of a kind"}  # fmt: skip
_ITEM = closed({"kept": TEXTS, "up_to": _COUNT, "opens": {"type": "boolean"}}, ())
_FIELDS = {
    "fixtures": by_name(OPEN),
    "items": by_name({"type": ["object", "null"], **_ITEM}),
    "changes": by_name({"type": "object", **closed({"when": TEXT, "makes": TEXT, "ends": TEXT}, ("when",))}),
    "rooms": TEXTS,
    "aliases": by_name(TEXT),
}
CHECK = check_of("what a home holds", _FIELDS, ("fixtures", "items"))


@dataclass(frozen=True, slots=True)
class Furniture:
    """A class of things that stay where they are."""

    name: str
    seen: bool = False  # a glance round the room shows it
    opens: bool = False
    holds_in: bool = False
    holds_on: bool = False
    switch: bool = False
    guarded: bool = False  # runs only when shut, opens only when off
    width: float = 0.8

    @property
    def holds(self) -> bool:
        return self.holds_in or self.holds_on


@dataclass(frozen=True, slots=True)
class Thing:
    """A class of things that a hand can carry."""

    name: str
    kept: tuple[str, ...] = ()  # furniture where it is likely, likeliest first
    up_to: int = 0  # how many of them a home may have
    opens: bool = False


class Change(NamedTuple):
    """The state change that an appliance applies to the things inside."""

    when: str  # "turn on", "turn off", "open" or "close"
    makes: str
    ends: str


@dataclass(frozen=True)
class Catalogue:
    furniture: Mapping[str, Furniture]
    things: Mapping[str, Thing]
    changes: Mapping[str, Change]
    rooms: tuple[str, ...]  # rooms in which people look first
    aliases: Mapping[str, str]
    _spoken: dict[str, str] = field(default_factory=dict)

    def spoken(self, simulator_name: str) -> str:
        """`kitchencabinets` → "kitchen cabinet"; an unknown name with its underscores as spaces."""
        if not self._spoken:
            names = [*self.furniture, *self.things, *self.rooms]
            self._spoken.update({name.replace(" ", "").lower(): name for name in names})
        plain = simulator_name.replace("_", "").lower()
        return self.aliases.get(plain) or self._spoken.get(plain) or simulator_name.replace("_", " ")

    def rank_of_room(self, room_class: str) -> int:
        return self.rooms.index(room_class) if room_class in self.rooms else len(self.rooms)


def read_catalogue(path: Path) -> Catalogue:
    content = read_yaml(path, CHECK)
    found, furniture = content.data, {}
    for name, text in found["fixtures"].items():
        try:
            furniture[name] = described(name, str(text or ""), str(path))
        except BtError as error:
            raise content.fault(error.message, error.hint, "fixtures", name) from None
    things = {name: _thing(name, fields or {}, furniture, content) for name, fields in found["items"].items()}
    changes = {
        name: Change(str(c["when"]), str(c.get("makes", "")), str(c.get("ends", "")))
        for name, c in found.get("changes", {}).items()
    }
    aliases = {name: str(text) for name, text in found.get("aliases", {}).items()}
    return Catalogue(furniture, things, changes, texts(found.get("rooms", ())), aliases)


def described(name: str, text: str, source: str) -> Furniture:
    """Parses a description: `seen opens into` → furniture of that name with these properties."""
    said = text.split()
    for word in said:
        if word not in _WORDS:
            raise BtError(f"{source}: fixture `{name}`: `{word}` is not known", f"words: {', '.join(_WORDS)}")
    return Furniture(
        name,
        seen="seen" in said,
        opens="opens" in said,
        holds_in="into" in said,
        holds_on="onto" in said,
        switch="switch" in said,
        guarded="guarded" in said,
        width=1.6 if "wide" in said else 0.8,
    )


def _thing(name: str, fields: Mapping[str, Any], furniture: Mapping[str, Furniture], content: Content) -> Thing:
    kept = texts(fields.get("kept", ()))
    for i, place in enumerate(kept):
        if place not in furniture:
            hint = did_you_mean(place, furniture, "describe it under `fixtures`")
            raise content.fault(f"`{name}` is kept in `{place}`, which is no fixture", hint, "items", name, "kept", i)
    return Thing(name, kept, fields.get("up_to", 0), fields.get("opens", False))

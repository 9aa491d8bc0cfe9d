"""Facts that can be noticed about a world. A world may state them; otherwise `observation` parses its sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from bt_runtime.types import Json


class Thing(NamedTuple):
    kind: str
    number: int


class Here(NamedTuple):
    """The agent's location."""

    room: str = ""
    near: str = ""


class Seen(NamedTuple):
    thing: Thing
    room: str = ""
    near: str = ""  # empty: somewhere in the room


class PlacedThing(NamedTuple):
    thing: Thing
    room: str = ""
    near: str = ""


class Held(NamedTuple):
    thing: Thing


class Holding(NamedTuple):
    """The hands hold exactly these things."""

    things: frozenset[Thing]


class Looked(NamedTuple):
    """A place was looked at; these were all the things visible there."""

    near: str
    there: frozenset[Thing]


class Fact(NamedTuple):
    """Any other fact: a lamp is on, a door is locked, an inventory holds three sticks."""

    subject: str
    attribute: str
    value: Json


Notice = Seen | PlacedThing | Held | Holding | Looked | Fact


@runtime_checkable
class Noticing(Protocol):
    """A world that states its facts itself, because `observation` cannot parse its sentences."""

    def notices(self, action: str, text: str) -> Sequence[Notice]:
        """Returns the facts to notice in `text` after `action` ("" for a look). Changes nothing."""


def name_of(thing: Thing) -> str:
    return f"{thing.kind} {thing.number}"

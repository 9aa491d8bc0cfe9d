"""Reads sentences of household worlds: "You arrive at the kitchen table (1). You see apple (1), plate (1, 8)"."""

from __future__ import annotations

import re
from collections.abc import Mapping

from bt_runtime.memory.notice import Held, Here, Holding, Looked, Notice, PlacedThing, Seen, Thing, name_of

_NAME = r"[A-Za-z][\w' -]{0,60}?"  # bounded, or a hostile text takes the square of its length
_NUMBER = r"\d{1,9}"
_ITEM = re.compile(rf"({_NAME}) \(({_NUMBER}(?:, ?{_NUMBER})*)\)")
_LIST = rf"{_NAME} \({_NUMBER}(?:, ?{_NUMBER})*\)(?:, {_NAME} \({_NUMBER}(?:, ?{_NUMBER})*\))*"
_AROUND = re.compile(rf"[Ll]ooking quickly around the room, you see ({_LIST})")
_ROOM = re.compile(rf"(?:You move to|[Yy]ou are in the middle of)(?: the| a| an)? ({_NAME}) ?\(?({_NUMBER})\)?[.,]")
_ARRIVED = re.compile(rf"You (?:already )?arrive at(?: the)? ({_NAME}) \(({_NUMBER})\)")
_SEE = re.compile(rf"You see ({_LIST})")
_NOTHING = re.compile(r"You see nothing")
_HOLD = re.compile(rf"(?:You hold|I am holding|You are holding) ({_LIST})")
_CLOSED = re.compile(rf"(?:The )?({_NAME}) \(({_NUMBER})\) is closed")
_THING = rf"(?:the )?({_NAME})(?: \(({_NUMBER})\))?"
_TAKEN = re.compile(rf"You pick up {_THING}\.")
_PUT = re.compile(rf"You put (?:down )?{_THING} (?:in|on|to|into|onto) {_THING}(?:\.|$|\n| You hold )")
_DROPPED = re.compile(rf"You dropped {_THING} due to")
_ENDING_NUMBER = re.compile(rf"(.*\S) \(?({_NUMBER})\)?")
_SHUTS = ("close ",)
LONGEST = 20_000  # characters of an observation; a crowded room has one or two thousand


def read(action: str, text: str, here: Here, known: Mapping[Thing, object]) -> tuple[list[Notice], Here]:
    """The facts in an observation, and the agent's place after it. Text of another form yields nothing."""
    text = text[:LONGEST]
    here = _moved(text, here, known)
    notices: list[Notice] = []
    for found in _AROUND.finditer(text):
        notices += [Seen(thing, here.room) for thing in things(found[1])]
    seen = [thing for found in _SEE.finditer(text) for thing in things(found[1])]
    notices += [Seen(thing, here.room, here.near) for thing in seen if name_of(thing) != here.near]
    if here.near and (seen or _NOTHING.search(text)) and _open_to_view(action, text, here.near):
        notices.append(Looked(here.near, frozenset(seen)))
    return notices + _hands(action, text, here), here


def things(listed: str) -> list[Thing]:
    """`bench (1, 2), sink (1)` → bench 1, bench 2, sink 1."""
    return [
        Thing(kind.strip(), int(number)) for kind, numbers in _ITEM.findall(listed) for number in numbers.split(",")
    ]


def _moved(text: str, here: Here, known: Mapping[Thing, object]) -> Here:
    room = _ROOM.search(text)
    if room:
        here = Here(f"{room[1]} {room[2]}")
    if arrived := _ARRIVED.search(text):
        place = Thing(arrived[1], int(arrived[2]))
        seen_in = getattr(known.get(place), "room", "")
        here = Here(seen_in or here.room, name_of(place))
    return here


def _open_to_view(action: str, text: str, near: str) -> bool:
    """True when the contents of a place are visible: a closed fridge hides its contents, so an unseen thing may still
    be in it."""
    closed = {f"{kind} {number}" for kind, number in _CLOSED.findall(text)}
    return near not in closed and not action.startswith(_SHUTS)


def _hands(action: str, text: str, here: Here) -> list[Notice]:
    numbered = _ENDING_NUMBER.fullmatch(action.strip())
    number = int(numbered[2]) if numbered else None  # "You pick up apple." names no number, the action does
    notices: list[Notice] = []
    if (taken := _TAKEN.search(text)) and (thing := _thing(taken[1], taken[2], number)):
        notices.append(Held(thing))
    if (put := _PUT.search(text)) and (thing := _thing(put[1], put[2], number)):
        near = f"{put[3]} {put[4]}" if put[4] else (here.near if here.near.startswith(put[3]) else put[3])
        notices.append(PlacedThing(thing, here.room, near))
    if (dropped := _DROPPED.search(text)) and (thing := _thing(dropped[1], dropped[2], number)):
        notices.append(PlacedThing(thing, here.room))
    if hold := _HOLD.search(text):
        notices.append(Holding(frozenset(things(hold[1]))))
    return notices


def _thing(kind: str, number: str | None, acted_on: int | None) -> Thing | None:
    if number:
        return Thing(kind, int(number))
    return Thing(kind, acted_on) if acted_on is not None else None

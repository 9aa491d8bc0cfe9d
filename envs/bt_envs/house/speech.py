"""The grammar of the house's observations: a head, the things seen, the things held. `say` writes them, `hear`
parses them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

Group = tuple[str, tuple[int, ...]]  # ("wine glass", (1, 2))


class Said(NamedTuple):
    head: str  # the name of one of HEADS
    slots: Mapping[str, str]
    seen: tuple[Group, ...] | None = None
    held: tuple[Group, ...] = ()
    text: str = ""  # the head as a sentence, when it comes from outside the table (a refusal of ours)


# Every sentence of the papers' tables and trajectories. {t}: a thing or place; {n}: its number.
HEADS: dict[str, str] = {
    "start": "You are in the house, and there are {count} rooms: {rooms}. You are in the middle of a {t} ({n}).",
    "room": "You move to the {t} ({n}).",
    "arrive": "You arrive at the {t} ({n}).",
    "arrive open": "You arrive at the {t} ({n}). The {t} ({n}) is open.",
    "arrive closed": "You arrive at the {t} ({n}). The {t} ({n}) is closed.",
    "pick up": "You pick up {t}.",
    "put on": "You put down {t} on {p}",
    "put in": "You put down {t} in {p}",
    "open": "You open {t}.",
    "close": "You close {t}.",
    "turn on": "You turn on {t}.",
    "turn off": "You turn off {t}.",
    "sit": "You sit on {t}.",
    "not close": "The {t} is not close to you.",
    "no hand": "You do not have an empty hand.",
    "not held": "You do not grab the {t}.",
    "is closed": "The {t} is closed.",
    "is open": "The {t} is open.",
    "is on": "The {t} is turned on.",
    "is off": "The {t} is turned off.",
    "no use": "The {t} cannot be used for {doing}.",
    "not inside": "The {t} is not in the {p}.",
    "heat": "You heat {t} with {p}.",
    "cool": "You cool {t} with {p}.",
    "clean": "You clean {t} with {p}.",
    "already": "The {t} is already {state}.",
    "not seen": "You have not seen {t} before.",
    "saw": "You saw {sightings}.",
    "holding": "You are holding {held}.",
}
_SLOTS = {
    "t": r"[A-Za-z][A-Za-z ]{0,60}?",  # bounded, or a hostile text takes the square of its length
    "p": r"[A-Za-z][A-Za-z ]{0,60}?",
    "n": r"\d+",
    "count": r"\d+",
    "rooms": r"[A-Za-z][A-Za-z0-9 (),]*?",
    "state": r"open|closed|turned on|turned off",
    "doing": r"heating|cooling|cleaning",
    "held": r"[A-Za-z][A-Za-z ]*? \d+(?:(?:,| and) [A-Za-z][A-Za-z ]*? \d+)*",
    "sightings": r"[A-Za-z][A-Za-z ]*? \d+ near [A-Za-z0-9 ]{1,60}? in [A-Za-z0-9 ]{1,60}?"
    r"(?:\. You saw [A-Za-z0-9 ]+?)*",
}
_GLANCES = ("start", "room")
_GROUP = re.compile(r"(?<![A-Za-z ]) *+([A-Za-z][A-Za-z ]*?) \((\d{1,9}(?:, \d{1,9})*+)\)")
_LIST = r"[A-Za-z][A-Za-z ]*? \(\d+(?:, \d+)*\)(?:, [A-Za-z][A-Za-z ]*? \(\d+(?:, \d+)*\))*"


def _pattern(head: str) -> re.Pattern[str]:
    seen: set[str] = set()

    def slot(found: re.Match[str]) -> str:
        name = found[1]
        if name in seen:
            return f"(?P={name})"
        seen.add(name)
        return f"(?P<{name}>{_SLOTS[name]})"

    text = re.sub(r"\\\{(\w+)\\\}", slot, re.escape(HEADS[head]))
    end = r"" if HEADS[head].endswith(".") else r"\.?"
    sight = (
        rf" Looking quickly around the room, you see (?P<_seen>{_LIST})\."
        if head in _GLANCES
        else (rf"(?: You see (?P<_seen>{_LIST})\.?)?")
    )
    return re.compile(rf"{text}{end}{sight}(?: You hold (?P<_held>{_LIST})\.)?")


_PATTERNS = {head: _pattern(head) for head in HEADS}


def groups(names: Iterable[tuple[str, int]]) -> tuple[Group, ...]:
    """Groups (class, number) pairs: classes in alphabetical order with their numbers."""
    found: dict[str, list[int]] = {}
    for name, number in names:
        found.setdefault(name, []).append(number)
    return tuple((name, tuple(sorted(found[name]))) for name in sorted(found, key=str.lower))


def listed(found: Iterable[Group]) -> str:
    """Formats groups: `apple (2), chair (1, 2)`."""
    return ", ".join(f"{name} ({', '.join(map(str, numbers))})" for name, numbers in found)


def say(said: Said) -> str:
    text = said.text or HEADS[said.head].format(**said.slots)
    if said.head in _GLANCES:
        text += f" Looking quickly around the room, you see {listed(said.seen or ())}."
    elif said.seen is not None:
        text += f" You see {listed(said.seen)}"
    return f"{text} You hold {listed(said.held)}." if said.held else text


def hear(text: str) -> Said | None:
    """Parses an observation; returns None for a text of another form."""
    for head, pattern in _PATTERNS.items():
        found = pattern.fullmatch(text.strip())
        if found:
            slots = {k: v for k, v in found.groupdict().items() if not k.startswith("_") and v is not None}
            seen = _read(found["_seen"]) if found["_seen"] is not None else None
            return Said(head, slots, seen, _read(found["_held"] or ""))
    return None


def _read(text: str) -> tuple[Group, ...]:
    return tuple((m[1], tuple(int(n) for n in m[2].split(", "))) for m in _GROUP.finditer(text))

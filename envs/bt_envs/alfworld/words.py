"""Converts between two wordings: the present engine's, and the papers', which used an older engine."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, get_args

View = Literal["papers", "react", "engine"]
VIEWS = get_args(View)
NOTHING = "Nothing happens."
_PUT = re.compile(r"put ([\w ]+?) (?:in/on|into|in|on|inside) ([\w ]+)")
_ARRIVED = re.compile(r"You arrive at ([\w ]+)\. ")
_MOVED = re.compile(r"You move the ([\w ]+?) to the ([\w ]+)\.")
_STRANGE = re.compile(r"[^\w .,;:!?'/-]+")
_HELP = ("move (object) to (receptacle):", "put (object) in/on (receptacle):")


def command(said: str) -> str:
    """Translates a sentence into the engine's command: `put apple 1 in/on fridge 1` becomes `move apple 1 to fridge
    1`."""
    plain = " ".join(said.split()).lower()
    found = _PUT.fullmatch(plain)
    return f"move {found[1]} to {found[2]}" if found else plain


def spoken(goal: str) -> str:
    """A goal without signs of the engine's grammar, which evaluates what stands in braces."""
    return _STRANGE.sub("", goal)


def offered(said: str, view: View) -> str:
    """Translates a command of the engine into the wording of this view."""
    thing, to, place = said.removeprefix("move ").partition(" to ")
    return f"put {thing} in/on {place}" if view != "engine" and said.startswith("move ") and to else said


def shown(text: str, view: View, locations: Mapping[str, str]) -> str:
    """Rewrites an observation for this view. `locations` maps each receptacle to its location's number in the
    papers' text."""
    if view == "engine":
        return text
    if text.startswith("-= "):
        return "\n".join(text.split("\n\n")[1:])
    arrived = _ARRIVED.match(text)
    if arrived:
        rest = text[arrived.end() :]
        return f"You arrive at {locations.get(arrived[1], 'the location')}. {rest}" if view == "papers" else rest
    return _MOVED.sub(r"You put the \1 in/on the \2.", text).replace(*_HELP)

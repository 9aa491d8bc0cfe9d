"""Tests sentences about the room: the preconditions and effects of skills."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from bt_envs.alfred import kinds
from bt_envs.thor.choice import Object, is_slice
from bt_envs.thor.full import FullView
from bt_envs.thor.partial import NUMBERED, PartialView
from bt_envs.thor.scene import SIGHT

View = FullView | PartialView
_IS = re.compile(r"(?P<what>.+) (?:is|are) (?:turned )?(?P<state>\w+)")
_IN = re.compile(r"(?P<what>.+?) (?:is )?(?:in|on) (?P<where>.+)")


def holds(view: View, fact: str) -> bool | None:
    """Returns True or False; None for a sentence that is no fact, such as a goal in a person's words."""
    fact = " ".join(fact.split()).rstrip(".")
    hands = view.hands
    if fact in ("hand free", "hand is empty"):
        return hands.held is None
    if fact.startswith("not "):
        denied = holds(view, fact.removeprefix("not "))
        return None if denied is None else not denied
    for verb, judge in (("near ", _near), ("at ", _at), ("holding ", _holding)):
        if fact.startswith(verb):
            things = _named(view, fact.removeprefix(verb))
            return None if things is None else any(judge(view, entry) for entry in things)
    found = _IS.fullmatch(fact)
    if found and found["state"] in STATES:
        judge_state, things = STATES[found["state"]], _named(view, found["what"])
        return None if things is None else any(judge_state(view, entry) for entry in things)
    found = _IN.fullmatch(fact)
    if found:
        things, where = _named(view, found["what"]), _named(view, found["where"])
        if things is not None and where is not None:
            places = {entry["objectId"] for entry in where}
            return any(places & set(entry["parentReceptacles"] or ()) for entry in things)
    return None


def _named(view: View, phrase: str) -> list[Object] | None:
    """What a phrase names; None where it names no kind of thing: `put two apples` is the first half of a goal."""
    things = view.named(phrase)
    plain = kinds.without_article(phrase)
    known = things or NUMBERED.fullmatch(plain) or plain in kinds.ALL or kinds.from_words(plain) in kinds.ALL
    return things if known else None


def _near(view: View, entry: Object) -> bool:
    """True when the object is close enough to act on, and visible."""
    return bool(entry["visible"])


def _at(view: View, entry: Object) -> bool:
    """True when the object is close, even behind a door."""
    return bool(entry["distance"] <= SIGHT)


def _holding(view: View, entry: Object) -> bool:
    return bool(entry["objectId"] == view.hands.held)


STATES: Mapping[str, Callable[[View, Object], bool]] = {
    "open": lambda view, entry: bool(entry["isOpen"]),
    "closed": lambda view, entry: bool(entry["openable"] and not entry["isOpen"]),
    "on": lambda view, entry: bool(entry["isToggled"]),
    "off": lambda view, entry: bool(entry["toggleable"] and not entry["isToggled"]),
    "sliced": lambda view, entry: is_slice(entry),
    "visible": _near,
    "clean": lambda view, entry: entry["objectId"] in view.hands.tracked.clean,
    "hot": lambda view, entry: entry["objectId"] in view.hands.tracked.hot,
    "cold": lambda view, entry: entry["objectId"] in view.hands.tracked.cold,
}

"""Explains a refused command in the words of AutoPlan's table; the engine itself gives no reason."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

from bt_envs.alfworld.game import TREATED, Fact, Game, kind_of
from bt_envs.alfworld.words import NOTHING

Feedback = Literal["terse", "detailed"]
FEEDBACKS = get_args(Feedback)
USED = {treatment.verb: treatment for treatment in TREATED.values()}
_VERBS = ("go to", "open", "close", "take", "move", *USED, "use")
_JOINTS = {"take": " from ", "move": " to ", **dict.fromkeys(USED, " with ")}


def told(said: str, game: Game, facts: Iterable[Fact]) -> str:
    """Returns the first reason why a command is impossible, in one sentence; for a malformed command, the engine's
    reply."""
    verb = next((verb for verb in _VERBS if said.startswith(f"{verb} ")), "")
    if not verb:
        return NOTHING
    rest, joint = said.removeprefix(verb).strip(), _JOINTS.get(verb, "")
    first, _, place = rest.partition(joint) if joint else (rest, "", "")
    if joint and not place:
        return NOTHING
    known, now = {*game.places, *game.things}, set(facts)
    for name in filter(None, (first, place)):
        if not name.rpartition(" ")[2].isdigit():
            return f"You miss the index of {name}, e.g., {name} 1."
        if name not in known:
            return f"{name} is not a valid action in this household."
    place = first if verb in ("open", "close") else place
    if verb in USED and kind_of(place) != USED[verb].tool:
        return f"{kind_of(place)} cannot be used for {USED[verb].doing}."
    if place and place not in game.at(now):
        return f"You are not at {place}."
    if verb in ("take", "move") and place in game.openable and ("opened", place) not in now:
        return f"{place} is closed."
    held = [fact[1] for fact in now if fact[0] == "holds"]
    if verb == "take":
        return "You cannot hold more than one object." if held else f"{first} is not in {place}."
    return f"You are not carrying {first}." if verb in ("move", *USED) and first not in held else NOTHING

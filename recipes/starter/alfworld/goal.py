"""What a goal of a whole task in ALFWorld wants, by its words alone."""

from __future__ import annotations

import re
from typing import NamedTuple

_GOALS = (  # thing, place
    re.compile(r"put (?:a|some) (?:(clean|hot|cool) )?([a-z]+) (?:in|on) ([a-z]+)"),
    re.compile(r"(clean|heat|cool) some ([a-z]+) and put it in ([a-z]+)"),
    re.compile(r"(?:look at|examine the) ()([a-z]+) (?:under|with) the ([a-z]+)"),
    re.compile(r"(?:put|find) (two) ([a-z]+) (?:in|and put them in) ([a-z]+)"),
)


class Wanted(NamedTuple):
    """What a goal of a whole task wants. `how`: clean, heat, cool, two, look, or nothing."""

    how: str
    thing: str
    place: str  # a kind; of a lamp, the lamp


def wanted(goal: str) -> Wanted | None:
    for number, shape in enumerate(_GOALS):
        if found := shape.fullmatch(goal.rstrip(".")):
            how, thing, place = found.groups()
            return Wanted("look" if number == 2 else {"hot": "heat"}.get(how, how or ""), thing, place)
    return None

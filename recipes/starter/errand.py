"""What an instruction asks for: errands, in the order in which they are said."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from bt_envs.house.catalogue import Catalogue
from bt_envs.house.phrases import plural
from bt_envs.house.state import HANDS
from bt_runtime.types import Task

_COUNTS = {"a": 1, "an": 1, "the": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_RUNS = re.compile(r"\b(?:turn(?:ed)?|switch(?:ed)?|start|run|running|wash|washing of|going)\b", re.IGNORECASE)


class Errand(NamedTuple):
    """A part of a task: so many of these to that place; or, without a thing, the place is to be started."""

    thing: str
    amount: int
    way: str
    place: str

    def goal(self) -> str:
        if not self.thing:
            return f"close and turn on the {self.place}"
        many = f"the {self.thing}" if self.amount == 1 else f"{self.amount} {plural(self.thing)}"
        return f"move {many} {self.way} the {self.place}"


def understood(goal: str, catalogue: Catalogue) -> list[Errand]:
    """An instruction in plain words → its errands, in the order in which they are said."""
    pattern = _words(tuple(catalogue.things), tuple(catalogue.furniture))
    places = [m[2] for m in pattern.finditer(goal) if m[2]]
    if not places:
        return []
    place = places[-1]
    furniture = catalogue.furniture[place]
    way = (
        "in"
        if furniture.holds_in and (not furniture.holds_on or re.search(rf"\b(?:in|into|inside) the {place}", goal))
        else "on"
    )
    found: list[Errand] = []
    singular = {plural(name): name for name in catalogue.things} | {name: name for name in catalogue.things}
    for match in pattern.finditer(goal):
        if match[1]:
            before = goal[: match.start()].rstrip().rpartition(" ")[2].lower()
            amount = int(before) if before.isdigit() else _COUNTS.get(before, 1)
            name = singular[match[1]]
            found += [Errand(name, n, way, place) for n in _by_hands(amount)]
    if furniture.switch and furniture.guarded and _RUNS.search(goal):
        found.append(Errand("", 1, way, place))
    return found


def meant(task: Task) -> dict[str, list[Errand]]:
    """What the instruction of a lesson's task means, as it was made."""
    asked = task.data["asked"]
    way, place = str(asked["way"]), str(asked["place"])
    errands = [Errand(thing, n, way, place) for thing, amount in asked["things"] for n in _by_hands(amount)]
    return {task.goal: [*errands, Errand("", 1, way, place)] if asked["runs"] else errands}


def _by_hands(amount: int) -> list[int]:
    """As many at a time as there are hands."""
    return [HANDS] * (amount // HANDS) + ([amount % HANDS] if amount % HANDS else [])


@lru_cache(maxsize=4)
def _words(things: tuple[str, ...], places: tuple[str, ...]) -> re.Pattern[str]:
    """Longest names first, so that `kitchen table` is no `table`."""
    named = sorted({*things, *map(plural, things)}, key=len, reverse=True)
    stand = sorted(places, key=len, reverse=True)
    return re.compile(rf"\b(?:({'|'.join(map(re.escape, named))})|(?:[Tt]he )({'|'.join(map(re.escape, stand))}))\b")

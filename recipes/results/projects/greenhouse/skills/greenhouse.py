"""A greenhouse as a few facts. A skill yields what it saw or did as a sentence, and returns whether it worked."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

BEDS = ("tomatoes", "peppers", "lettuce", "basil", "cucumbers")
START: dict[str, Any] = {
    "soil of tomatoes": "dry", "soil of peppers": "dry", "soil of lettuce": "moist",
    "soil of basil": "dry", "soil of cucumbers": "moist",
    "ripe": ["tomatoes", "peppers"], "aphids": ["cucumbers"], "sprayed": [], "fed": [], "burnt": [],
    "vent": "closed", "heating": "on", "degrees": 31, "can": 1, "looked": [],
}  # fmt: skip
WETTER = {"dry": "moist", "moist": "wet", "wet": "wet"}
FREE = {"can", "looked"}  # may end in any state

facts: dict[str, Any] = {}
Work = Generator[str, None, bool]


def fresh(task: Any) -> None:
    """Before each task: the greenhouse as it is at first, with the task's own facts."""
    facts.clear()
    facts.update(_first(task))


def as_wanted(task: Any) -> bool:
    """True when what the task wants has come about, it was looked where it says so, and all else is as it was."""
    wanted = {**_first(task), **task.data["want"]}
    looked = set(task.data.get("looked", ())) <= set(facts["looked"])
    return looked and all(facts[name] == value for name, value in wanted.items() if name not in FREE)


def _first(task: Any) -> dict[str, Any]:
    return {**START, **task.data.get("at_first", {})}


def look_at(bed: str) -> Work:
    facts["looked"] = [*facts["looked"], bed]
    ripe = f"Some {bed} are ripe." if bed in facts["ripe"] else "Nothing is ripe."
    aphids = "There are aphids." if bed in facts["aphids"] else "There are no aphids."
    yield f"The soil of the {bed} is {facts[f'soil of {bed}']}. {ripe} {aphids}"
    return True


def water(bed: str) -> Work:
    if not facts["can"]:
        yield "The can is empty."
        return False
    facts["can"] -= 1
    facts[f"soil of {bed}"] = WETTER[facts[f"soil of {bed}"]]
    left = "The can is empty now." if not facts["can"] else "There is water left in the can."
    yield f"The soil of the {bed} is {facts[f'soil of {bed}']} now. {left}"
    return True


def fill() -> Work:
    facts["can"] = 2
    yield "The can is full."
    return True


def harvest(bed: str) -> Work:
    if bed not in facts["ripe"]:
        yield f"Nothing is ripe among the {bed}."
        return False
    facts["ripe"] = [each for each in facts["ripe"] if each != bed]
    yield f"You picked the ripe {bed}."
    return True


def feed(bed: str) -> Work:
    if facts[f"soil of {bed}"] == "dry":
        facts["burnt"] = sorted({*facts["burnt"], bed})
        yield f"The soil was dry: the roots of the {bed} are burnt."
        return False
    facts["fed"] = sorted({*facts["fed"], bed})
    yield f"The {bed} have fertiliser now."
    return True


def spray(bed: str) -> Work:
    facts["sprayed"] = sorted({*facts["sprayed"], bed})
    facts["aphids"] = [each for each in facts["aphids"] if each != bed]
    yield f"The {bed} are sprayed."
    return True


def thermometer() -> Work:
    facts["looked"] = [*facts["looked"], "thermometer"]
    yield f"It is {facts['degrees']} degrees."
    return True


def open_vent() -> Work:
    facts["vent"] = "open"
    yield "The roof vent is open."
    return True


def close_vent() -> Work:
    facts["vent"] = "closed"
    yield "The roof vent is closed."
    return True


def heating(state: str) -> Work:
    facts["heating"] = state
    yield f"The heating is {state}."
    return True

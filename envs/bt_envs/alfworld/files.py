"""Reads games as users have them: folders of ALFWorld's game.tw-pddl, or a file with one game a line."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bt_envs.alfworld.game import HINT, read
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.skills.worlds.content import read_mapping
from bt_runtime.skills.worlds.entries import mappings
from bt_runtime.skills.worlds.outline import inside, outline
from bt_runtime.types import TASK, Task

GAME = "game.tw-pddl"
_SAID = f"{TASK} "
_LEFT_OUT = ("movable_receptacle", "-movable", "Sliced")  # ALFWorld plays neither


class Name(NamedTuple):
    id: str
    path: Path
    row: Mapping[str, Any] | None = None  # the row, in a file with many games


def is_ours(path: Path) -> bool:
    """Recognises ALFWorld's games by their content."""
    if path.is_dir():
        return next(_games(path), None) is not None or bool(_ready(path))
    found = outline(path)
    return path.name.endswith(GAME) or (found.rows and found.has("pddl_problem"))


def names(place: Path) -> list[Name]:
    """Lists the games below `place` in a fixed order, without those that ALFWorld leaves out. A folder may hold an
    `alfworld` folder."""
    place = place / "alfworld" if (place / "alfworld").is_dir() else place
    if place.is_file() and not place.name.endswith(GAME):
        return [
            Name(str(row.get("path") or f"{place.name}-{i}"), place, row) for i, row in enumerate(mappings(place, HINT))
        ]
    if place.is_file():
        return [Name(place.parent.name, place)]
    found = [Name(str(path.parent.relative_to(place)), path) for path in sorted(_games(place))]
    found = found or [name for path in _ready(place) for name in names(path)]
    if not found:
        raise BtError(f"there are no games in {place}", HINT)
    return [name for name in found if not any(word in name.id for word in _LEFT_OUT)]


def _games(place: Path) -> Iterator[Path]:
    return (Path(folder) / GAME for folder, _, inside in os.walk(place) if GAME in inside)


def _ready(place: Path) -> list[Path]:
    return [path for path in inside(place) if is_ours(path)]


def task(name: Name) -> Task | None:
    """Reads a game as a task; None for a game marked as unsolvable."""
    row = name.row if name.row is not None else read_mapping(name.path, HINT)
    if row.get("solvable") is False:
        return None
    try:
        problem = str(row["pddl_problem"])
        goal = str(row["goal"]) if "goal" in row else _told(str(row["grammar"]))
        kind = read(problem).aim.kind
    except KeyError as lacking:
        raise BtError(f"the game `{name.id}` of {name.path} has no {lacking}", HINT) from lacking
    return Task(name.id, kind, goal, {"problem": problem, "goal": goal})


def _told(grammar: str) -> str:
    """Returns the goal's sentence, which ALFWorld wrote into the game's grammar."""
    said = grammar.partition(_SAID)[2].partition('"')[0].strip()
    return said.removesuffix(".")

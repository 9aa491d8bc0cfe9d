"""The thor suite: worlds, tasks of shipped rooms or of ALFRED's data, and the oracle."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from bt_envs.alfred import trials
from bt_envs.thor.goals import TYPES
from bt_envs.thor.library import Build
from bt_envs.thor.oracle import solve
from bt_envs.thor.rooms import read_room, read_rooms
from bt_envs.thor.tasks import generate, of_trial
from bt_envs.thor.world import Thor
from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.skills.worlds.registry import Read, Split, Wanted, tasks_of
from bt_runtime.types import Task, World

CHOICES = {"view": ("partial", "full"), "through": ("library", "scene")}
BUILD = {"build": "path", "frames": "frames", "platform": "platform"}
SECONDS = ("start_timeout", "step_timeout")
TASK_OPTIONS = ("room", "source", "data", "view")
SOURCES = ("made", "alfred")


class ThorSuite:
    name = "thor"
    kinds: Sequence[str] = TYPES
    skills = "thor"
    formats: Sequence[str] = ("ALFRED's tasks (a split's folder, traj_data.json, or lines)",)

    def open(self, **options: Any) -> World:
        """Opens a world. Options: `view`, `through`, `build` (a path, or "fetch"), `frames`, `platform`,
        `start_timeout`, `step_timeout`."""
        build: dict[str, Any] = {}
        chosen: dict[str, Any] = {}
        for option, value in options.items():
            if option in CHOICES:
                if value not in CHOICES[option]:
                    raise BtError(f"thor has no {option} `{value}`", f"one of {', '.join(CHOICES[option])}")
                chosen[option] = value
            elif option in BUILD:
                build[BUILD[option]] = str(value) if option != "frames" else _truth(value)
            elif option in SECONDS:
                build[option] = _seconds(option, value)
            elif option != "data":  # rooms of ALFRED's tasks travel in the tasks; the world needs no data
                raise _no_option(option, {*CHOICES, *BUILD, *SECONDS, "data"})
        return Thor(build=Build(**build), **chosen)

    def tasks(
        self, seed: int, count: int, split: Split = "train", kinds: Sequence[str] | None = None, **options: Any
    ) -> list[Task]:
        """Returns up to `count` tasks, chosen by the seed.

        By default they play in our rooms; `room` selects one room. `view="full"` keeps tasks that need no numbers.
        `source="alfred"` reads the tasks of `data`; a path as `source` reads those at the path."""
        for option in options:
            if option not in TASK_OPTIONS:
                raise _no_option(option, TASK_OPTIONS)
        wanted = _kinds(kinds, options.get("view", "partial"))
        source = options.get("source", "made")
        if source != "made":
            if source not in SOURCES and not trials.is_ours(Path(source)):
                raise BtError(f"tasks come from {' or '.join(SOURCES)}, not `{source}`", "source='made' needs no data")
            data = data_folder(options.get("data"))
            rows = trials.rows(data, split) if source == "alfred" else trials.rows_of(Path(source))
            return _alfred_tasks(seed, count, rows, wanted, data)
        name = options.get("room")
        rooms = {name: read_room(name)} if name else read_rooms()
        return generate(rooms, seed, count, split, wanted)

    def read(self, path: Path, wanted: Wanted) -> Read | None:
        if not trials.is_ours(path):
            return None
        named = wanted.data or os.environ.get("BTR_DATA", "")
        beside = wanted.of_data(path, "alfred").data
        data = beside if (Path(beside) / "alfred" / trials.LAYOUTS).is_file() else named or beside
        return tasks_of(self, wanted._replace(data=data, options={**wanted.options, "source": str(path)}))

    def wanted(self, task: Task) -> Mapping[str, int]:
        """Returns the wanted things in words: `ButterKnife` is a butter knife."""
        goal = task.data["goal"]
        names = [str(goal.get(key) or "") for key in ("object", "movable")]
        return {re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).casefold(): 1 for name in names if name}

    def oracle(self, world: World, task: Task, **options: Any) -> Iterator[str]:
        for option in options:
            raise _no_option(option, ())
        if not isinstance(world, Thor):
            raise BtError("this oracle knows thor only", "open the world with open_world('thor')")
        return solve(world, task)


def _no_option(option: str, known: Iterable[str]) -> BtError:
    return BtError(f"thor has no option `{option}`", f"options here: {', '.join(sorted(known)) or 'none'}")


def _kinds(asked: Sequence[str] | None, view: str) -> list[str]:
    """Returns the task types. The view by kinds cannot tell two objects of a kind apart, so it leaves out that type, as
    LoTa-Bench does."""
    for name in asked or ():
        if name not in TYPES:
            hint = did_you_mean(name, TYPES, f"kinds here: {', '.join(TYPES)}")
            raise BtError(f"thor has no kind of task `{name}`", hint)
    return list(asked or (t for t in TYPES if view != "full" or t != "pick_two_obj_and_place"))


def data_folder(given: Any = None) -> Path:
    """Returns the folder that holds `alfred/`: the given one, or BTR_DATA."""
    named = given or os.environ.get("BTR_DATA")
    if not named:
        raise BtError("ALFRED's own tasks need its data", "name the data folder: --data DIR, or BTR_DATA")
    return Path(named).expanduser()


def _alfred_tasks(seed: int, count: int, found: Iterable[trials.Row], kinds: Sequence[str], data: Path) -> list[Task]:
    """Every sentence is a task; in the order of the seed, each task once before any of its further sentences."""
    rows = [row for row in found if row["task_type"] in kinds]
    dice = random.Random(seed)
    dice.shuffle(rows)
    said = [dice.sample(ways := range(len(trials.sentences(row))), len(ways)) for row in rows]
    rounds = zip_longest(*said)
    ordered = ((row, way) for each in rounds for row, way in zip(rows, each, strict=True) if way is not None)
    return [of_trial(row, data, way) for row, way in islice(ordered, count)]


def _truth(value: Any) -> bool:
    if isinstance(value, list):  # as the command line gives what may be several
        value = value[-1] if value else False
    return value if isinstance(value, bool) else str(value).lower() in ("1", "true", "yes", "on")


def _seconds(option: str, value: Any) -> float:
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        seconds = 0.0
    if not 0 < seconds < 86_400:
        raise BtError(f"`{option}` is a number of seconds, not {value!r}", f"{option}=30")
    return seconds


SUITE = ThorSuite()

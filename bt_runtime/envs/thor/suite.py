"""The thor suite: worlds, tasks of shipped rooms or of ALFRED's data, and the oracle."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from bt_runtime.envs.registry import Read, Split, Wanted, tasks_of
from bt_runtime.envs.thor import alfred
from bt_runtime.envs.thor.goals import TYPES
from bt_runtime.envs.thor.library import Build
from bt_runtime.envs.thor.oracle import solve
from bt_runtime.envs.thor.rooms import read_room, read_rooms
from bt_runtime.envs.thor.tasks import generate
from bt_runtime.envs.thor.world import Thor
from bt_runtime.faults.diagnostic import BtError, nearest
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
    formats: Sequence[str] = ("ALFRED's json_2.1.0_*.jsonl.gz",)

    def open(self, **options: Any) -> World:
        """`view`, `through`, `build` (a path, or "fetch"), `frames`, `platform`, `start_timeout`, `step_timeout`."""
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
        """Of our rooms by seed (`room`: only that one, `view="full"`: only what words without numbers can say);
        with `source="alfred"` those of `data`, in an order that the seed decides."""
        for option in options:
            if option not in TASK_OPTIONS:
                raise _no_option(option, TASK_OPTIONS)
        wanted = _kinds(kinds, options.get("view", "partial"))
        source = options.get("source", "made")
        if source not in SOURCES:
            raise BtError(f"tasks come from {' or '.join(SOURCES)}, not `{source}`", "source='made' needs no data")
        if source == "alfred":
            return _alfred_tasks(seed, count, split, wanted, data_folder(options.get("data")))
        name = options.get("room")
        rooms = {name: read_room(name)} if name else read_rooms()
        return generate(rooms, seed, count, split, wanted)

    def read(self, path: Path, wanted: Wanted) -> Read | None:
        if not path.name.endswith((".jsonl.gz", ".jsonl")):
            return None
        split: Split | None = next((s for s in ("train", "eval") if alfred.SPLITS[s] == path.name), None)
        if split is None:
            raise BtError(f"{path} is no file of ALFRED's tasks", f"known: {', '.join(alfred.SPLITS.values())}")
        return tasks_of(self, wanted.of_data(path, "alfred", source="alfred")._replace(split=split))

    def wanted(self, task: Task) -> Mapping[str, int]:
        """In words: `ButterKnife` is a butter knife."""
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
    """Two of a kind cannot be told apart by kind: LoTa-Bench leaves that type out, and so do we there."""
    for name in asked or ():
        if name not in TYPES:
            guess = nearest(name, TYPES)
            hint = f"did you mean `{guess}`?" if guess else f"kinds here: {', '.join(TYPES)}"
            raise BtError(f"thor has no kind of task `{name}`", hint)
    return list(asked or (t for t in TYPES if view != "full" or t != "pick_two_obj_and_place"))


def data_folder(given: Any = None) -> Path:
    """The folder that holds `alfred/`: as asked for, or BTR_DATA."""
    named = given or os.environ.get("BTR_DATA")
    if not named:
        raise BtError("ALFRED's own tasks need its data", "name the data folder: --data DIR, or BTR_DATA")
    return Path(named).expanduser()


def _alfred_tasks(seed: int, count: int, split: Split, kinds: Sequence[str], data: Path) -> list[Task]:
    rows = [row for row in alfred.rows(data, split) if row["task_type"] in kinds]
    random.Random(seed).shuffle(rows)
    return [alfred.task_of(row, data) for row in islice(rows, count)]


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

"""Where the tasks come from: a world by its name, or a file in a format that one of the worlds reads."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

from bt_runtime.envs.registry import Split, Suite, open_suite, suite_names
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.types import Json, Task

FORMATS = (
    "WAH-NL's train_plans_instructions.json, Watch-And-Help's envset_hist_*.json, ALFRED's json_2.1.0_*.jsonl.gz, \
TextCraft's recipes and results"
)


class Wanted(NamedTuple):
    """Which tasks. `data`: the folder of outside data."""

    seed: int = 0
    episodes: int = 10
    split: Split = "eval"
    kinds: tuple[str, ...] = ()
    data: str = ""
    options: Mapping[str, Any] = {}  # of the world's tasks


class Source(NamedTuple):
    suite: str
    tasks: list[Task]
    world: dict[str, Json]  # the options that the world is opened with


def find(name: str, wanted: Wanted, world: Mapping[str, Json] | None = None) -> Source:
    """By the name of a world, or by a file. Raises where there is neither."""
    if name in suite_names():
        return _of_suite(name, wanted, world or {})
    path = Path(name)
    if path.exists():
        return _of_file(path, wanted, world or {})
    if path.suffix or len(path.parts) > 1:
        raise BtError(f"there is no file {name}", f"a world ({', '.join(suite_names())}), or a file: {FORMATS}")
    return _of_suite(name, wanted, world or {})  # which says what it is near to


def apart(name: str, wanted: Wanted, episodes: int, tested: Source) -> list[Task]:
    """Tasks to train on: of the other split, and where a source knows no splits, those that are not tested."""
    known = {task.id for task in tested.tasks}
    more = wanted._replace(split="train", episodes=episodes + len(known))
    return [task for task in find(name, more).tasks if task.id not in known][:episodes]


def _of_suite(name: str, wanted: Wanted, world: Mapping[str, Json]) -> Source:
    suite = open_suite(name)
    options = dict(wanted.options)
    data = wanted.data or (os.environ.get("BTR_DATA", "") if "source" in options else "")
    if data:
        options["data"] = data
    tasks = suite.tasks(wanted.seed, wanted.episodes, wanted.split, list(wanted.kinds) or None, **options)
    return Source(name, tasks, {**_data_of(suite, data), **world})


def _data_of(suite: Suite, data: str) -> dict[str, Json]:
    return {"data": data} if data and "data" in signature(suite.open).parameters else {}


def _of_file(path: Path, wanted: Wanted, world: Mapping[str, Json]) -> Source:
    """The readers are the worlds' own: a file only says which world, and which of its options."""
    name = path.name
    if name == "train_plans_instructions.json":
        return _of_suite("house", _from(wanted, path, "wah", source="wah_nl"), world)
    if name.startswith("envset_hist_"):
        return _one_file(path, _from(wanted, path, "wah", source="wah"), world)
    if name.endswith((".jsonl.gz", ".jsonl")):
        return _of_alfred(path, wanted, world)
    if path.is_dir() or name.startswith("recipes_"):
        folder = path if path.is_dir() else path.parent
        return _of_suite("textcraft", wanted._replace(data=wanted.data or str(folder)), world)
    if name.endswith((".json", ".json.gz")):
        return _of_results(path, wanted, world)
    raise BtError(f"{path} is in no format that is known", f"known: {FORMATS}")


def _from(wanted: Wanted, path: Path, folder: str, **options: Any) -> Wanted:
    """The data folder is the one that holds `folder/`, in which the file lies."""
    beside = path.resolve().parent
    data = beside.parent if beside.name == folder else beside
    return wanted._replace(data=wanted.data or str(data), options={**wanted.options, **options})


def _one_file(path: Path, wanted: Wanted, world: Mapping[str, Json]) -> Source:
    """Of all recorded tasks those of this file: their ids begin with its name."""
    own = f"{path.name.partition('.')[0]}-"
    everything = _of_suite("house", wanted._replace(episodes=1_000_000), world)
    return everything._replace(tasks=[t for t in everything.tasks if t.id.startswith(own)][: wanted.episodes])


def _of_alfred(path: Path, wanted: Wanted, world: Mapping[str, Json]) -> Source:
    from bt_runtime.envs.thor.alfred import SPLITS

    split: Split | None = next((s for s in ("train", "eval") if SPLITS[s] == path.name), None)
    if split is None:
        raise BtError(f"{path} is no file of ALFRED's tasks", f"known: {', '.join(SPLITS.values())}")
    return _of_suite("thor", _from(wanted, path, "alfred", source="alfred")._replace(split=split), world)


def _of_results(path: Path, wanted: Wanted, world: Mapping[str, Json]) -> Source:
    from bt_runtime.envs.textcraft.results_file import read_results
    from bt_runtime.envs.textcraft.suite import books

    shelf = books(wanted.data or None)
    tasks = read_results(_json(path), shelf, path.stem)
    chosen: Sequence[Task] = [t for t in tasks if not wanted.kinds or t.kind in wanted.kinds]
    return Source(
        "textcraft", list(chosen[: wanted.episodes]), {**({"data": wanted.data} if wanted.data else {}), **world}
    )


def _json(path: Path) -> Any:
    try:
        raw = path.read_bytes()
        return json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)
    except (OSError, ValueError, EOFError) as problem:
        raise BtError(f"cannot read {path}: {problem}", f"known formats: {FORMATS}") from None

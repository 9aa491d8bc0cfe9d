"""Reads tasks of Watch-And-Help: its own graphs and goals, and WAH-NL's instructions by people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from bt_envs.house.catalogue import Catalogue
from bt_envs.house.graph import read_goal, read_graph
from bt_envs.house.layout import House
from bt_envs.house.tasks import Errand, ask, fits, make_task
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.skills.worlds.content import read_json
from bt_runtime.types import Task

FIFTHS = 5
CUT_OFF = "the file may be cut off: fetch it again"
# of WAH-NL's tasks, by their number: who trains on some must never be evaluated on them
PARTS = {"all": frozenset(range(FIFTHS)), "held": frozenset({0}), "rest": frozenset(range(1, FIFTHS))}


def recorded(paths: Iterable[Path], catalogue: Catalogue, errands: Mapping[str, Errand], rng: Random) -> Iterator[Task]:
    """Yields each recorded task with its apartment and an instruction that we word."""
    for path in paths:
        found = read_json(path, CUT_OFF)
        for i, entry in enumerate(found if isinstance(found, list) else [_as_task(found)]):
            name = f"{path.name.partition('.')[0]}-{i}"
            with _sound(path, i):
                (kind, parts), *_ = entry["goal"].items()
                wanted = {text: count for part in parts for text, count in part.items()}
                apartment = read_graph(entry["init_graph"], catalogue, f"apartment {entry['apartment']}")
                goal = read_goal(wanted, catalogue, apartment.names)
                said = ask(errands[kind], {g["thing"]: g["amount"] for g in goal if "thing" in g}, rng)
            yield Task(name, kind, said, {**apartment.data, "goal": goal})


def _as_task(episode: Mapping[str, Any]) -> dict[str, Any]:
    """Converts a recorded episode to a task: of its graphs, one for each step, the first is the start."""
    goal = {episode["task_name"]: [episode["goals"]]}
    return {"apartment": episode.get("env_id", ""), "init_graph": episode["init_unity_graph"], "goal": goal}


def spoken(
    paths: Iterable[Path],
    catalogue: Catalogue,
    errands: Mapping[str, Errand],
    homes: Mapping[str, House],
    rng: Random,
    part: str,
) -> Iterator[Task]:
    """Yields WAH-NL's tasks with their original instructions.

    Test tasks use their own apartment with its contents, and are for evaluation. For training tasks, the things are
    placed anew in one of `homes`."""
    for path in paths:
        for i, entry in enumerate(read_json(path, CUT_OFF)):
            with _sound(path, i):
                kind, number = str(entry["task_name"]), int(entry["task_id"])
                texts = [str(text) for text in entry["nl_instructions"] if str(text).strip()]
                if not texts:
                    continue
                if "init_graph" in entry:
                    if part != "rest":
                        yield _with_graph(entry, catalogue, f"wah-nl-test-{number}", kind, rng.choice(texts))
                    continue
                able = [home for home in homes.values() if fits(errands[kind], home)]
                if able and number % FIFTHS in PARTS[part]:
                    goal = read_goal(entry["task_goal_derived"], catalogue, {})
                    wanted = {g["thing"]: g["amount"] for g in goal if "thing" in g}
                    name = f"wah-nl-train-{number}"
                    said = rng.choice(texts)
                    yield make_task(errands[kind], rng.choice(able), catalogue, rng, name, wanted, said)


def _with_graph(entry: Mapping[str, Any], catalogue: Catalogue, name: str, kind: str, said: str) -> Task:
    apartment = read_graph(entry["init_graph"], catalogue, f"apartment {entry.get('env_id', '')}".strip())
    goal = read_goal(entry["task_goal"], catalogue, apartment.names)
    data = dict(apartment.data)
    rooms = [room for room in data["house"]["rooms"] if room.startswith(f"{catalogue.spoken(entry['init_room'])} ")]
    return Task(name, kind, said, {**data, "start": rooms[:1] or data["start"], "goal": goal})


@contextmanager
def _sound(path: Path, number: int) -> Iterator[None]:
    """Turns an exception about an incomplete entry into an error with the file and the entry's number."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise BtError(f"entry {number + 1} of {path} is no task of Watch-And-Help: {problem!r}", CUT_OFF) from problem

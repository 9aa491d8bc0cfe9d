"""Tasks of Watch-And-Help: its own graphs with their goals, and WAH-NL's instructions by people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random

from bt_runtime.envs.content import read_json
from bt_runtime.envs.house.catalogue import Catalogue
from bt_runtime.envs.house.graph import read_goal, read_graph
from bt_runtime.envs.house.layout import House
from bt_runtime.envs.house.tasks import Errand, ask, fits, make_task
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.types import Task

FIFTHS = 5
CUT_OFF = "the file may be cut off: fetch it again"
# of WAH-NL's tasks, by their number: who trains on some must never be evaluated on them
PARTS = {"all": frozenset(range(FIFTHS)), "held": frozenset({0}), "rest": frozenset(range(1, FIFTHS))}


def recorded(data: Path, catalogue: Catalogue, errands: Mapping[str, Errand], rng: Random) -> Iterator[Task]:
    """`wah/envset_hist_*`: each task with its apartment as it was, and an instruction of ours."""
    for path in _files(data, "envset_hist_*.json*"):
        for i, entry in enumerate(read_json(path, CUT_OFF)):
            name = f"{path.name.partition('.')[0]}-{i}"
            (kind, parts), *_ = entry["goal"].items()
            wanted = {text: count for part in parts for text, count in part.items()}
            apartment = read_graph(entry["init_graph"], catalogue, f"apartment {entry['apartment']}")
            goal = read_goal(wanted, catalogue, apartment.names)
            said = ask(errands[kind], {g["thing"]: g["amount"] for g in goal}, rng)
            yield Task(name, kind, said, {**apartment.data, "goal": goal})


def spoken(
    data: Path,
    catalogue: Catalogue,
    errands: Mapping[str, Errand],
    homes: Mapping[str, House],
    rng: Random,
    part: frozenset[int],
) -> Iterator[Task]:
    """WAH-NL's train tasks: its goals and its people's words, things strewn anew over one of `homes`."""
    for path in _files(data, "train_plans_instructions.json"):
        for entry in read_json(path, CUT_OFF):
            errand = errands[entry["task_name"]]
            able = [home for home in homes.values() if fits(errand, home)]
            if able and entry["nl_instructions"] and int(entry["task_id"]) % FIFTHS in part:
                goal = read_goal(entry["task_goal_derived"], catalogue, {})
                wanted = {g["thing"]: g["amount"] for g in goal if "thing" in g}
                said = rng.choice(entry["nl_instructions"])
                name = f"wah-nl-train-{entry['task_id']}"
                yield make_task(errand, rng.choice(able), catalogue, rng, name, wanted, said)


def _files(data: Path, pattern: str) -> list[Path]:
    folder = data / "wah" if (data / "wah").is_dir() else data
    found = sorted(folder.glob(pattern))
    if not found:
        raise BtError(f"no {pattern} in {folder}", "give the folder that holds `wah/`")
    return found

"""`python -m tests.journal.kills FOLDER FIRST COUNT`: rounds of runs that are killed, some of them again and again
while they are resumed, and what was wrong with each; a line of JSON for every round."""

from __future__ import annotations

import json
import random
import shutil
import sys
from collections.abc import Callable
from contextlib import closing
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import bt_runtime.memory.episodes  # noqa: F401  what the processes need is there before they part
from bt_runtime.journal import folder as journals
from bt_runtime.journal import replay
from bt_runtime.memory.store import Store as Memory
from tests.journal import chores, errand
from tests.journal.doom import Came, process

ERRANDS = [
    ("house", 3, "simulated"),
    ("house", 3, "lasting"),
    ("textcraft", 16, "simulated"),
    ("textcraft", 16, "lasting"),
]
REPEATABLE = ("inventory",)  # the only sentence of these manifests that says `on_resume: repeat`
MOST = 4  # kills of one run
Work = Callable[[str, Path], dict[str, Any]]


def of_errand(case: tuple[str, int, str]) -> Work:
    name, seed, kind = case
    return lambda mode, folder: errand.run_errand(mode, folder, name, seed, kind == "lasting")


def of_chores(seed: int) -> Work:
    return lambda mode, folder: chores.run_chores(mode, folder, seed)


@lru_cache
def whole(case: tuple[str, int, str] | int, folder: Path) -> tuple[Came, Any]:
    """How it ends when nobody kills it, and what it remembers."""
    place = folder / f"whole-{case}".replace("'", "").replace(" ", "")
    place.mkdir()
    work = of_chores(case) if isinstance(case, int) else of_errand(case)
    return process(partial(work, "start", place), place), remembered(place)


def remembered(place: Path) -> list[tuple[str, ...]]:
    """Every experience, without which run it was."""
    path = place / "memory.sqlite"
    if not path.exists():
        return []
    with closing(Memory(path, readonly=True)) as memory:
        return sorted((e.task, e.kind, e.place, e.goal, e.end, str(e.verdict)) for e in memory.each())


def survived(work: Work, place: Path, draw: random.Random, moments: int) -> tuple[Came, int]:
    """Killed at a moment, perhaps again while it is resumed, and led to its end; with the number of kills."""
    kills, mode, late = 0, "start", draw.random() < 0.3
    while True:
        moment = draw.randint(moments * 9 // 10 if late else 1, moments)
        if kills and (kills == MOST or draw.random() < 0.4):
            moment = 0
        came = process(partial(work, mode, place), place, moment)
        if not came.killed:
            return came, kills
        kills += 1
        found = list((place / "runs").glob("*.btr"))
        if found and journals.begun(found[0]):
            mode = "resume"
        else:  # killed before it began
            for path in found:
                journals.remove(path)


def errand_round(number: int, folder: Path, draw: random.Random) -> dict[str, Any]:
    case = ERRANDS[number // 2 % len(ERRANDS)]
    expected, told = whole(case, folder)
    place = folder / f"errand-{number}"
    place.mkdir()
    came, kills = survived(of_errand(case), place, draw, expected["moments"])
    wrong = [f"{k}: {came[k]}, not {expected[k]}" for k in ("status", "met", "total") if came[k] != expected[k]]
    plan = errand.oracle(case[0], errand.task_of(case[0], case[1]))
    if case[2] == "lasting":
        done = json.loads((place / "site").read_text())["sentences"]  # saved together with what was done
        if without_repeats(done, plan) != plan:
            wrong.append(f"done: {done}")
    if remembered(place) != told:
        wrong.append(f"remembered: {remembered(place)}, not {told}")
    return ended(place, {"case": "-".join(map(str, case)), "kills": kills, "wrong": wrong})


def chores_round(number: int, folder: Path, draw: random.Random) -> dict[str, Any]:
    expected, _ = whole(0, folder)
    place = folder / f"chores-{number}"
    place.mkdir()
    came, kills = survived(of_chores(number), place, draw, expected["moments"])
    wrong = chores.wrong(place, number, kills)
    wrong += [f"status: {came['status']}"] if came["status"] != "SUCCESS" else []
    return ended(place, {"case": "chores", "kills": kills, "wrong": wrong})


def ended(place: Path, found: dict[str, Any]) -> dict[str, Any]:
    path = next((place / "runs").glob("*.btr"))
    said = process(lambda: {"difference": replay(path).difference}, place)
    if said["difference"]:
        found["wrong"].append(f"replay: {said['difference']}")
    if len(list((place / "runs").glob("*.lock"))):
        found["wrong"].append("a lock was left")
    if not found["wrong"]:
        shutil.rmtree(place)
    return found


def without_repeats(done: list[str], plan: list[str]) -> list[str]:
    """Repeats are left out where the manifest allows them; any other stays, and is seen."""
    kept: list[str] = []
    for sentence in done:
        repeated = kept and kept[-1] == sentence and sentence.startswith(REPEATABLE)
        if not (repeated and len(kept) < len(plan) and plan[len(kept)] != sentence):
            kept.append(sentence)
    return kept


if __name__ == "__main__":
    where, first, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    for number in range(first, first + count):
        one = errand_round if number % 2 else chores_round
        print(json.dumps({"round": number, **one(number, where, random.Random(number))}), flush=True)

"""What is proved holds in each run of the engine: on random trees that include others, beside random runs of them."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from bt_author.proof.check import Result, check
from bt_runtime import BtError, Faults, Tree
from bt_runtime.testing.promise import Broken, Promises
from tests.support.random_projects import ProjectMaker
from tests.support.random_runs import run_at_random

TREES = int(os.environ.get("SOUND_TREES", "60"))  # `make proofs` takes 10,000
PART = 60  # seeds of one test
RUNS = 12  # of each tree
PROMISES = (
    "a and b", "n == 2 and a", "tree is failure", "tree is success and not a", "tree is success", "b and n == 1",
    "/t is running and b", "go is running and grab is running", "go is running and a", "look is running and not b",
    "tree is failure and a", "arm is running and lift is running", "look is running and n == 1",
    "/t is success and n == 0", "is_near is success and a",
)  # fmt: skip


def free(tree: Tree, result: Result) -> list[str]:
    """Returns the entries that anybody may write without breaking the proof's word: all but those that it says are the
    tree's, and those of which the author says so."""
    return [
        name for name, port in tree.spec.entries.items() if port.outside is not False and name not in result.assumes
    ]


def broken(tree: Tree, promise: str, seed: int, entries: list[str]) -> str:
    """Returns how a random run breaks a promise, or ""."""
    for number in range(RUNS):
        random, kept = Random(f"{seed} {promise} {number}"), Promises(never=[promise])
        for ticks, run in enumerate(run_at_random(tree, random, entries, 14), 1):
            try:
                kept.look(run, f"after tick {ticks} of run {number}")
            except Broken as error:
                return str(error)
    return ""


def unsound(seed: int, folder: Path) -> tuple[int, list[str]]:
    """Returns how many promises of the tree of this seed are proved, and which of them a run breaks."""
    random = Random(seed)
    try:
        tree = ProjectMaker(random, grows=True, asks=0.5 * (seed % 2)).load(folder / str(seed))
    except Faults:
        return 0, []  # what the loader refuses is no tree
    proved, found = 0, []
    for promise in random.sample(PROMISES, 3):
        try:
            [result] = check(tree, never=promise, states=1_500)
        except BtError as error:
            if "no skill is named" not in str(error):
                found.append(f"{promise}: {error}")
            continue
        if result.outcome == "proved":
            proved += 1
            how = broken(tree, promise, seed, free(tree, result))
            found += [f"{promise} ({result.words()}; {result.doubts}): {how}"] if how else []
    return proved, found


@pytest.mark.parametrize("first", range(0, TREES, PART), ids=lambda first: f"seeds_{first}_to_{first + PART - 1}")
def test_no_run_of_the_engine_breaks_what_is_proved(first: int, tmp_path: Path) -> None:
    """Whatever skills do and whoever writes, except where the proof names what it takes for granted."""
    found = {seed: unsound(seed, tmp_path) for seed in range(first, min(first + PART, TREES))}
    wrong = {seed: each for seed, (_, each) in found.items() if each}
    assert not wrong, f"seed: promises {wrong}"
    assert sum(proved for proved, _ in found.values()) > len(found) // 2

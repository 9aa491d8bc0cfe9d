"""Proofs beside an explorer that knows nothing of them: it goes through every state with the engine itself."""

from __future__ import annotations

import os
from random import Random

import pytest

from bt_runtime.faults.diagnostic import Faults
from bt_runtime.run.run import load
from bt_runtime.testing.check import check
from tests.support.brute_force import explore
from tests.support.random_trees import SKILLS, Maker

TREES = int(os.environ.get("BRUTE_TREES", "48"))
PARTS = 4
PROMISES = (
    "go is running and grab is running", "a and b", "n == 2 and a", "tree is failure", "tree is success and not a",
    "go is running and a", "b and n == 1", "/t is running and b",
)  # fmt: skip


def brute(text: str, promise: str) -> str:
    """What the engine alone finds among all states: kept, broken, or open when there are too many."""
    words = promise.replace("tree is", "/t is")
    found = explore(load(text, skills=SKILLS), never=words, states=400)
    return "refuted" if found.finding is not None else "proved" if found.whole else "open"


@pytest.mark.parametrize("part", range(PARTS))
def test_a_proof_comes_to_the_verdict_of_an_explorer_on_the_engine(part: int) -> None:
    """Two programs, one verdict; and each story is a test that the engine fails."""
    decided = {"proved": 0, "refuted": 0}
    for seed in range(part, TREES, PARTS):
        random = Random(seed)
        text = Maker(random, timed=False, size=6, skills=("arm", "lift", "look", "is_near")).text()
        promise = random.choice([p for p in PROMISES if "go" not in p])
        try:
            tree = load(text, skills=SKILLS)
        except Faults:
            continue
        expected = brute(text, promise)
        [result] = check(tree, never=promise, states=20_000)
        if expected == "open" or result.outcome == "open":
            continue
        assert result.outcome == expected, f"seed {seed}: never {promise}\n{text}"
        decided[result.outcome] += 1
    assert decided["proved"] and decided["refuted"]

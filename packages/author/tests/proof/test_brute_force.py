"""Proofs beside an explorer that knows nothing of them: it goes through every state with the engine itself."""

from __future__ import annotations

import os
from random import Random
from typing import Any

import pytest

from bt_author.proof.check import check
from bt_runtime import Faults, load
from tests.support.brute_force import explore
from tests.support.random_projects import TYPES
from tests.support.random_trees import SKILLS, Maker

TREES = int(os.environ.get("BRUTE_TREES", "48"))  # `make proofs` takes 1,000
PART = 50  # seeds of one test, whose name tells them: a part that failed can be run alone
TICKS = 3_000  # that the explorer plays of one tree; a tree with more is left out
PROMISES = (
    "go is running and grab is running", "a and b", "n == 2 and a", "tree is failure", "tree is success and not a",
    "go is running and a", "b and n == 1", "/t is running and b",
)  # fmt: skip


def brute(text: str, promise: str) -> str:
    """What the engine alone finds among all states: kept, broken, or open when there are too many."""
    words = promise.replace("tree is", "/t is")
    found = explore(load(text, skills=SKILLS), never=words, states=400, ticks=TICKS)
    if found.finding is not None and " raised " in found.finding.why:
        return "open"  # the explorer ends at an error of the tree, which is no broken promise
    return "refuted" if found.finding is not None else "proved" if found.whole else "open"


def sensors(seed: int) -> dict[str, Any]:
    """Returns a head for every other seed: entries that change from outside although nodes write them, or never do."""
    random = Random(f"sensors {seed}")
    said = {name: {**kind, "default": 0 if name == "n" else False} for name, kind in TYPES.items()}
    for port in said.values():
        port.update(random.choice(({}, {"outside": True}, {"outside": False})))
    return {"blackboard": said} if seed % 2 else {}


def compared(seed: int) -> tuple[str, str]:
    """Returns the explorer's and the proof's verdict on the tree of this seed."""
    random = Random(seed)
    asks = 0.5 if seed % 4 > 1 else 0
    text = Maker(random, False, 6, ("arm", "lift", "look", "is_near"), asks).text(**sensors(seed))
    promise = random.choice([p for p in PROMISES if "go" not in p])
    try:
        tree = load(text, skills=SKILLS)
    except Faults:
        return "open", "open"  # what the loader refuses is no tree
    expected = brute(text, promise)
    [result] = check(tree, never=promise, states=20_000)
    return expected, result.outcome


@pytest.mark.parametrize("first", range(0, TREES, PART), ids=lambda first: f"seeds_{first}_to_{first + PART - 1}")
def test_a_proof_comes_to_the_verdict_of_an_explorer_on_the_engine(first: int) -> None:
    """Two programs, one verdict; and each story is a test that the engine fails."""
    seeds = range(first, min(first + PART, TREES))
    verdicts = {seed: compared(seed) for seed in seeds}
    differ = {seed: pair for seed, pair in verdicts.items() if "open" not in pair and len(set(pair)) > 1}
    assert not differ, f"seed: (explorer, proof) {differ}"
    decided = [pair for pair in verdicts.values() if "open" not in pair]
    print(f"seeds {first} to {seeds[-1]}: {len(decided)} of {len(seeds)} compared")
    assert ("proved", "proved") in decided and ("refuted", "refuted") in decided


def test_the_end_of_a_story_may_start_a_skill_that_it_does_not_tell_of() -> None:
    """The tree of this seed starts a skill when it is halted; the proof's replay on the engine halts it."""
    assert compared(924) == ("refuted", "refuted")

"""The model of a tree is the tree: beside the engine, tick by tick, on random trees and random courses of events."""

from __future__ import annotations

import os
from random import Random

import pytest

from bt_runtime.faults.diagnostic import Faults
from bt_runtime.run.run import load
from tests.support.beside_engine import Beside
from tests.support.random_trees import SKILLS, Maker

TREES = int(os.environ.get("BESIDE_TREES", "240"))  # `make proofs` takes 100,000
PART = 200  # seeds of one test


@pytest.mark.parametrize("first", range(0, TREES, PART), ids=lambda first: f"seeds_{first}_to_{first + PART - 1}")
def test_the_model_does_tick_by_tick_what_the_engine_does(first: int) -> None:
    """Results, entries and the time of the next tick are the same after each of twelve ticks."""
    walked = 0
    for seed in range(first, min(first + PART, TREES)):
        random = Random(seed)
        text = Maker(random).text()
        try:
            tree = load(text, skills=SKILLS)
        except Faults:
            continue  # what the loader refuses is no tree
        beside = Beside(tree, random)
        try:
            for tick in range(12):
                differs = beside.tick()
                assert not differs, f"seed {seed}, tick {tick + 1}: {differs}\n{text}"
                walked += 1
                if beside.trial.status.name != "RUNNING":
                    break
        finally:
            beside.close()
    assert walked >= min(PART, TREES - first)

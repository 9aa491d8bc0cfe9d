"""What is explored of a tree is what a run of it does: tick by tick, on random trees and random courses of events."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from bt_runtime import Faults, Tree, load
from tests.support.beside_engine import Beside
from tests.support.random_projects import ProjectMaker
from tests.support.random_trees import SKILLS, Maker

TREES = int(os.environ.get("BESIDE_TREES", "240"))  # `make proofs` takes 100,000
PROJECTS = int(os.environ.get("BESIDE_PROJECTS", "1000"))  # … and 100,000 of these
ASKS = (0, 0.5)  # the share of nodes among tests, for even and odd seeds
PART = 200  # seeds of one test
MENDED = {"an_output_whose_entry_was_unset": 80049}  # seeds of projects that once differed


def walked(tree: Tree, random: Random) -> tuple[int, str]:
    """Goes through twelve ticks of both; returns how many were alike, and how they part."""
    beside = Beside(tree, random)
    try:
        for tick in range(12):
            differs = beside.tick()
            if differs:
                return tick, f"tick {tick + 1}: {differs}"
            if beside.trial.status.name != "RUNNING":
                return tick + 1, ""
        return 12, ""
    finally:
        beside.close()


@pytest.mark.parametrize("first", range(0, TREES, PART), ids=lambda first: f"seeds_{first}_to_{first + PART - 1}")
def test_an_exploration_does_tick_by_tick_what_a_run_does(first: int) -> None:
    """Results, entries and the time of the next tick are the same after each of twelve ticks."""
    ticks = 0
    for seed in range(first, min(first + PART, TREES)):
        random = Random(seed)
        text = Maker(random, asks=ASKS[seed % 2]).text()
        try:
            tree = load(text, skills=SKILLS)
        except Faults:
            continue  # what the loader refuses is no tree
        alike, differs = walked(tree, random)
        assert not differs, f"seed {seed}, {differs}\n{text}"
        ticks += alike
    assert ticks >= min(PART, TREES - first)


@pytest.mark.parametrize("first", range(0, PROJECTS, PART), ids=lambda first: f"seeds_{first}_to_{first + PART - 1}")
def test_included_trees_are_explored_as_a_run_ticks_them(first: int, tmp_path: Path) -> None:
    """The same with ports, aliases and `autoremap`, sensors that the tree resets, and what raises."""
    ticks = 0
    for seed in range(first, min(first + PART, PROJECTS)):
        random = Random(seed)
        maker = ProjectMaker(random, asks=ASKS[seed % 2])
        try:
            tree = maker.load(tmp_path / str(seed))
        except Faults:
            continue  # what the loader refuses is no tree
        alike, differs = walked(tree, random)
        assert not differs, f"seed {seed}, {differs}\n{maker.files}"
        ticks += alike
    assert ticks >= min(PART, PROJECTS - first)


@pytest.mark.parametrize("seed", MENDED.values(), ids=MENDED)
def test_a_project_that_once_differed_is_explored_as_a_run_ticks_it(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    maker = ProjectMaker(random, asks=ASKS[seed % 2])
    alike, differs = walked(maker.load(tmp_path), random)
    assert alike and not differs, f"{differs}\n{maker.files}"

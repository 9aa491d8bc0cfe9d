"""Kinds of work that have no room beside each other among 80 nodes share their parts: each is a case of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

import bt_runtime as bt
from bt_runtime.agents.compile import report
from bt_runtime.agents.compile.compiling import Compiled, of_traces
from bt_runtime.agents.compile.emit import MOST_NODES
from bt_runtime.agents.compile.fuzzing import fuzzed
from bt_runtime.types import Task
from tests.agents.compile.home import GOALS, Home, task, trace
from tests.agents.compile.pantry import Nobody, played

RUNS = 24  # of each kind of work


@pytest.fixture(scope="module")
def home() -> Compiled:
    return of_traces([trace(kind, seed) for kind in GOALS for seed in range(RUNS)], "home")


@pytest.fixture(scope="module")
def file(home: Compiled, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("home") / "trees" / "home.yaml"
    made.parent.mkdir()
    made.write_text(home.text, "utf-8")
    return made


def test_all_kinds_of_work_fit_when_they_share_their_parts(home: Compiled) -> None:
    """No goal that an agent had is left out, within the limit, and parts are not counted as goals of agents."""
    told = report.account(home)
    assert home.nodes <= MOST_NODES
    assert told["goals"] == {"all": len(GOALS) * RUNS, "known": len(GOALS) * RUNS}
    assert told["no room"] == told["never compiled"] == []


def test_without_shared_parts_they_have_no_room(home: Compiled) -> None:
    """One kind after another is compiled whole as long as there is room; nothing is cut where all of it fits."""
    few = of_traces([trace("put", seed) for seed in range(RUNS)], "home")
    assert "file: home" not in few.text.partition("what is not known")[0]
    assert home.text.count("untried:") == 1
    assert home.text.count('goal: "take {it.thing}"') == 6


def test_a_part_has_the_evidence_of_every_kind_of_work(home: Compiled) -> None:
    """The search for a thing is learnt from all runs; two things are fetched by two."""
    fetched = RUNS * (len(GOALS) + 1)
    assert f"sequence:  # {fetched} times in {RUNS * len(GOALS)} runs" in home.text


@pytest.mark.parametrize("kind", GOALS)
def test_each_kind_is_done_in_other_homes_without_a_model(file: Path, kind: str) -> None:
    for seed in range(1000, 1006):
        world = Home(task(kind, seed))
        assert played(file, world, Nobody()) is bt.Status.SUCCESS, world.task
        assert world.verdict().reached, world.task


def test_a_search_does_not_take_back_what_was_brought(file: Path) -> None:
    """The second thing lies farther away than the first, which is at the goal's place by then."""
    where = {"apple 1": "shelf 1", "apple 2": "table 1"}
    world = Home(Task("t", "two", "put two apple in drawer", {"thing": "apple", "place": "drawer", "where": where}))
    assert played(file, world, Nobody()) is bt.Status.SUCCESS
    assert world.verdict().reached


def test_what_is_at_its_place_already_is_not_gone_to(file: Path) -> None:
    """A thing in the fridge is cooled there, and put there: no step fails because the robot stands there."""
    where = {"egg 1": "fridge 1"}
    for goal, place in (("put a cool egg in table", "table"), ("cool some egg and put it in bench", "bench")):
        world = Home(Task("t", "cool", goal, {"thing": "egg", "place": place, "where": where}))
        world.closed.clear()
        assert played(file, world, Nobody()) is bt.Status.SUCCESS
        assert world.verdict().reached


def test_it_ends_in_worlds_that_answer_at_random(home: Compiled) -> None:
    assert "it ended in each" in fuzzed(home, 5)


def test_the_same_runs_give_the_same_bytes(home: Compiled) -> None:
    """In whatever order they come."""
    again = [trace(kind, seed) for kind in reversed(GOALS) for seed in reversed(range(RUNS))]
    assert of_traces(again, "home").text == home.text


def test_an_agent_that_goes_astray_does_the_same_parts() -> None:
    """Going to the goal's place ends a search then. It is no part: most ways lead to places that no goal names."""
    found = of_traces([trace(kind, seed, seed % 3) for kind in GOALS for seed in range(RUNS)], "home")
    assert found.known == len(GOALS) * RUNS
    assert 'goal: "take {it.thing}"' in found.text and "go <" not in found.text

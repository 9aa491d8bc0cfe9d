"""A plan without a model: found exactly when there is one, and playing its tree reaches the goal."""

from __future__ import annotations

import os

import pytest

import bt_runtime as bt
from bt_runtime.agents.backchain.operator import Operator, operators
from bt_runtime.agents.backchain.planning import FoundPlan, planned
from bt_runtime.agents.backchain.relevant import Bound, NoPlan, SearchTooLarge
from bt_runtime.agents.backchain.shape import NeededFacts, chained, reaches, shaped
from bt_runtime.agents.backchain.step import PlanStep
from bt_runtime.agents.backchain.tree_text import Head, written
from bt_runtime.language.tidy import tidy
from bt_runtime.types import Observation
from tests.agents.backchain.skill_sets import Case, MadeUpWorld, case, reachable

SETS = int(os.environ.get("SETS", "200"))  # `make plans` tries 1,000
CHUNKS = 10


def plan_of(made: Case) -> FoundPlan | None:
    try:
        return planned(made.goal, operators(made.kinds), made.given)
    except NoPlan:
        return None


def played(made: Case, text: str, blind: bool = False) -> tuple[MadeUpWorld, bt.Status]:
    world = MadeUpWorld(made, blind)
    with bt.Run(bt.load(text, skills=made.kinds), world=world) as run:
        for _ in range(300):
            if not run.tick().running:
                break
        return world, run.status


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_a_plan_is_found_exactly_when_a_breadth_first_search_finds_one_and_playing_it_reaches_the_goal(chunk) -> None:
    """On random skill sets with slots, denials and conflicts; no action of a played plan is refused."""
    tried = 0
    for seed in range(chunk, SETS, CHUNKS):
        made = case(seed)
        there = reachable(made)
        if there is None:
            continue
        tried += 1
        found = plan_of(made)
        assert (found is not None) == there, f"set {seed}: a search finds {there}, the planner {found}"
        if found is not None:
            world, status = played(made, found.text)
            assert status is bt.Status.SUCCESS and world.reached() and not world.refused, f"set {seed}\n{found.text}"
            assert tidy(found.text) in (None, found.text), "it is formatted as `btr fmt` does"
    assert tried >= SETS // CHUNKS * 0.8


class Told:
    """A world that knows one fact."""

    instant = True

    def __init__(self, answer: bool | None) -> None:
        self.answer = answer

    def skills(self) -> list[str]:
        return []

    def act(self, sentence: str) -> Observation:
        return Observation("nothing", False, "no")

    def holds(self, fact: str) -> bool | None:
        return self.answer


@pytest.mark.rule("holds", 1)
@pytest.mark.parametrize("entry", [True, False])
@pytest.mark.parametrize("answer", [None, True, False])
def test_a_world_is_believed_before_an_entry(answer: bool | None, entry: bool) -> None:
    text = f"version: 1\ntree: t\nblackboard: {{hand_free: {{type: boolean, default: {str(entry).lower()}}}}}\n"
    with bt.Run(bt.load(f"{text}root:\n  holds: hand free\n"), world=Told(answer)) as run:
        expected = entry if answer is None else answer
        assert run.spin(ticks=5) is (bt.Status.SUCCESS if expected else bt.Status.FAILURE)


@pytest.mark.rule("holds", 2)
def test_a_world_that_tells_nothing_is_led_to_the_goal_by_what_the_skills_bring() -> None:
    """`holds` counts what skills have brought in the run where nobody can tell a fact."""
    reached = 0
    for seed in range(40):
        made = case(seed)
        found = plan_of(made)
        if found is not None and found.steps:
            world, status = played(made, found.text, blind=True)
            assert status is bt.Status.SUCCESS and world.reached(), f"set {seed}\n{found.text}"
            reached += 1
    assert reached >= 10


def test_the_shape_that_is_taken_where_needs_undo_one_another_reaches_the_goal_too() -> None:
    """Each step behind all facts from which the rest of the plan leads to the goal."""
    for seed in range(40):
        made = case(seed)
        found = plan_of(made)
        if found is not None and len(found.steps) > 1:
            text = written(Head(), made.goal, [chained(made.goal, found.steps)], made.given)
            world, status = played(made, text)
            assert status is bt.Status.SUCCESS and world.reached() and not world.refused, f"set {seed}\n{text}"


def op(name: str, needs: str = "", brings: str = "", cost: float = 1.0) -> Operator:
    return Operator(name, {}, tuple(filter(None, needs.split(", "))), tuple(brings.split(", ")), cost)


def names(found: FoundPlan) -> list[str]:
    return [step.skill for step in found.steps]


def test_an_action_that_undoes_what_another_brought_comes_first() -> None:
    """Painting the ladder blocks it: the ceiling is painted before, whatever the order of the goal."""
    every = [op("paint_ladder", "", "the ladder is painted, not the ladder is dry"),
             op("paint_ceiling", "the ladder is dry", "the ceiling is painted")]  # fmt: skip
    goal = ["the ladder is painted", "the ceiling is painted"]
    found = planned(goal, every, ["the ladder is dry"])
    assert names(found) == ["paint_ceiling", "paint_ladder"]
    assert found.text.index("paint_ceiling") < found.text.index("paint_ladder")


def test_of_two_ways_the_one_that_takes_less_is_taken() -> None:
    every = [op("walk", "", "here", 60), op("drive", "key", "here", 20), op("fetch_key", "", "key", 5)]
    found = planned(["here"], every)
    assert names(found) == ["fetch_key", "drive"]
    assert found.reasons()[1] == "2. drive (20 s): `here` is asked for; instead of walk (with what it needs 60 s)"


def test_needs_that_undo_one_another_take_the_second_shape() -> None:
    """The machine needs both hands' work at once; what one need's way undoes is not assumed."""
    every = [op("warm_up", "power", "warm, not power"), op("plug_in", "", "power"), op("start", "warm, power", "runs")]
    found = planned(["runs"], every, ["power"])
    assert names(found) == ["warm_up", "plug_in", "start"]
    assert reaches(found.needs, ["runs"], frozenset({"power"}))


def test_what_is_missing_is_named_with_the_way_out() -> None:
    with pytest.raises(NoPlan) as refused:
        planned(["open"], [op("turn", "key", "open")])
    assert "nothing leads to `open`" in str(refused.value) and "--given 'key'" in str(refused.value)


def test_facts_that_exclude_each_other_are_no_plan() -> None:
    every = [op("up", "", "high, not low"), op("down", "", "low, not high")]
    with pytest.raises(NoPlan, match="not all together"):
        planned(["high", "low"], every)


def test_the_search_ends_at_its_bound_and_says_so() -> None:
    """A bound that is reached is told apart from a goal without a plan."""
    every = [op(f"do_{i}", f"f{i}" if i else "", f"f{i + 1}") for i in range(30)]
    with pytest.raises(SearchTooLarge):
        planned(["f30"], every, bound=Bound(sets=5))
    with pytest.raises(SearchTooLarge):
        planned(["f30"], every, bound=Bound(steps=5))
    assert len(planned(["f10"], every).steps) == 10


def test_a_shape_that_does_not_reach_the_goal_is_refused_by_its_rehearsal() -> None:
    """`reaches` plays the needs: a step without what it needs, or a goal that is undone, is found."""
    step = PlanStep("go", (), ("key",), ("here",))
    assert not reaches([NeededFacts(("here",), step)], ["here"], frozenset())
    assert reaches([NeededFacts(("here",), step)], ["here"], frozenset({"key"}))
    assert shaped(["here"], [step], frozenset({"key"}))[0].step == step


def test_each_step_says_what_it_is_for() -> None:
    every = [op("fetch_key", "", "key", 5), op("turn", "key", "open", 2)]
    assert planned(["open"], every).reasons() == [
        "1. fetch_key (5 s): `key` is needed to turn", "2. turn (2 s): `open` is asked for",
    ]  # fmt: skip

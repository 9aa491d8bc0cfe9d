"""`want`, and the strategy `facts`: a model says what shall be true, a planner finds the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest

import bt_runtime as bt
from bt_runtime.agents.scripted import ScriptedModel
from bt_runtime.backchain.ground import Fact, relevant
from bt_runtime.backchain.shown import example_goals
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.replay.replay import replay
from bt_runtime.testing import FAILURE, SUCCESS

FACTS = Path(__file__).parents[2] / "trees/facts.yaml"
Plant = Literal["basil", "fern", "orchid"]
Place = Literal["bench", "tap", "table"]


class Greenhouse:
    """A room with plants and a can, and what was done there."""

    def __init__(self) -> None:
        self.at, self.full, self.watered, self.done = "bench", False, set[str](), list[str]()

    def skills(self) -> list[Any]:
        @bt.skill("walk to {place}", brings=["at {place}"], needs=[], on_resume="repeat")
        def walk(place: Place) -> bool:
            """Go somewhere."""
            self.at = place
            self.done.append(f"walk to {place}")
            return True

        @bt.skill("fill the can", needs=["at tap"], brings=["can full"], on_resume="repeat")
        def fill() -> bool:
            """At the tap."""
            self.done.append("fill")
            self.full = self.at == "tap"
            return self.full

        @bt.skill("water {plant}", needs=["can full", "at bench"], brings=["{plant} is watered"], on_resume="repeat")
        def water(plant: Plant) -> bool:
            """With a full can."""
            self.done.append(f"water {plant}")
            if not (self.full and self.at == "bench"):
                return False
            self.watered.add(plant)
            return True

        @bt.skill("say {text}", brings=["{text} is said"], on_resume="repeat")
        def say(text: str) -> bool:
            """Anything may be said."""
            return True

        @bt.skill("can full", condition=True)
        def can_full() -> bool:
            return self.full

        @bt.skill("at {place}", condition=True)
        def at(place: Place) -> bool:
            return self.at == place

        return [walk, fill, water, say, can_full, at]


@pytest.fixture
def house() -> Greenhouse:
    return Greenhouse()


def run_of(house: Greenhouse, model: Any, goal: str = "Water the fern and the basil.", **more: Any) -> bt.Run:
    return bt.Run(bt.load(FACTS, skills=house.skills()), inputs={"goal": goal}, services={"model": model}, **more)


def test_what_was_said_to_be_true_is_brought_about_and_tested(house: Greenhouse) -> None:
    model = ScriptedModel(["fern is watered", "basil is watered", "that is all"])
    with run_of(house, model) as run:
        assert run.spin(ticks=500) is SUCCESS
        assert run.blackboard["wanted"] == "fern is watered and basil is watered"
    assert house.watered == {"fern", "basil"}
    assert len(model.asked) == 3, "the planner asks no model"


def test_only_facts_that_a_skill_brings_are_offered_each_once_and_the_end_only_after_one(house: Greenhouse) -> None:
    """A slot that anything may fill gives no fact, and what was said is not offered again."""
    model = ScriptedModel(["at tap", "that is all"])
    with run_of(house, model) as run:
        run.spin(ticks=500)
    first, second = ([option.strip() for option in question.options] for question in model.asked)
    places, plants = ("bench", "tap", "table"), ("basil", "fern", "orchid")
    assert first == [*(f"at {place}" for place in places), "can full", *(f"{plant} is watered" for plant in plants)]
    assert second == [*(each for each in first if each != "at tap"), "that is all"]


def test_where_no_way_leads_the_agent_acts_step_by_step(house: Greenhouse) -> None:
    skills = [skill for skill in house.skills() if skill.__name__ != "fill"]
    model = ScriptedModel(["orchid is watered", "that is all", "Act: walk to tap", "Act: failure"])
    with bt.Run(bt.load(FACTS, skills=skills), inputs={"goal": "g"}, services={"model": model}) as run:
        assert run.spin(ticks=500) is FAILURE
    assert house.done == ["walk to tap"]


def test_skills_that_bring_nothing_are_told_with_a_way_out(house: Greenhouse) -> None:
    tree = bt.load('version: 1\ntree: t\nroot: {want: {goal: g, into: wanted}}\n', skills=[house.skills()[-1]])
    with bt.Run(tree, services={"model": ScriptedModel([])}) as run:
        run.tick()
        assert run.status is FAILURE and "says what it brings" in run.root.feedback_message


def test_a_run_of_facts_is_replayed_and_equal(house: Greenhouse, tmp_path: Path) -> None:
    model = ScriptedModel(["fern is watered", "that is all"])
    with run_of(house, model, journal=tmp_path) as run:
        assert run.spin(ticks=500) is SUCCESS
        path = run.journal.path
    assert replay(path).same


def test_examples_are_other_goals_the_same_for_each_seed_and_no_fact_stands_twice() -> None:
    facts = [Fact(f"{name} is watered", f"water {name}", "{plant} is watered") for name in "abcdefghij"]
    shown = example_goals(facts, "Water a.", 6, seed=3)
    assert shown == example_goals(facts, "Water a.", 6, seed=3) != example_goals(facts, "Water a.", 6, seed=4)
    told = [fact for _, right in shown for fact in right]
    assert len(told) == len({*told}) and "a is watered" not in told
    assert [len(right) for _, right in shown] == [1, 2, 3, 1, 2]


def test_of_many_facts_those_that_the_goal_names_are_offered() -> None:
    facts = [Fact(f"box {n} is open", f"open box {n}", "") for n in range(500)]
    kept = relevant(facts, "Open box 499 and box 3.", 10)
    assert len(kept) == 10 and {facts[3], facts[499]} <= {*kept} and kept == sorted(kept, key=facts.index)

"""Worked examples that a planner makes from an agent's own skills, and what an agent is not offered."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest

import bt_runtime as bt
from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.backchain import shown
from bt_runtime.testing import SUCCESS
from bt_runtime.types import Question

Pot = Literal["jug", "bowl", "vase"]
TREES = Path(__file__).parents[2] / "trees"


class Pottery:
    """Pots, and what was done with them."""

    def __init__(self) -> None:
        self.facts = set[str]()

    def skills(self) -> list[Any]:
        @bt.skill("throw {pot}", brings=["{pot} is thrown"])
        def throw(pot: Pot) -> bool:
            self.facts.add(f"{pot} is thrown")
            return True

        @bt.skill("light the kiln", brings=["kiln is lit"], says="It glows.")
        def light() -> bool:
            self.facts.add("kiln is lit")
            return True

        @bt.skill("fire {pot}", needs=["{pot} is thrown", "kiln is lit"], brings=["{pot} is fired"])
        def fire(pot: Pot) -> bool:
            self.facts.add(f"{pot} is fired")
            return True

        @bt.skill("{pot} is thrown", condition=True)
        def thrown(pot: Pot) -> bool:
            return f"{pot} is thrown" in self.facts

        @bt.skill("{pot} is fired", condition=True)
        def fired(pot: Pot) -> bool:
            return f"{pot} is fired" in self.facts

        @bt.skill("kiln is lit", condition=True)
        def lit() -> bool:
            return "kiln is lit" in self.facts

        return [throw, light, fire, thrown, fired, lit]


def asked(tree: str | Path, goal: str, seed: int = 0, prompts: str = "instruct", **more: Any) -> str:
    """The prompt of the first question."""
    heard: list[Question] = []

    def listen(question: Question) -> str:
        heard.append(question)
        return "Act: failure"

    services = {"model": ScriptedModel(listen), "prompts": prompts}
    with bt.Run(bt.load(tree, skills=Pottery().skills()), inputs={"goal": goal}, services=services, seed=seed) as run:
        run.spin(ticks=50)
    return heard[more.get("number", 0)].prompt


def agent(**fields: Any) -> str:
    given = "".join(f", {name}: {value}" for name, value in fields.items())
    return f"version: 1\ntree: t\ninputs: {{goal: {{type: string}}}}\nroot: {{agent: {{goal: '{{goal}}'{given}}}}}\n"


def examples_of(prompt: str) -> list[str]:
    block = prompt.partition("Earlier tasks, and how they went:")[2].partition("Now the task at hand.")[0]
    return [each.partition("\n")[2].strip() for each in block.split("Example ")[1:]]


def test_an_agent_is_shown_how_its_own_skills_reach_other_goals_of_other_things() -> None:
    made = examples_of(asked(TREES / "react.yaml", "Fire the bowl, please."))
    assert len(made) == 3 and not any("bowl" in each for each in made)
    assert len({each.splitlines()[1] for each in made}) > 1, "first acts vary"
    nearest = made[-1]
    assert nearest.endswith("Act: done") and "Act: light the kiln\nIt glows.\n" in nearest
    assert {"Act: fire jug", "Act: fire vase"} & {*nearest.splitlines()}, "what shares most with the goal stands last"


def test_examples_are_the_same_for_a_seed_and_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = asked(TREES / "react.yaml", "Fire the bowl.", seed=3)
    monkeypatch.setattr(shown, "_made", lambda *given: pytest.fail("made again"))
    assert asked(TREES / "react.yaml", "Fire the bowl.", seed=3) == first
    monkeypatch.undo()
    assert asked(TREES / "react.yaml", "Fire the bowl.", seed=4) != first


def test_a_planner_is_shown_plans_in_its_form_and_an_agent_that_expands_one_of_them() -> None:
    root = "root: {plan: {goal: '{goal}', leaf: react, form: steps}}\n"
    planning = f"version: 1\ntree: t\ninputs: {{goal: {{type: string}}}}\n{root}"
    steps = asked(planning, "Fire the bowl.")
    assert "\nStep 3: fire " in steps and "Act: done" not in "".join(examples_of(steps))
    made = examples_of(asked(TREES / "reactree.yaml", "Fire the bowl."))
    assert (
        sum("Expand:\nsequence:\n- " in each for each in made) == 1 and sum("Act: done" in each for each in made) == 2
    )


def test_examples_of_another_trade_are_shown_in_the_nodes_form_and_name_nothing_of_its_own() -> None:
    """Of both nodes of ADaPT; where a node has experiences or its world examples, those come first."""
    acts, steps = (asked(TREES / "adapt.yaml", "Fire the bowl.", number=number) for number in (0, 1))
    assert "Act: store goat cheese in stone cellar\nDone.\nAct: done" in examples_of(acts)[-1]
    assert "\nStep 3: store goat cheese in stone cellar" in examples_of(steps)[-1]
    assert len(examples_of(acts)) == 3 and len(examples_of(steps)) == 1
    for each in (*examples_of(acts), *examples_of(steps)):
        assert not {"throw", "kiln", "fire", "jug", "bowl", "vase"} & {*each.lower().replace(":", " ").split()}
    assert not examples_of(asked(TREES / "adapt.yaml", "Fire the bowl.", prompts="starter"))


def test_none_are_shown_where_none_are_asked_for_nor_to_a_model_of_fixed_prompts_that_is_not_told_to() -> None:
    assert not examples_of(asked(agent(examples=0), "Fire the bowl."))
    assert not examples_of(asked(agent(), "Fire the bowl.", prompts="starter"))
    assert len(examples_of(asked(agent(examples="planned"), "Fire the bowl.", prompts="starter"))) == 3
    assert not examples_of(asked(agent(examples="planned", example_tokens=5), "Fire the bowl."))


def test_examples_take_no_other_word() -> None:
    with pytest.raises(bt.BtError, match="examples"):
        bt.load(agent(examples="plenty"))


def offered(goal: str, script: list[str], prompts: str = "starter", **fields: Any) -> list[set[str]]:
    """What could be acted at each decision."""
    model = ScriptedModel(script)
    tree = bt.load(agent(moves="[act]", **fields), skills=Pottery().skills())
    with bt.Run(tree, inputs={"goal": goal}, services={"model": model, "prompts": prompts}) as run:
        run.spin(ticks=50)
    return [{option.strip() for option in question.options} for question in model.asked]


def test_done_is_not_offered_while_nothing_was_done_and_no_fact_holds_that_the_goal_may_mean() -> None:
    first, second = offered("The bowl is wet clay.", ["throw bowl", "done"], withhold="[early_done]")
    assert "done" not in first and {"failure", "throw bowl"} <= first and "done" in second
    assert "done" in offered("The bowl is wet clay.", ["done"], withhold="[]")[0]


def test_what_leads_nowhere_is_kept_back_unless_somebody_says_otherwise_or_the_prompts_are_learnt() -> None:
    for prompts, fields, kept_back in (
        ("instruct", {}, True),
        ("instruct", {"withhold": "[]"}, False),
        ("starter", {}, False),
    ):
        assert ("done" not in offered("The bowl is wet clay.", ["failure"], prompts, **fields)[0]) is kept_back


def test_an_act_that_changed_nothing_is_not_offered_until_one_has_changed_something() -> None:
    script = ["throw jug", "throw jug", "light the kiln", "done"]
    now = offered("Throw the jug.", script, withhold="[idle_acts]")
    assert ["throw jug" in each for each in now] == [True, True, False, True]


def test_a_word_that_withhold_does_not_know_is_refused() -> None:
    with pytest.raises(bt.BtError, match="withhold"):
        bt.load(agent(withhold="[everything]"))


def test_facts_runs_in_a_house_without_a_copy_of_its_tree() -> None:
    from bt_runtime.plugins import open_suite

    suite = open_suite("house")
    world, task = suite.open(), suite.tasks(0, 1)[0]
    world.reset(task)

    def meant(question: Question) -> str:
        return next(option for option in question.options if "kitchen table" in option).strip()

    with bt.Run(bt.load("facts"), inputs={"goal": task.goal}, world=world, model=ScriptedModel(meant)) as run:
        assert run.spin(ticks=3000) is SUCCESS
    assert world.verdict().met > 0

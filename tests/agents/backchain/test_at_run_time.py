"""Plans without a model while a tree runs: `plan` and `agent` with `by:`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest

import bt_runtime as bt
from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.backchain.operator import Operator
from bt_runtime.agents.backchain.planning import planned
from bt_runtime.agents.backchain.tree_text import Head
from bt_runtime.clock import Manual
from bt_runtime.events import AgentEnded, Expanded, SkillEnded
from bt_runtime.journal import replay
from bt_runtime.language.tidy import tidy
from bt_runtime.plugins import open_suite
from bt_runtime.skills.worlds.registry import open_world
from bt_runtime.testing import SUCCESS

HOUSE = "version: 1\ntree: t\nskills: [house]\n"


class Home:
    """A house with an apple, where a listener may move things."""

    def __init__(self) -> None:
        self.world = open_world("house")
        suite = open_suite("house")
        self.task = next(t for t in suite.tasks(11, 60) if any("apple" in str(g) for g in t.data["goal"]))
        self.world.reset(self.task)
        self.acted: list[tuple[str, bool]] = []
        self.plans: list[str] = []
        self.ended: list[str] = []

    def place(self, kind: str, skip: str = "") -> str:
        fixtures = self.world.house.fixtures
        return next(f.name for f in fixtures if f.furniture.name == kind and f.name != skip)

    def move(self, thing: str, place: str, how: str) -> None:
        """What a person in the house does."""
        state = self.world.state
        i, at = state.index[thing], self.world.house.index[place]
        state.contents[state.place[i]].remove(i)
        state.place[i], state.how[i] = at, how
        state.contents[at].append(i)

    def run(self, root: str, model: Any = None, **more: Any) -> bt.Run:
        services = {} if model is None else {"services": {"model": model}}
        run = bt.Run(bt.load(HOUSE + root), world=self.world, task=self.task, clock=Manual(), **services, **more)
        run.listen(lambda e: self.acted.append((e.sentence, e.status is bt.Status.SUCCESS)), SkillEnded)
        run.listen(lambda e: self.plans.append(e.grafted), Expanded)
        run.listen(lambda e: self.ended.append(f"{e.why}: {e.detail}"), AgentEnded)
        return run


@pytest.fixture
def home() -> Home:
    return Home()


PLAN = "root:\n  plan: {goal: 'apple 1 on kitchen table 1', by: backchaining}\n"


@pytest.mark.rule("plan", 4)
def test_a_condition_is_not_asked_of_a_value_that_is_none_of_its_choices() -> None:
    had = set[str]()

    @bt.skill("{guest} has {suite}", condition=True)
    def housed(guest: Literal["Ito"], suite: Literal["sea suite"]) -> bool:
        return f"{guest} has {suite}" in had

    @bt.skill("{guest} has {meal}", condition=True)
    def served(guest: Literal["Ito"], meal: Literal["supper"]) -> bool:
        return f"{guest} has {meal}" in had

    @bt.skill("serve {meal} to {guest}", brings=["{guest} has {meal}"])
    def serve(guest: Literal["Ito"], meal: Literal["supper"]) -> bool:
        had.add(f"{guest} has {meal}")
        return True

    text = "version: 1\ntree: t\nroot: {plan: {goal: Ito has supper, by: backchaining}}\n"
    with bt.Run(bt.load(text, skills=[housed, served, serve])) as run:
        assert run.spin(ticks=50) is SUCCESS


def test_a_plan_by_backchaining_asks_no_model_and_reaches_its_goal(home: Home) -> None:
    with home.run(PLAN) as run:
        assert run.spin(ticks=500) is bt.Status.SUCCESS
    assert home.world.holds("apple 1 on kitchen table 1")
    assert len(home.plans) == 1 and all(good for _, good in home.acted)


def test_what_holds_already_is_not_planned(home: Home) -> None:
    with home.run("root:\n  plan: {goal: hand free, by: backchaining}\n") as run:
        assert run.spin(ticks=5) is bt.Status.SUCCESS
    assert not home.plans and not home.acted


@pytest.mark.rule("plan", 4)
def test_where_somebody_moves_the_thing_the_next_plan_starts_from_where_it_is_now(home: Home, tmp_path: Path) -> None:
    """The first plan's pick-up fails; the planner grafts another one, the journal holds both, and the replay makes the
    same two."""
    fridge = home.place("fridge")
    moved = []

    def somebody(event: SkillEnded) -> None:
        if event.sentence.startswith("go to ") and not moved and home.world.holds("near apple 1"):
            home.move("apple 1", fridge, "in")
            moved.append(event.sentence)

    with home.run(PLAN, journal=tmp_path) as run:
        run.listen(somebody, SkillEnded)
        assert run.spin(ticks=1000) is bt.Status.SUCCESS
    assert moved and len(home.plans) == 2
    assert "apple 1" not in home.plans[0].partition("pick_up")[0].partition(fridge)[2]
    assert f"open: {fridge}" in home.plans[1] and f"open: {fridge}" not in home.plans[0]
    assert home.world.holds("apple 1 on kitchen table 1")
    again: list[bt.Status] = []
    (path,) = tmp_path.glob("*.btr")
    assert not replay(path, see=lambda run, tick: again.append(run.status)).difference
    assert again[-1] is bt.Status.SUCCESS


def test_plans_are_bounded_where_the_world_never_stands_still(home: Home) -> None:
    """Somebody takes the apple away each time: after `max_invalid` plans the node fails."""
    state = home.world.state
    fridge = home.world.house.index[home.place("fridge")]

    def somebody(event: SkillEnded) -> None:
        if event.sentence == "pick up apple 1" and state.index["apple 1"] in state.bodies[0].hands:
            state.put(state.index["apple 1"], 0, fridge, "in")

    with home.run(PLAN) as run:
        run.listen(somebody, SkillEnded)
        assert run.spin(ticks=3000) is bt.Status.FAILURE
    assert len(home.plans) == 3 and home.ended[-1] == "expanded: failed"


def test_a_goal_that_no_skill_brings_fails_with_the_reason(home: Home) -> None:
    with home.run("root:\n  plan: {goal: apple 1 is painted, by: backchaining}\n") as run:
        assert run.spin(ticks=20) is bt.Status.FAILURE
    assert home.ended == ["invalid: nothing leads to `apple 1 is painted`. no skill brings `apple 1 is painted`: if it "
                          "holds now, --given 'apple 1 is painted'"]  # fmt: skip


def test_only_the_allowed_actions_are_planned(home: Home) -> None:
    text = "root:\n  plan: {goal: 'apple 1 on kitchen table 1', by: backchaining, actions: [go_to, open]}\n"
    with home.run(text) as run:
        assert run.spin(ticks=20) is bt.Status.FAILURE
    assert not home.acted and home.ended[-1].startswith("invalid: nothing leads to")


@pytest.mark.rule("agent", 7)
def test_an_agent_takes_it_as_a_move_and_names_the_facts_that_it_wants(home: Home) -> None:
    """`expand` with `by: backchaining`: the model writes one line of facts, the planner makes the plan."""
    model = ScriptedModel(["Expand:", "apple 1 on kitchen table 1", "Act: done"])
    text = "root:\n  agent: {goal: set the table, moves: [act, expand], by: backchaining, resume: true}\n"
    with home.run(text, model) as run:
        assert run.spin(ticks=500) is bt.Status.SUCCESS
    assert home.world.holds("apple 1 on kitchen table 1") and len(home.plans) == 1


def test_an_agent_is_told_why_there_is_no_plan(home: Home) -> None:
    model = ScriptedModel(["Expand:", "apple 1 is painted", "Act: failure"])
    text = "root:\n  agent: {goal: paint, moves: [act, expand], by: backchaining, resume: true}\n"
    with home.run(text, model) as run:
        assert run.spin(ticks=100) is bt.Status.FAILURE
        assert "no skill brings `apple 1 is painted`" in model.asked[-1].prompt


WRONG = "sequence:\n  - act: put down apple 1\n  - act: fly to the moon\n  - act: pick up apple 1\n"


@pytest.mark.rule("plan", 5)
@pytest.mark.parametrize("goal", ["apple 1 on kitchen table 1", "the apple belongs on the table"])
def test_a_plan_with_missing_and_wrong_steps_is_repaired(home: Home, goal: str) -> None:
    """The goal's facts are reached; where the goal is words, a fact that the plan names is."""
    told = WRONG if "1 on" in goal else WRONG + "  - apple 1 on kitchen table 1\n"
    model = ScriptedModel([told.strip()])
    with home.run(f"root:\n  plan: {{goal: '{goal}', by: repair, leaf: react}}\n", model) as run:
        assert run.spin(ticks=500) is bt.Status.SUCCESS
    assert home.world.holds("apple 1 on kitchen table 1") and all(good for _, good in home.acted)
    assert not any("moon" in plan for plan in home.plans)


def test_a_repaired_plan_keeps_the_way_that_was_proposed() -> None:
    """Of two ways the dearer one is taken, because the model proposed it; what it lacks is added."""
    text = "version: 1\ntree: t\nroot:\n  plan: {goal: here, by: repair, leaf: react}\n"
    walk = bt.skill("walk", name="walk", brings=["here"], takes=20)(lambda: True)
    drive = bt.skill("drive", name="drive", needs=["key"], brings=["here"], takes=60)(lambda: True)
    fetch = bt.skill("fetch the key", name="fetch", brings=["key"], takes=5)(lambda: True)
    done: list[str] = []
    model = ScriptedModel(["sequence:\n  - act: drive"])
    with bt.Run(bt.load(text, skills=[walk, drive, fetch]), services={"model": model}) as run:
        run.listen(lambda e: done.append(e.sentence), SkillEnded)
        assert run.spin(ticks=100) is bt.Status.SUCCESS
    assert done == ["fetch the key", "drive"]


def test_a_planner_that_is_not_installed_is_a_fault_with_the_names_of_those_that_are() -> None:
    with pytest.raises(bt.Faults, match="no planner is called `bakchaining`") as refused:
        bt.load("version: 1\ntree: t\nroot:\n  plan: {goal: here, by: bakchaining}\n")
    assert "backchaining" in str(refused.value.diagnostics[0].help)


def test_a_plan_of_a_model_still_needs_a_leaf() -> None:
    with pytest.raises(bt.Faults, match="lacks its field `leaf`"):
        bt.load("version: 1\ntree: t\nroot:\n  plan: {goal: here}\n")


def test_a_fact_that_was_taken_as_given_is_brought_when_it_does_not_hold() -> None:
    """The plan believes that the key is there; `grow` lets the tree fetch it, and without it the tree fails."""
    skills = [bt.skill("turn the key", name="turn", needs=["key"], brings=["open"])(lambda: True),
              bt.skill("fetch the key", name="fetch", brings=["key"])(lambda: True)]  # fmt: skip
    turn = Operator("turn", {}, ("key",), ("open",))
    for grow, wanted in ((True, ["fetch the key", "turn the key"]), (False, [])):
        plan = planned(["open"], [turn], ["key"], head=Head("plan", grow=grow))
        assert tidy(plan.text) in (None, plan.text)
        done: list[str] = []
        tree = bt.load(plan.text.replace("otherwise: true", "otherwise: false"), skills=skills)
        with bt.Run(tree, clock=Manual()) as run:
            run.listen(lambda e, done=done: done.append(e.sentence), SkillEnded)
            assert run.spin(ticks=50) is (bt.Status.SUCCESS if grow else bt.Status.FAILURE)
        assert done == wanted


def test_a_plan_without_a_model_is_held_to_the_tree_s_properties(home: Home) -> None:
    """What the properties refuse is not grafted; the node fails with their reason."""
    text = "properties:\n  shut: {never: open is running}\n"
    shut = next(f"{f.name} is open" for f in home.world.house.fixtures if f.furniture.name == "fridge")
    plan = f"root:\n  plan: {{goal: {shut}, by: backchaining}}\n"
    with home.run(text + plan) as run:
        assert run.spin(ticks=20) is bt.Status.FAILURE
    assert not home.acted and "shut: never `open is running`" in home.ended[-1]


def test_recipes_that_use_things_up_are_planned_again_from_what_is_left() -> None:
    """TextCraft's facts count what is held; the node fetches again what a recipe took."""
    suite, world = open_suite("textcraft"), open_world("textcraft")
    for task in suite.tasks(11, 6):
        world.reset(task)
        goal = f"1 {task.data['goal']} in inventory"
        text = f"root:\n  plan: {{goal: {goal}, by: backchaining, max_invalid: 40}}\n"
        tree = bt.load("version: 1\ntree: t\nskills: [textcraft]\n" + text)
        with bt.Run(tree, world=world, task=task, clock=Manual()) as run:
            assert run.spin(ticks=2000) is bt.Status.SUCCESS
        assert world.verdict().reached

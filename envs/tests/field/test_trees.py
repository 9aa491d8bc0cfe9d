"""The trees of trees/nav2 drive the robot of the field, as fast as it goes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import bt_runtime as bt
from bt_envs.field.suite import SUITE
from bt_envs.field.world import Field
from bt_runtime.agents import ScriptedModel
from bt_runtime.testing import FAILURE, SUCCESS, Trial, run_tree

Opened = Callable[..., tuple[Field, Any]]


def opened(kind: str, seed: int = 0, **options: Any) -> tuple[Field, Any]:
    task = SUITE.tasks(seed, 1, kinds=[kind], speed=0, **options)[0]
    world = SUITE.open()
    assert isinstance(world, Field)
    world.reset(task)
    return world, task


@pytest.mark.parametrize("seed", [0, 1])
def test_the_robot_replans_recovers_and_docks(seed: int) -> None:
    """On its way the wheels slip and a box falls into the door: it turns itself free, drives round, and comes back."""
    world, task = opened("reach", seed)
    asked = []
    with bt.Run(bt.load("nav2/navigate_with_replanning"), world=world, task=task) as run:
        run.listen(lambda end: asked.append((end.sentence.split()[0], end.status.name)), bt.events.SkillEnded)
        assert run.spin(seconds=200) is bt.Status.SUCCESS
        assert run.outputs["plans"] > 20 and not run.parts.context.crashes
    assert ("follow", "FAILURE") in asked and ("spin", "SUCCESS") in asked and ("dock", "SUCCESS") in asked
    assert world.verdict() == (2, 2) and world.simulator.state.docked and world.simulator.state.freed


def test_the_same_seed_drives_the_same_way_to_the_last_digit() -> None:
    ends = []
    for _ in range(2):
        world, task = opened("reach", 2)
        with bt.Run(bt.load("nav2/navigate_with_replanning"), world=world, task=task) as run:
            run.spin(seconds=120)
        ends.append(world.snapshot())
    assert ends[0] == ends[1]


def test_a_task_without_anything_in_the_way_needs_no_recovery() -> None:
    world, task = opened("reach", 0, calm=True)
    with bt.Run(bt.load("nav2/navigate_with_replanning"), world=world, task=task) as run:
        assert run.spin(seconds=100) is bt.Status.SUCCESS
        [ways] = [node for node in run.nodes() if node.name == "ways"]
        assert ways.status is bt.Status.INVALID
    assert world.simulator.now < 50


def test_another_goal_in_the_middle_of_the_way_is_driven_to() -> None:
    """Planned for each goal, and not once a second."""
    world, task = opened("reach", calm=True)
    inputs = {"goal": {"x": 8.25, "y": 2.0}}
    with bt.Run(bt.load("nav2/navigate_when_goal_updated"), inputs=inputs, world=world, task=task, hz=20) as run:
        run.spin(ticks=160)
    world, task = opened("reach", calm=True)
    with bt.Run(bt.load("nav2/navigate_when_goal_updated"), inputs=inputs, world=world, task=task, hz=20) as run:
        run.listen(lambda tick: tick.number == 160 and run.blackboard.update(goal="shelf a"), bt.events.Tick)
        assert run.spin(seconds=100) is bt.Status.SUCCESS
        assert run.outputs["plans"] == 2
    assert world.holds("at shelf a")


def test_a_goal_that_moves_is_followed_a_metre_behind() -> None:
    world, task = opened("chase", calm=True)
    with bt.Run(bt.load("nav2/follow_point"), world=world, task=task, hz=20) as run:
        assert run.spin(seconds=60) is bt.Status.INVALID
        target = world.simulator.target()
        assert target is not None and 0.7 < world.simulator.pose.far(target) < 1.6
        assert world.simulator.state.gone > 15


def test_a_patrol_with_a_low_battery_charges_in_the_middle_and_goes_on() -> None:
    world, task = opened("rounds", calm=True)
    world.simulator.state.battery = 0.3
    with bt.Run(bt.load("nav2/patrol"), inputs={"low": 0.2}, world=world, task=task) as run:
        run.listen(lambda line: said.append(line.text), bt.events.Line)
        said: list[str] = []
        assert run.spin(seconds=300) is bt.Status.SUCCESS
    assert said == ["charged"] and world.verdict() == (4, 4)


def acts(world: Field, *lines: str) -> tuple[ScriptedModel, list[tuple[str, ...]]]:
    offered: list[tuple[str, ...]] = []
    script = iter(lines)

    def answer(question: Any) -> str:
        offered.append(question.alternatives)
        return next(script)

    return ScriptedModel(answer), offered


def test_an_agent_checks_the_three_shelves_by_the_robot_s_skills() -> None:
    """Docked, it is offered no way to drive; each skill tells it how it came out."""
    world, task = opened("rounds")
    shelves = [f"Act: go to shelf {letter}" for letter in "abc"]
    model, offered = acts(world, "Act: undock", *shelves, "Act: dock", "Act: done")
    with bt.Run(bt.load("nav2/check_shelves"), world=world, task=task, model=model) as run:
        assert run.spin(seconds=300) is bt.Status.SUCCESS
        assert not run.parts.context.crashes
    assert world.verdict() == (4, 4)
    assert "Act: undock" in offered[0] and not {*shelves, "Act: dock"} & {*offered[0]}
    assert {*shelves, "Act: dock"} <= {*offered[1]} and "Act: undock" not in offered[1]


def test_a_low_battery_takes_the_robot_from_the_agent_and_gives_it_back() -> None:
    world, task = opened("rounds", calm=True)
    model, offered = acts(world, "Act: undock", "Act: go to shelf c", "Act: undock", "Act: failure")
    with bt.Run(bt.load("nav2/check_shelves"), world=world, task=task, model=model) as run:
        begun, said = run.parts.engine.count, []

        def drain(tick: bt.events.Tick) -> None:
            if len(offered) == 2 and not said and tick.number > begun + 200:
                said.append("drained")
                world.simulator.state.battery = 0.1

        run.listen(drain, bt.events.Tick)
        run.listen(lambda line: said.append(line.text), bt.events.Line)
        assert run.spin(seconds=300) is bt.Status.FAILURE
    assert said == ["drained", "charged"] and len(offered) == 4


# Without a robot at all: the trees' own logic, by scripts in place of the skills.

PLAN, FOLLOW = "compute_path_to_pose", "follow_path"
WORKS = {"would_a_planner_recovery_help": SUCCESS, "would_a_controller_recovery_help": SUCCESS}
WAYS = {"goal_updated": FAILURE, "clear_entire_costmap": SUCCESS, "spin": SUCCESS, "back_up": SUCCESS}


def test_each_failure_is_helped_another_way_until_six_have_not_helped() -> None:
    skills = {**WORKS, **WAYS, PLAN: {"path": {}}, FOLLOW: FAILURE}
    trial = run_tree("nav2/navigate_with_recovery", skills=skills, inputs={"goal": "there"})
    assert trial.status is FAILURE
    assert len(trial.skills[FOLLOW].starts) == 14  # twice in each of seven attempts
    assert [len(trial.skills[way].starts) for way in ("spin", "back_up")] == [2, 1]


def test_another_goal_ends_the_recovery_at_once() -> None:
    skills = {**WORKS, **WAYS, "goal_updated": SUCCESS, PLAN: {"path": {}}, FOLLOW: [FAILURE, FAILURE, SUCCESS]}
    trial = run_tree("nav2/navigate_with_recovery", skills=skills, inputs={"goal": "there"})
    assert trial.status is SUCCESS and not trial.skills["spin"].starts


def test_a_path_is_planned_once_a_second_while_it_is_followed() -> None:
    with Trial(
        "nav2/plan_and_follow", skills={**WORKS, **WAYS, PLAN: {"path": {}}, FOLLOW: 400}, inputs={"goal": "a"}
    ) as trial:
        for _ in range(50):
            trial.advance(0.1)
        assert len(trial.skills[PLAN].starts) == 5 and len(trial.skills[FOLLOW].starts) == 1

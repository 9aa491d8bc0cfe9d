"""The doubles of Nav2's servers: what they give, how they fail, and that a robot that is told to stop stands still."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import bt_runtime as bt
from bt_envs.field.messages import Pose, path_message, points_of, pose_of, stamped
from bt_envs.field.servers import CODES, SERVERS
from bt_envs.field.services import Service
from bt_envs.field.suite import SUITE
from bt_envs.field.world import Field
from bt_runtime import BtError
from bt_runtime.clock import Manual
from bt_runtime.journal import replay, resume
from bt_runtime.language import manifest
from bt_runtime.language.project import packaged
from bt_runtime.skills.worlds.registry import open_world
from bt_runtime.types import Doing, Task, Timed

FREE = Task("t", "", "", {"goals": []})


def field(x: float = 6.0, y: float = 2.0, **data: Any) -> Field:
    world = Field()
    world.reset(FREE._replace(data={"goals": [], **data}))
    state = world.simulator.state
    state.x, state.y, state.yaw, state.docked = x, y, 0.0, False
    return world


def ticked(world: Field, text: str, seconds: float = 60.0, **values: Any) -> bt.Run:
    """A tree of one node, ticked twenty times a second of a manual clock; closed, its run tells what it wrote."""
    tree = bt.load(f"version: 1\ntree: t\nskills: [nav2]\nblackboard: {{p: any, e: any, g: any}}\nroot:\n  {text}\n")
    clock = Manual()
    with bt.Run(tree, world=world, clock=clock) as run:
        run.blackboard.update(**{"p": None, "e": None, "g": None, **values})
        while run.tick().running and clock.now() < seconds:
            clock.advance(0.05)
        return run


def error(world: Field, text: str, **values: Any) -> int:
    run = ticked(world, text, **values)
    assert run.parts.engine.root.status is bt.Status.FAILURE
    return int(run.blackboard["e"])


# Messages ------------------------------------------------------------------------------------------------


def test_a_pose_and_a_path_are_what_ros_has() -> None:
    message = stamped(Pose(1.5, 2.0, 1.0))
    assert message["pose"]["position"] == {"x": 1.5, "y": 2.0, "z": 0.0}
    found = pose_of(message, {})
    assert found[:2] == (1.5, 2.0) and found.yaw == pytest.approx(1.0, abs=1e-5)
    assert points_of(path_message([Pose(1, 2, 0.0)])) == [Pose(1, 2, 0.0)]


@pytest.mark.parametrize(
    "value", [3, None, {}, {"x": "a", "y": 1}, {"x": float("nan"), "y": 1}, {"pose": 1}, "cellar", []]
)
def test_what_is_no_pose_is_a_fault_with_a_way_out(value: Any) -> None:
    with pytest.raises(BtError) as caught:
        pose_of(value, {"dock": Pose(0, 0)})
    assert caught.value.hint


# Skills --------------------------------------------------------------------------------------------------


def test_every_skill_of_the_manifest_is_done_and_gives_the_outputs_that_it_lists() -> None:
    """An instant one is a function, every other one a skill that can be stopped."""
    world, clock = field(), Manual()
    params = {
        "goal": {"x": 7, "y": 2}, "goals": [{"x": 7, "y": 2}], "path": path_message([Pose(6, 2), Pose(6.5, 2)]),
        "input_path": path_message([Pose(6, 2), Pose(8, 2)]), "input_goals": [{"x": 1, "y": 1}], "error_code": 0,
        "min_battery": 0.2, "input_goal": None,
    }  # fmt: skip
    assert isinstance(world, Doing) and isinstance(world, Timed)
    for kind in manifest.read(packaged("skills") / "nav2.yaml").kinds:
        made, entry = world.skill(kind.name, clock), kind.data["entry"]
        outputs = {f.name for f in kind.fields if f.writes}
        given = {f.name: params.get(f.name, f.default) for f in kind.fields if not f.writes}
        if entry.instant:
            answer = made(**given)
        else:
            made.start(**given)
            for _ in range(4000):
                if made.poll() is not bt.Status.RUNNING:
                    break
                clock.advance(0.05)
            answer = made.result
        assert not outputs or outputs <= answer.keys(), kind.name
    assert world.skill("fly", clock) is None and world.skill("_each", clock) is None


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("compute_path_to_pose: {goal: {x: 99, y: 1}, error_code_id: '{e}'}", "GOAL_OUTSIDE_MAP"),
        ("compute_path_to_pose: {goal: {x: 3.5, y: 3.5}, error_code_id: '{e}'}", "GOAL_OCCUPIED"),
        ("compute_path_to_pose: {goal: {x: 3}, error_code_id: '{e}'}", "UNKNOWN"),
        ("follow_path: {path: 7, error_code_id: '{e}'}", "UNKNOWN"),
        ("drive_on_heading: {dist_to_travel: 9, speed: 1, time_allowance: 2, error_code_id: '{e}'}", "TIMEOUT"),
    ],
)
def test_a_failure_has_the_error_code_that_nav2_gives(text: str, code: str) -> None:
    assert error(field(), text) == CODES[code]


def test_a_robot_in_front_of_something_gives_up_and_says_so() -> None:
    world = field(boxes=[[7.0, 2.0, 0.0]])
    assert error(world, "drive_on_heading: {dist_to_travel: 3, speed: 0.5, error_code_id: '{e}'}") == 703
    world = field(snags=[[6.1, 2.0]])
    path = path_message([Pose(6, 2), Pose(9, 2)])
    assert error(world, "follow_path: {path: '{p}', error_code_id: '{e}'}", p=path) == CODES["FAILED_TO_MAKE_PROGRESS"]
    assert world.simulator.pose.x < 6.1


def test_a_path_round_what_was_seen_is_another_one_until_the_map_is_cleared() -> None:
    """A box that has gone while nobody looked stands on the map yet."""
    world = field(2.0, 4.5)
    straight = ticked(world, "compute_path_to_pose: {goal: shelf a, path: '{p}'}").blackboard["p"]
    world.simulator.state.marks = sorted(
        cell for cell in range(64 * 40) if abs(cell % 64 - 13) < 4 and 20 <= cell // 64 <= 23
    )
    world.simulator.state.x = 9.0
    blocked = world.skill("is_path_valid", Manual())
    assert not blocked(path=straight)
    ticked(world, "clear_entire_costmap: {}")
    assert blocked(path=straight)


def test_a_skill_that_is_halted_lets_the_robot_stand_still_within_the_tick() -> None:
    world, clock = field(), Manual()
    tree = bt.load("version: 1\ntree: t\nskills: [nav2]\nroot:\n  navigate_to_pose: {goal: shelf c}\n")
    with bt.Run(tree, world=world, clock=clock) as run:
        for _ in range(60):
            run.tick()
            clock.advance(0.05)
        assert world.simulator.speed > 0.5
        run.halt("enough")
        assert world.simulator.speed == 0 and world.simulator.driver is None
        before = world.simulator.pose
        world.simulator.until(clock.now() + 5)
        assert world.simulator.pose == before


def test_a_second_driver_ends_the_first() -> None:
    """Two imported trees may not know of `uses`."""
    world, clock = field(), Manual()
    first, second = world.skill("follow_path", clock), world.skill("spin", clock)
    first.start(path=path_message([Pose(6, 2), Pose(9, 2)]))
    second.start(spin_dist=1.0)
    assert first.poll() is bt.Status.FAILURE and "another one" in first.feedback
    clock.advance(2)
    assert second.poll() is bt.Status.SUCCESS and world.simulator.state.yaw == pytest.approx(1.0, abs=0.02)


def test_a_docked_robot_does_not_drive_and_an_empty_one_does_not_move() -> None:
    world = Field()
    world.reset(FREE)
    run = ticked(world, "navigate_to_pose: shelf a")
    assert (
        run.parts.engine.root.status is bt.Status.FAILURE
        and "undock it first" in run.parts.engine.root.feedback_message
    )
    world = field(battery=0.0)
    assert error(world, "drive_on_heading: {dist_to_travel: 1, error_code_id: '{e}'}") == 703
    assert world.simulator.state.gone == 0


def test_a_long_pause_is_not_made_up_for() -> None:
    """A machine that slept for an hour has not driven for an hour."""
    world = field()
    world.simulator.until(0.0)
    world.simulator.until(3600.0)
    assert world.simulator.now == pytest.approx(60.0)


# The seam ------------------------------------------------------------------------------------------------

WALK = "version: 1\ntree: t\nskills: [legs]\nroot:\n  walk: {}\n"
LEGS = "version: 1\nskills: legs\nimpl: world/skill\nkinds: {walk: {on_resume: repeat}}\n"


def test_a_world_without_such_a_skill_or_no_world_is_told_before_the_first_tick(tmp_path: Path) -> None:
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "legs.yaml").write_text(LEGS)
    tree = bt.load(WALK, project=tmp_path)
    for world, said in ((None, "this run has none"), (Field(), "no skill `walk`"), (object(), "no skill `walk`")):
        with pytest.raises(BtError, match=said), bt.Run(tree, world=world) as run:
            run.tick()


def test_a_run_takes_the_time_of_its_world() -> None:
    """As fast as it goes: half a minute passes at once; with another clock that one holds."""
    tree = "version: 1\ntree: t\nroot:\n  wait: 30\n"
    world = field(speed=0)
    with bt.Run(bt.load(tree), world=world) as run:
        assert run.spin() is bt.Status.SUCCESS and run.parts.context.clock.now() == pytest.approx(30)
    with bt.Run(bt.load(tree), world=field(speed=1000)) as run:
        assert run.spin() is bt.Status.SUCCESS
    with bt.Run(bt.load(tree), world=field(speed=0), clock=Manual()) as run:
        assert isinstance(run.parts.context.clock.inner, Manual)


def test_a_run_that_was_cut_off_goes_on_and_plays_back_the_same(tmp_path: Path) -> None:
    """The time by which the robot moves is in no record; the robot of a resumed run begins where its task began."""
    task = SUITE.tasks(0, 1, kinds=["reach"], calm=True, speed=0)[0]
    world = open_world("field")
    world.reset(task)
    with bt.Run(bt.load("nav2/navigate_with_replanning"), world=world, task=task, journal=tmp_path, hz=10) as run:
        run.spin(seconds=6)
    [file] = tmp_path.glob("*.btr")
    assert replay(file).difference == ""
    with resume(file) as again:
        assert again.spin(seconds=120) is bt.Status.SUCCESS
    assert replay(file).difference == ""


def test_the_manifest_s_kinds_are_servers_or_services() -> None:
    kinds = yaml.safe_load((packaged("skills") / "nav2.yaml").read_text())["kinds"]
    world = field()
    for name, kind in kinds.items():
        made = world.skill(name, Manual())
        assert (name in SERVERS) or isinstance(made, Service) or kind.get("instant"), name

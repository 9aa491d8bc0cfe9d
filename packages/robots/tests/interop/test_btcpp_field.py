"""Trees built like Nav2's drive a robot: imported, and done by the doubles of Nav2's servers in the field."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import bt_runtime as bt
from bt_envs.field.messages import Pose, stamped
from bt_envs.field.suite import SUITE
from bt_envs.field.world import Field
from bt_robots.btcpp import importer
from bt_runtime.types import Task

NAV2 = sorted((Path(__file__).parent / "nav2").glob("*.xml"))
START, GOAL, THROUGH = Pose(6, 1.5), Pose(8.25, 4.0, 0.0), Pose(9, 1.75, 0.0)
ENDLESS, SQUARE = "follow_point", "odometry_calibration"


class Driven(NamedTuple):
    status: bt.Status
    world: Field
    plans: int


def drive(path: Path, folder: Path, seconds: float = 200, **data: Any) -> Driven:
    """Of what the import wrote only who does the skills is another: the world, not the stubs."""
    got = importer.load(path, ["nav2"])
    for name, text in got.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        mine = name.startswith("skills/") and name.endswith(".yaml")
        (folder / name).write_text(re.sub(r"(?m)^( +impl:).*$", r"\1 world/skill", text) if mine else text)
    world = SUITE.open()
    assert isinstance(world, Field)
    world.reset(Task("nav2", "", "", {"goals": [], "speed": 0, **data}))
    state = world.simulator.state
    state.x, state.y, state.yaw, state.docked = START.x, START.y, 0.0, False
    tree = bt.load(folder / "trees" / f"{got.main}.yaml", project=folder)
    with bt.Run(tree, world=world, hz=20) as run:
        goals = [stamped(THROUGH), stamped(GOAL)]
        run.blackboard.update(goal=stamped(GOAL), goals=goals, path=None, planner="GridBased", controller="FollowPath")
        status = run.spin(seconds=seconds)
        assert not run.parts.context.crashes, run.parts.context.crashes
    return Driven(status, world, world.simulator.plans)


@pytest.mark.parametrize("path", NAV2, ids=lambda path: path.stem)
def test_each_tree_drives_the_robot_to_its_goal(path: Path, tmp_path: Path) -> None:
    """But the one that follows a point, which stays a metre behind it, and the one that drives three squares."""
    driven = drive(path, tmp_path, seconds=8 if path.stem == ENDLESS else 300)
    here = driven.world.simulator.pose
    if path.stem == ENDLESS:
        assert driven.status is bt.Status.INVALID and 0.8 < here.far(GOAL) < 1.6
    elif path.stem == SQUARE:
        assert driven.status is bt.Status.SUCCESS and driven.world.simulator.state.gone > 20
    else:
        assert driven.status is bt.Status.SUCCESS and here.far(GOAL) < 0.25, here


def test_an_imported_tree_gets_out_of_what_holds_it_up(tmp_path: Path) -> None:
    """The wheels slip on its way, and a box falls onto the path that it follows: it turns, and drives round."""
    path = next(p for p in NAV2 if p.stem == "navigate_to_pose_w_replanning_and_recovery")
    driven = drive(path, tmp_path, snags=[[6.5, 1.6]], boxes=[[7.6, 3.0, 0.0]])
    assert driven.status is bt.Status.SUCCESS and driven.world.simulator.pose.far(GOAL) < 0.25
    assert driven.world.simulator.state.freed == [[6.5, 1.6]] and driven.plans > 5

"""Trees built like those that Nav2 ships run against doubles of its servers: the stubs of the import, filled in."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import bt_runtime as bt
from bt_robots.btcpp import importer
from bt_runtime.clock import Manual
from bt_runtime.language import manifest

NAV2 = sorted((Path(__file__).parent / "nav2").glob("*.xml"))
SERVERS = '''
import json
from pathlib import Path
from bt_runtime import Status

HERE = Path(__file__).parent
ANSWERS = json.loads((HERE / "answers.json").read_text())
OUTPUTS = json.loads((HERE / "outputs.json").read_text())
TOLD = []


def said(name):
    """Whether it works this time; a list is used up, then all is well."""
    TOLD.append(name)
    (HERE / "told.json").write_text(json.dumps(TOLD))
    answer = ANSWERS.get(name, True)
    if isinstance(answer, list):
        return answer.pop(0) if answer else True
    return answer


def given(name, works):
    codes = {"error_code_id": 0 if works else 207, "success": works, "was_completed": works}
    return {out: codes.get(out, "x" if type != "integer" else 1) for out, type in OUTPUTS[name].items()}


def holds(name):
    works = said(name)
    return given(name, works) if OUTPUTS[name] and works else works


def act(name):
    works = said(name)
    for _ in range(3):
        yield
    found = given(name, works)
    return (Status.SUCCESS if works else Status.FAILURE, found) if found else works
'''
QUIET = {"GoalUpdated": False, "GlobalUpdatedGoal": False, "PathExpiringTimer": False, "PathLongerOnApproach": False}


class Driven(NamedTuple):
    status: bt.Status
    seconds: float
    told: list[str]  # which servers were asked, in order


def drive(path: Path, folder: Path, seconds: float = 60, **answers: Any) -> Driven:
    """Imports the tree, fills its stubs in, and ticks it ten times a second."""
    got = importer.load(path, ["nav2"])
    for name, text in got.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    stubs = folder / "skills" / f"{path.stem}.py"
    kinds = {kind.name: kind for kind in manifest.read(stubs.with_suffix(".yaml")).kinds}

    def filled(found: re.Match[str]) -> str:
        return (
            f'    return holds("{found[1]}")'
            if not kinds[found[1]].waits
            else f'    return (yield from act("{found[1]}"))'
        )

    text = re.sub(r'    raise NotImplementedError\(".* what (\w+) does"\)', filled, stubs.read_text())
    stubs.write_text(text.replace("from typing import Any\n", f"from typing import Any\n{SERVERS}", 1))
    outputs = {name: {f.name: f.type for f in kind.fields if f.writes} for name, kind in kinds.items()}
    (folder / "skills" / "outputs.json").write_text(json.dumps(outputs))
    (folder / "skills" / "answers.json").write_text(json.dumps({**QUIET, **answers}))
    clock = Manual()
    tree = bt.load(folder / "trees" / f"{got.main}.yaml", project=folder)
    with bt.Run(tree, clock=clock) as run:
        run.blackboard.update(
            goal="there", goals=["here", "there"], path="x", planner="GridBased", controller="FollowPath"
        )
        while (status := run.tick().status) is bt.Status.RUNNING and clock.now() < seconds:
            clock.advance(0.1)
    return Driven(status, clock.now(), json.loads((folder / "skills" / "told.json").read_text()))


@pytest.mark.parametrize("path", NAV2, ids=lambda path: path.stem)
def test_each_tree_arrives_when_every_server_does_its_work(path: Path, tmp_path: Path) -> None:
    """But the one that follows a point, which goes on until it is told to stop."""
    driven = drive(path, tmp_path, seconds=12)
    wanted = bt.Status.RUNNING if path.stem == "follow_point" else bt.Status.SUCCESS
    assert driven.status is wanted, driven
    assert "FollowPath" in driven.told or "DriveOnHeading" in driven.told


def test_a_controller_that_fails_is_helped_and_asked_again(tmp_path: Path) -> None:
    """Once within its own recovery, then by the ways of the whole tree, each time another one."""
    path = next(p for p in NAV2 if p.stem == "navigate_to_pose_w_replanning_and_recovery")
    driven = drive(path, tmp_path, FollowPath=[False, False, False, False])
    assert driven.status is bt.Status.SUCCESS
    assert driven.told.count("FollowPath") == 5
    ways = [name for name in driven.told if name in ("ClearEntireCostmap", "Spin", "Wait", "BackUp")]
    assert ways == ["ClearEntireCostmap", "ClearEntireCostmap", "ClearEntireCostmap", "ClearEntireCostmap", "Spin"]


def test_a_tree_that_cannot_be_helped_fails_after_its_retries(tmp_path: Path) -> None:
    path = next(p for p in NAV2 if p.stem == "navigate_to_pose_w_replanning_and_recovery")
    driven = drive(path, tmp_path, ComputePathToPose=False)
    assert driven.status is bt.Status.FAILURE
    assert driven.told.count("ComputePathToPose") == 14  # twice in each of seven attempts
    assert "FollowPath" not in driven.told


def test_a_route_is_asked_for_again_once_a_second(tmp_path: Path) -> None:
    path = next(p for p in NAV2 if p.stem == "navigate_w_replanning_only_if_path_becomes_invalid")
    driven = drive(path, tmp_path, IsPathValid=False)
    assert driven.status is bt.Status.SUCCESS
    assert driven.told[:4] == ["GlobalUpdatedGoal", "IsPathValid", "ComputePathToPose", "FollowPath"]

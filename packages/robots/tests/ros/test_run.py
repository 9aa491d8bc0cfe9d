"""`btr run --ros zenoh`: a tree from the command line drives a robot in another process; and its log, and its time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import bt_runtime as bt
from bt_runtime.language.project import init

pytest.importorskip("zenoh", reason="needs the ros extra")
pytest.importorskip("rosbags", reason="needs the ros extra")

from bt_robots.ros.attach import rosout, sim_clock
from bt_robots.ros.zenoh import Zenoh
from packages.robots.tests.ros.conftest import GUARD, free
from packages.robots.tests.ros.waiting import wait


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bt_runtime.cli", "run", "main", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=GUARD, check=False)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("robot")
    for place, data in init.files("ros2"):
        (folder / place).parent.mkdir(exist_ok=True)
        (folder / place).write_bytes(data)
    return folder


def test_a_tree_drives_a_robot_from_the_command_line_without_ros(project: Path, server: str) -> None:
    done = run(project, "--ros", "zenoh", "--ros-connect", server, "--ros-domain", "0", "--plain")
    assert done.returncode == 0, done.stderr
    assert "home again: true" in done.stderr


def test_a_tree_that_speaks_to_ros_says_so_when_there_is_none(project: Path) -> None:
    done = run(project, "--plain")
    assert done.returncode != 0 and "--ros zenoh" in done.stderr and "Traceback" not in done.stderr


def test_options_of_ros_without_ros_and_an_address_where_nobody_is_are_told(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run(project, "--ros-clock")
    assert done.returncode == 2 and "no `--ros`" in done.stderr
    with pytest.raises(bt.BtError, match="no zenoh at tcp/127"):
        Zenoh(free(), opening=0.2)
    monkeypatch.setenv("ROS_DOMAIN_ID", "seven")
    with pytest.raises(bt.BtError, match="ROS_DOMAIN_ID"):
        Zenoh(listen=[free()])


def test_the_log_of_a_run_is_on_rosout_and_its_time_is_the_simulator_s() -> None:
    at = free()
    said: list[Any] = []
    with Zenoh(listen=[at], domain=0) as robot, Zenoh(at, domain=0, opening=GUARD) as ours:
        robot.subscribe("/rosout", "rcl_interfaces/msg/Log", said.append)
        publish = robot.publisher("/clock", "rosgraph_msgs/msg/Clock")
        clock = sim_clock(ours)
        wait(lambda: publish({"clock": {"sec": 100}}), lambda: clock.now() == 100)
        tree = "version: 1\ntree: nap\nroot:\n  sequence: [wait: 3600, {log: {text: awake, level: warning}}]\n"
        with bt.Run(bt.load(tree), clock=clock) as run:
            rosout(run, ours, "nap")
            assert run.tick().running
            wait(lambda: publish({"clock": {"sec": 3700, "nanosec": 1}}), lambda: clock.now() > 3700)
            assert run.tick().status is bt.Status.SUCCESS
            wait(lambda: None if said else rosout_again(run), lambda: said)
    assert {key: said[0][key] for key in ("level", "name", "msg")} == {"level": 30, "name": "nap", "msg": "awake"}


def rosout_again(run: bt.Run) -> None:
    """Who has just come may not be known yet."""
    from bt_runtime.events import Line

    run.parts.context.emit(Line("/nap", "warning", "awake"))

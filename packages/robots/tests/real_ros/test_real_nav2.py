"""The page's errand, and the package of `btr init --example ros2`, with a double of Nav2 made of real rclpy.

`nav2_msgs` and `tf2_msgs` are built by interfaces.py, which needs a compiler; without them these tests are skipped.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bt_runtime as bt
from bt_runtime.language.project import init

pytest.importorskip("nav2_msgs", reason="needs nav2_msgs: make ros-real, with cmake and a C++ compiler")

from bt_robots.ros.messages import Messages
from bt_robots.ros.rclpy import NodeClock, Rclpy, Ticker
from packages.robots.tests.real_ros.conftest import GUARD, Robot, Servers

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of modules that rclpy imports
HOME = Path(__file__).parents[4]
PAGE = (HOME / "docs" / "ros.md").read_text("utf-8")
Serving = Callable[..., Servers]


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """The project of docs/ros.md, as it stands there."""
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    for name, text in re.findall(r"^```yaml (\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def ended(robot: Robot, project: Path, tree: str) -> tuple[bt.Status, bt.Run]:
    """Runs a tree once the node has heard the robot's topics; returns how it ended."""
    ros = Rclpy(robot.node)
    with bt.Run(bt.load(tree, project=project), services={"ros": ros}, clock=NodeClock(robot.node)) as run:
        found: list[bt.Status] = []
        ticker = Ticker(run, robot.node, 20, found.append)
        robot.until(lambda: found)
        ticker.stop()
        ros.close()
        return found[0], run


PATIENT = """
version: 1
tree: patient
skills: [robot]
blackboard: {x: {type: number, default: 0}, yaw: {type: number, default: 0}}
root:
  sequence:
    - retry: {times: -1, child: {sequence: [wait: 0.1, battery_above: 0.2, where_is: {}]}}
    - THEN
"""


def test_the_errand_of_the_page_is_done_as_it_stands(robot: Robot, serving: Serving, page: Path) -> None:
    """A blocked way: Nav2's error is caught, the costmap cleared, the goal sent again; tf says where the robot is."""
    server = serving("blocked", file="nav2.py")
    errand = {"tree": {"file": "errand", "with": {"x": "{x}"}}}
    (page / "trees" / "patient.yaml").write_text(PATIENT.replace("THEN", json.dumps(errand)))
    status, run = ended(robot, page, "patient")
    said = [line for line in server.said() if line != "ready"]
    assert status == bt.Status.SUCCESS, said
    assert said == ["light on", "drive map 2.0 1.0", "blocked", "cleared", "drive map 2.0 1.0", "arrived 2.0 1.0"]
    assert run.blackboard["x"] == pytest.approx(2.0)


def test_a_robot_whose_battery_is_empty_is_not_sent(robot: Robot, serving: Serving, page: Path) -> None:
    server = serving("empty", file="nav2.py")
    robot.spin(0.5)
    assert ended(robot, page, "errand")[0] == bt.Status.FAILURE
    assert not any("drive" in line for line in server.said())


def test_a_frame_that_nobody_broadcasts_has_no_place(robot: Robot, serving: Serving, page: Path) -> None:
    serving(file="nav2.py")
    (page / "trees" / "patient.yaml").write_text(PATIENT.replace("THEN", '{where_is: {what: "gripper"}}'))
    assert ended(robot, page, "patient")[0] == bt.Status.FAILURE


def test_versions_of_types_over_zenoh_are_those_of_real_packages() -> None:
    """The hash of each type's fields, by which rmw_zenoh names topics, against the one that rosidl has written."""
    pytest.importorskip("rosbags", reason="needs the ros extra")
    messages = Messages()
    seen: dict[str, bool] = {}
    for package in ("nav2_msgs", "tf2_msgs", "geometry_msgs", "nav_msgs", "sensor_msgs", "std_msgs", "std_srvs"):
        for file in sorted(Path(sys.prefix, "share", package).glob("*/*.json")):
            types = json.loads(file.read_text())["type_hashes"]
            try:
                messages.need(types[0]["type_name"])
            except bt.BtError:
                continue  # a type that is not known without a folder of interfaces
            known = (each for each in types if each["type_name"] in messages.store.fielddefs)
            seen |= {each["type_name"]: messages.hash(each["type_name"]) == each["hash_string"] for each in known}
    assert "nav2_msgs/action/FollowPath_SendGoal" in seen and "sensor_msgs/msg/LaserScan" in seen
    assert [name for name, same in seen.items() if not same] == []


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The workspace's `install/` after `colcon build` of the example; with a Python skill and a tree in a folder."""
    colcon = Path(sys.prefix, "bin", "colcon")
    if not colcon.exists():
        pytest.skip("needs colcon: make ros-real")
    workspace = tmp_path_factory.mktemp("workspace")
    package = workspace / "src" / "robot_tree"
    for place, data in init.files("ros2"):
        (package / place).parent.mkdir(parents=True, exist_ok=True)
        (package / place).write_bytes(data)
    (package / "trees" / "parts").mkdir()
    (package / "trees" / "parts" / "idle.yaml").write_text("version: 1\ntree: idle\nroot: {wait: 1}\n")
    (package / "skills" / "arm.py").write_text("GRIP = 1\n")
    env = os.environ | {"PATH": f"{sys.prefix}/bin:{os.environ['PATH']}", "AMENT_PREFIX_PATH": sys.prefix}
    command = [colcon, "build", "--packages-select", "robot_tree"]
    done = subprocess.run(command, cwd=workspace, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return workspace / "install" / "robot_tree"


def test_the_example_is_installed_whole(installed: Path) -> None:
    """By colcon: the ament index, the launch file, trees and skills of all folders, Python beside manifests."""
    share = installed / "share" / "robot_tree"
    for name in ("package.xml", "btr.yaml", "launch/tree.launch.py", "trees/main.yaml", "trees/parts/idle.yaml",
                 "skills/nav2.yaml", "skills/arm.py"):  # fmt: skip
        assert (share / name).is_file(), name
    assert (installed / "share" / "ament_index" / "resource_index" / "packages" / "robot_tree").is_file()
    assert (installed / "lib" / "robot_tree" / "node").is_file()


def test_the_example_s_node_drives_there_and_back(robot: Robot, serving: Serving, installed: Path) -> None:
    """The installed program, as a launch file starts it; another node asks for the steps of its life."""
    from lifecycle_msgs.msg import Transition
    from lifecycle_msgs.srv import ChangeState

    server = serving("blocked", file="nav2.py")  # the tree tries once more
    share = installed / "share" / "robot_tree"
    parameters = {"project": share, "tree": share / "trees" / "main.yaml", "hz": 20.0}
    words = [word for name, value in parameters.items() for word in ("-p", f"{name}:={value}")]
    site = installed / "lib" / "python3.11" / "site-packages"
    path = f"{site}:{HOME}:{HOME / 'packages' / 'robots'}"
    env = os.environ | {"AMENT_PREFIX_PATH": f"{installed}:{sys.prefix}", "PYTHONPATH": path}
    node = subprocess.Popen([installed / "lib" / "robot_tree" / "node", "--ros-args", *words], env=env)
    try:
        client = robot.node.create_client(ChangeState, "/robot_tree/change_state")
        robot.until(client.service_is_ready)

        def change(what: int) -> Any:
            future = client.call_async(ChangeState.Request(transition=Transition(id=what)))
            robot.until(future.done)
            return future.result().success

        assert change(Transition.TRANSITION_CONFIGURE) and change(Transition.TRANSITION_ACTIVATE)
        robot.until(lambda: "arrived 0.0 0.0" in server.said(), 2 * GUARD)
        assert "arrived 1.0 2.0" in server.said() and "blocked" in server.said()
        assert change(Transition.TRANSITION_DEACTIVATE) and change(Transition.TRANSITION_CLEANUP)
        node.send_signal(signal.SIGINT)
        assert node.wait(GUARD) in (0, -signal.SIGINT)
    finally:
        node.kill()
        node.wait()

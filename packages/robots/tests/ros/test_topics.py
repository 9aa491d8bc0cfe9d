"""Topics, services, parameters and tf over zenoh."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import bt_runtime as bt
from bt_runtime.clock import Manual
from bt_runtime.plugins import compile

pytest.importorskip("zenoh", reason="needs the ros extra")
pytest.importorskip("rosbags", reason="needs the ros extra")

from bt_robots.ros.transport import LATCHED
from bt_robots.ros.zenoh import Zenoh
from packages.robots.tests.ros.conftest import GUARD, free, tree, until
from packages.robots.tests.ros.double import serve
from packages.robots.tests.ros.topics import MANIFEST

SUCCESS = bt.Status.SUCCESS


@pytest.fixture(scope="module")
def both() -> Iterator[tuple[Zenoh, Zenoh]]:
    """The robot's side, and ours."""
    at = free()
    with Zenoh(listen=[at], domain=0, node="robot") as robot, Zenoh(at, domain=0, opening=GUARD) as ours:
        yield robot, ours


def test_a_condition_over_a_topic_holds_for_what_is_young_enough(tmp_path: Path, both: Any) -> None:
    robot, ours = both
    clock = Manual()
    publish = robot.publisher("/battery_state", "sensor_msgs/msg/BatteryState")
    root = "  battery_above: {least: 0.5, charge: '{charge}', message: '{battery}', age: '{age}'}"
    with bt.Run(tree(tmp_path, root, MANIFEST), services={"ros": ours}, clock=clock) as run:
        assert run.tick().status is bt.Status.FAILURE  # nothing was heard yet
        until_heard(run, lambda: publish({"percentage": 0.75, "voltage": 12.5}), lambda: run.tick().status is SUCCESS)
        assert (run.blackboard["charge"], run.blackboard["battery"]["voltage"]) == (0.75, 12.5)
        clock.advance(5.5)
        assert run.tick().status is bt.Status.FAILURE  # too old
        until_heard(run, lambda: publish({"percentage": 0.75}), lambda: run.tick().status is SUCCESS)
        until_heard(run, lambda: publish({"percentage": 0.25}), lambda: run.tick().status is bt.Status.FAILURE)


def until_heard(run: bt.Run, send: Callable[[], object], holds: Callable[[], object]) -> None:
    """Sends until it is heard: who has just come may not be known yet."""
    end = time.monotonic() + GUARD
    while not holds():
        assert time.monotonic() < end
        send()
        run.parts.runner.woken.wait(0.02)
        run.parts.runner.woken.clear()


def test_a_subscription_keeps_entries_fresh_while_other_nodes_work(tmp_path: Path, both: Any) -> None:
    robot, ours = both
    publish = robot.publisher("/pose", "geometry_msgs/msg/PoseStamped")
    root = "  parallel:\n    children:\n      - keep_pose: {pose: '{pose}', age: '{age}'}\n      - wait: 1000"
    with bt.Run(tree(tmp_path, root, MANIFEST), services={"ros": ours}) as run:
        until_heard(
            run, lambda: publish({"pose": {"position": {"x": 3}}}), lambda: run.tick() and "pose" in run.blackboard
        )
        assert compile("pose.position.x").evaluate(run.blackboard) == 3
        assert 0 <= run.blackboard["age"] < GUARD and run.status is bt.Status.RUNNING


def test_what_was_said_before_anybody_listened_is_heard_when_it_is_latched(tmp_path: Path, both: Any) -> None:
    robot, ours = both
    robot.publisher("/map_name", "std_msgs/msg/String", LATCHED)({"data": "hall"})
    with bt.Run(tree(tmp_path, "  map_known: {data: '{name}'}", MANIFEST), services={"ros": ours}) as run:
        until_heard(run, lambda: None, lambda: run.tick().status is bt.Status.SUCCESS)
        assert run.blackboard["name"] == "hall"


def test_a_message_is_published_with_its_fields_from_parameters(tmp_path: Path, both: Any) -> None:
    robot, ours = both
    heard: list[Any] = []
    robot.subscribe("/said", "std_msgs/msg/String", heard.append)
    with bt.Run(tree(tmp_path, "  say: hello", MANIFEST), services={"ros": ours}) as run:
        until_heard(run, run.tick, lambda: heard)
    assert heard[0] == {"data": "hello"}


def test_a_service_answers_and_says_whether_it_was_done(tmp_path: Path, both: Any) -> None:
    robot, ours = both
    serve(robot, "/dock", "std_srvs/srv/SetBool", lambda ask, say: say({"success": ask["data"], "message": "as told"}))
    root = "  sequence:\n    - dock: {data: true, message: '{m}'}\n    - dock: {data: false}"
    with bt.Run(tree(tmp_path, root, MANIFEST), services={"ros": ours}) as run:
        assert run.spin(seconds=GUARD) is bt.Status.FAILURE
        assert run.blackboard["m"] == "as told" and run.parts.engine.root.children[1].feedback_message == "as told"


def test_parameters_of_a_node_are_read_and_set(tmp_path: Path, both: Any) -> None:
    robot, ours = both
    kept: dict[str, Any] = {"FollowPath.max_vel_x": {"type": 3, "double_value": 0.5}}

    def setting(ask: Any, say: Any) -> None:
        kept.update({each["name"]: each["value"] for each in ask["parameters"]})
        say({"results": [{"successful": True}]})

    name = "/controller_server"
    serve(
        robot,
        f"{name}/get_parameters",
        "rcl_interfaces/srv/GetParameters",
        lambda ask, say: say({"values": [kept.get(each, {}) for each in ask["names"]]}),
    )
    serve(robot, f"{name}/set_parameters", "rcl_interfaces/srv/SetParameters", setting)
    root = (
        "  sequence:\n    - speed: {value: '{v}'}\n    - set_speed: {to: '{v / 2}'}\n    - speed: {value: '{w}'}\n"
        "    - check: v == 0.5 and w == 0.25"
    )
    with bt.Run(tree(tmp_path, root, MANIFEST), services={"ros": ours}) as run:
        assert run.spin(seconds=GUARD) is bt.Status.SUCCESS


def test_where_something_is_is_put_together_along_the_frames(tmp_path: Path, both: Any) -> None:
    robot, ours = both
    turn = {"z": math.sin(math.pi / 4), "w": math.cos(math.pi / 4)}  # a quarter to the left

    def frame(parent: str, child: str, x: float) -> dict[str, Any]:
        at = {"translation": {"x": x}, "rotation": turn}
        return {"header": {"frame_id": parent}, "child_frame_id": child, "transform": at}

    fixed = robot.publisher("/tf_static", "tf2_msgs/msg/TFMessage", LATCHED)
    fixed({"transforms": [frame("odom", "base_link", 2.0)]})
    moving = robot.publisher("/tf", "tf2_msgs/msg/TFMessage")
    root = "  where: {x: '{x}', y: '{y}', yaw: '{yaw}'}"
    with bt.Run(tree(tmp_path, root, MANIFEST), services={"ros": ours}) as run:
        assert run.tick().status is bt.Status.FAILURE  # no way from one to the other
        until_heard(
            run,
            lambda: moving({"transforms": [frame("map", "odom", 1.0)]}),
            lambda: run.tick().status is bt.Status.SUCCESS,
        )
        board = run.blackboard
        assert (board["x"], board["y"], board["yaw"]) == pytest.approx((1.0, 2.0, math.pi))
    with bt.Run(tree(tmp_path, "  where: {what: cup, x: '{x}'}", MANIFEST), services={"ros": ours}) as run:
        assert run.tick().status is bt.Status.FAILURE


def test_a_server_of_another_version_is_told_at_once(tmp_path: Path, both: Any) -> None:
    robot, ours = both
    token = robot.node.endpoint(99, "SS", "/other/dock", "std_srvs/srv/SetBool", "RIHS01_00")
    kept = robot.session.liveliness().declare_token(token)
    manifest = MANIFEST.replace("/dock", "/other/dock")
    with bt.Run(tree(tmp_path, "  dock: {data: true}", manifest), services={"ros": ours}) as run:
        until(run, lambda: run.status is bt.Status.FAILURE)
        assert "another version of std_srvs/srv/SetBool" in run.parts.engine.root.feedback_message
    kept.undeclare()

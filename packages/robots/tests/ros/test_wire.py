"""What is written is what rmw_zenoh writes: its documented examples, and a package of somebody else's that reads it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bt_robots.ros import wire

pytest.importorskip("zenoh", reason="needs the ros extra")
pytest.importorskip("rosbags", reason="needs the ros extra")

from bt_robots.ros.messages import MessageFault, Messages
from bt_robots.ros.zenoh import Zenoh
from packages.robots.tests.ros.conftest import GUARD, free
from packages.robots.tests.ros.waiting import wait

STRING = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"
ADDING = "RIHS01_e118de6bf5eeb66a2491b5bda11202e7b68f198d6f67922cf30364858239c81a"


@pytest.fixture(scope="module")
def messages() -> Messages:
    return Messages()


def test_names_and_versions_are_those_of_the_documented_examples(messages: Messages) -> None:
    messages.need("example_interfaces/srv/AddTwoInts")
    assert messages.hash("std_msgs/msg/String") == STRING
    assert messages.hash("example_interfaces/srv/AddTwoInts") == ADDING
    key = wire.key(0, "/robot1/chatter", "std_msgs/msg/String", STRING)
    assert key == f"0/robot1/chatter/std_msgs::msg::dds_::String_/{STRING}"
    node = wire.Node(2, "aac3178e146ba6f1fc6e6a4085e77f21", "listener")
    assert node.token == "@ros2_lv/2/aac3178e146ba6f1fc6e6a4085e77f21/0/0/NN/%/%/listener"
    assert node.endpoint(10, "MS", "/chatter", "std_msgs/msg/String", STRING) == (
        "@ros2_lv/2/aac3178e146ba6f1fc6e6a4085e77f21/0/10/MS/%/%/listener/%chatter/std_msgs::msg::dds_::String_/"
        f"{STRING}/::,10:,:,:,,"
    )


def test_what_goes_with_a_message_has_33_bytes_and_comes_back() -> None:
    about = wire.Attached(7, 1_700_000_000_000_000_000, bytes(range(16)))
    data = about.packed()
    assert len(data) == 33 and data[:8] == b"\7\0\0\0\0\0\0\0" and data[16] == 16
    assert wire.attached(data) == about
    for wrong in (b"", data[:-1], data + b"\0", data[:16] + b"\x11" + data[17:]):
        with pytest.raises(ValueError, match="rmw_zenoh"):
            wire.attached(wrong)


def test_a_message_is_a_mapping_and_what_it_leaves_out_is_zero(messages: Messages) -> None:
    name = "geometry_msgs/msg/PoseStamped"
    data = messages.pack(name, {"header": {"frame_id": "map"}, "pose": {"position": {"x": 1}}})
    found = messages.unpack(name, data)
    assert found["pose"]["position"] == {"x": 1.0, "y": 0.0, "z": 0.0} and found["header"]["frame_id"] == "map"
    cloud = messages.unpack("sensor_msgs/msg/Image", messages.pack("sensor_msgs/msg/Image", {"data": [0] * 10_001}))
    assert cloud["data"] == {"items": 10_001}


WRONG: dict[str, tuple[Any, str]] = {
    "a field that is not there": ({"pos": 1}, "no field `pos`"),
    "a text for a number": ({"pose": {"position": {"x": "1"}}}, "`pose.position.x` is a number"),
    "no mapping": ({"pose": 3}, "`pose` is a mapping"),
    "too large": ({"header": {"stamp": {"nanosec": -1}}}, "cannot be -1"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_does_not_fit_a_message_is_a_fault_with_its_place(messages: Messages, what: str) -> None:
    value, said = WRONG[what]
    with pytest.raises(MessageFault) as raised:
        messages.pack("geometry_msgs/msg/PoseStamped", value)
    assert said in raised.value.message and raised.value.hint


def test_bytes_that_are_no_such_message_are_a_fault(messages: Messages) -> None:
    for data in (b"", b"\0\1\0\0", b"\0\1\0\0" + b"\xff" * 40):
        with pytest.raises(MessageFault):
            messages.unpack("geometry_msgs/msg/PoseStamped", data)


def test_a_folder_of_one_s_own_says_what_types_there_are(tmp_path: Path) -> None:
    """Its definitions go before ours, so that those of an older distribution can be given."""
    (tmp_path / "nav2_msgs" / "action").mkdir(parents=True)
    (tmp_path / "mine" / "msg").mkdir(parents=True)
    (tmp_path / "mine" / "msg" / "Cup.msg").write_text("int8 FULL=1  # a constant\nstring color red\nint8[<=2] marks\n")
    text = "geometry_msgs/PoseStamped pose\nmine/Cup cup\n---\nstd_msgs/Empty result\n---\n"
    (tmp_path / "nav2_msgs" / "action" / "NavigateToPose.action").write_text(text)
    own = Messages(tmp_path)
    own.need("nav2_msgs/action/NavigateToPose")
    goal = "nav2_msgs/action/NavigateToPose_Goal"
    assert own.unpack(goal, own.pack(goal, {"cup": {"marks": [1]}}))["cup"]["marks"] == [1]
    with pytest.raises(MessageFault, match="at most 2 items"):
        own.pack(goal, {"cup": {"marks": [1, 2, 3]}})
    with pytest.raises(MessageFault, match="is not known"):
        own.need("mine/msg/Cups")


def test_somebody_else_s_ros_over_zenoh_understands_us_and_we_them() -> None:
    """zenoh-ros2-sdk in another process: topics both ways, and a service."""
    pytest.importorskip("zenoh_ros2_sdk", reason="needs the package zenoh-ros2-sdk")
    at = free()
    heard: list[str] = []
    with Zenoh(listen=[at], domain=0) as ours:
        command = [sys.executable, str(Path(__file__).with_name("stranger.py")), at.rpartition(":")[2]]
        other = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            assert other.stdout is not None and b"ready" in other.stdout.readline()
            ours.subscribe("/echo", "std_msgs/msg/String", lambda message: heard.append(message["data"]))
            say = ours.publisher("/chatter", "std_msgs/msg/String")
            adding = ours.service("/add", "example_interfaces/srv/AddTwoInts")
            wait(lambda: say({"data": "hello"}), lambda: heard and adding.ready())
            answers: list[Any] = []
            adding.call({"a": 2, "b": 40}, answers.append, GUARD)
            wait(lambda: None, lambda: answers)
        finally:
            other.kill()
            other.communicate()
    assert heard[0] == "heard hello" and answers[0].value == {"sum": 42}

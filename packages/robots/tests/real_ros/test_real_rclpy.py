"""What docs/ros.md says of a node of rclpy, against real servers over Fast DDS."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bt_runtime as bt

pytest.importorskip("rclpy", reason="needs rclpy: make ros-real")

from bt_robots.ros.messages import MessageFault
from bt_robots.ros.rclpy import NodeClock, Rclpy, Ticker, rosout
from bt_runtime.testing.conformance import check_transport
from packages.robots.tests.real_ros.conftest import Robot, Servers

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of modules that rclpy imports
MANIFEST = """
version: 1
skills: robot
kinds:
  count:
    impl: ros/action
    action: /count
    type: test_msgs/action/Fibonacci
    params: {to: integer}
    goal: {order: "{to}"}
    outputs: {all: list, now: list}
    feedback: {now: sequence}
    result: {all: sequence}
    tells: "{len(sequence)} numbers"
    grace: GRACE
    stopping: 1.5
  clear: {impl: ros/service, service: /clear, type: std_srvs/srv/Trigger, succeeds: success, wait: 2}
  charged:
    impl: ros/topic
    topic: /battery
    type: sensor_msgs/msg/BatteryState
    params: {least: number}
    holds: percentage > least
    qos: sensor
  charged_reliably: {impl: ros/topic, topic: /battery, type: sensor_msgs/msg/BatteryState, holds: percentage > 0}
  map_name: {impl: ros/topic, topic: /map_name, type: std_msgs/msg/String, holds: data == 'hall', qos: latched}
  say: {impl: ros/publish, topic: /say, type: std_msgs/msg/String, params: {data: string}}
  said: {impl: ros/topic, topic: /said, type: std_msgs/msg/String, params: {what: string}, holds: data == what}
  speed: {impl: ros/parameter, node: /counting, parameter: speed, outputs: {now: number}, wait: 3}
  set_speed: {impl: ros/parameter, node: /counting, parameter: speed, params: {to: number}, value: "{to}", wait: 3}
"""
Serving = Callable[..., Servers]


def loaded(folder: Path, root: str, grace: float = 1.0) -> bt.Tree:  # type: ignore[name-defined]
    (folder / "skills").mkdir(exist_ok=True)
    (folder / "btr.yaml").write_text("version: 1\n")
    (folder / "skills" / "robot.yaml").write_text(MANIFEST.replace("GRACE", str(grace)))
    entries = "  all: {type: list, default: []}\n  now: {type: list, default: []}\n  v: {type: number, default: 0}\n"
    text = f"version: 1\ntree: t\nskills: [robot]\nblackboard:\n{entries}root:\n{root}\n"
    return bt.load(text, project=folder)


class Going:
    """A run that a timer of the node ticks."""

    def __init__(self, robot: Robot, folder: Path, root: str, grace: float = 1.0) -> None:
        self.ros = Rclpy(robot.node)
        self.run = bt.Run(loaded(folder, root, grace), services={"ros": self.ros}, clock=NodeClock(robot.node))
        self.ended: list[bt.Status] = []
        self.lines: list[str] = []
        self.run.listen(lambda line: self.lines.append(line.text), bt.events.Line)  # type: ignore[attr-defined]
        self.ticker = Ticker(self.run, robot.node, 20, self.ended.append)
        self.why = lambda: getattr(self.run.parts.engine.root, "feedback_message", "")

    def __enter__(self) -> Going:
        return self

    def __exit__(self, *_: object) -> None:
        self.ticker.stop()
        self.run.close("", 0.0)
        self.ros.close()


def test_a_goal_is_sent_followed_and_its_result_read(robot: Robot, serving: Serving, tmp_path: Path) -> None:
    """Feedback comes while it runs; the result's array is a list."""
    serving()
    with Going(robot, tmp_path, "  count: {to: 4, all: '{all}', now: '{now}'}") as going:
        robot.until(lambda: len(going.run.blackboard["now"]) >= 3)
        assert not going.ended
        robot.until(lambda: going.ended)
        assert going.ended == [bt.Status.SUCCESS]
        assert going.run.blackboard["all"] == [0, 1, 1, 2, 3, 5]


@pytest.mark.parametrize(("word", "said"), [("reject", "has rejected the goal"), ("abort", "aborted")])
def test_a_goal_that_is_rejected_or_aborted_fails_with_the_reason(
    robot: Robot, serving: Serving, tmp_path: Path, word: str, said: str
) -> None:
    serving(word)
    with Going(robot, tmp_path, "  count: {to: 2}") as going:
        robot.until(lambda: going.ended)
        assert going.ended == [bt.Status.FAILURE] and said in going.why()


def test_a_halt_cancels_the_goal_and_waits_until_the_server_has_stopped(
    robot: Robot, serving: Serving, tmp_path: Path
) -> None:
    server = serving()
    with Going(robot, tmp_path, "  count: {to: 200, now: '{now}'}") as going:
        robot.until(lambda: going.run.blackboard["now"])
        going.run.halt("enough")
        robot.until(lambda: "canceled" in server.said())
        robot.until(lambda: not going.run.parts.context.resources.left())


def test_a_halt_before_the_goal_is_accepted_cancels_it_once_it_is(
    robot: Robot, serving: Serving, tmp_path: Path
) -> None:
    server = serving("slow")
    with Going(robot, tmp_path, "  count: {to: 200}") as going:
        skill = robot.until(lambda: [c for c in going.ros._made.values() if c.ready()])
        assert skill
        robot.spin(0.2)  # the goal is under way: its server thinks for half a second
        going.run.halt("enough")
        robot.until(lambda: "canceled" in server.said())


def test_a_server_that_refuses_to_cancel_holds_nothing_longer_than_stopping_says(
    robot: Robot, serving: Serving, tmp_path: Path
) -> None:
    server = serving("stubborn")
    with Going(robot, tmp_path, "  count: {to: 200, now: '{now}'}") as going:
        robot.until(lambda: going.run.blackboard["now"])
        going.run.halt("enough")
        robot.until(lambda: "asked to cancel" in server.said())
        robot.until(lambda: not going.run.parts.context.resources.left(), 15)
        robot.until(lambda: server.said().count("asked to cancel") >= 2)  # it is owed, and asked for again


def test_a_server_that_is_killed_at_work_ends_the_goal_with_the_reason(
    robot: Robot, serving: Serving, tmp_path: Path
) -> None:
    server = serving()
    with Going(robot, tmp_path, "  count: {to: 500, now: '{now}'}") as going:
        robot.until(lambda: going.run.blackboard["now"])
        server.kill()
        robot.until(lambda: going.ended, 40)
        assert going.ended == [bt.Status.FAILURE]
        assert "went away while it worked" in going.why() or "restarted" in going.why()


def test_a_server_that_is_killed_and_comes_back_does_not_know_the_goal(
    robot: Robot, serving: Serving, tmp_path: Path
) -> None:
    """The tree ends with the reason, and a new goal is served by the new process."""
    server = serving()
    with Going(robot, tmp_path, "  count: {to: 500, now: '{now}'}", grace=30) as going:
        robot.until(lambda: going.run.blackboard["now"])
        server.kill()
        serving()
        robot.until(lambda: going.ended, 60)
        assert going.ended == [bt.Status.FAILURE] and "restarted" in going.why()
    with Going(robot, tmp_path, "  count: {to: 1, all: '{all}'}") as going:
        robot.until(lambda: going.ended)
        assert going.ended == [bt.Status.SUCCESS]


def test_a_service_answers_refuses_or_is_missing(robot: Robot, serving: Serving, tmp_path: Path) -> None:
    with Going(robot, tmp_path, "  clear: {}") as going:
        robot.until(lambda: going.ended)
        assert going.ended == [bt.Status.FAILURE] and "there is no server of /clear" in going.why()
    server = serving("no")
    with Going(robot, tmp_path, "  clear: {}") as going:
        robot.until(lambda: going.ended)
        assert going.ended == [bt.Status.FAILURE] and "not today" in going.why()
    server.kill()
    serving()  # for some seconds the killed one is still listed, and a call may go to it
    with Going(robot, tmp_path, "  retry: {times: 20, child: {clear: {}}}") as going:
        robot.until(lambda: going.ended, 60)
        assert going.ended == [bt.Status.SUCCESS]


def test_a_sensor_of_best_effort_is_heard_by_qos_sensor_and_else_the_log_says_why_not(
    robot: Robot, serving: Serving, tmp_path: Path
) -> None:
    serving("sensor")
    logged: list[str] = []
    logger = robot.node.get_logger()
    robot.node.get_logger = lambda: type("Log", (), {"warning": logged.append, "info": logger.info})()
    with Going(robot, tmp_path, "  retry: {times: -1, child: {charged: 0.5}}") as going:
        robot.until(lambda: going.ended)
        assert going.ended == [bt.Status.SUCCESS]
    assert logged == []
    with Going(robot, tmp_path, "  retry: {times: -1, child: {charged_reliably: {}}}") as going:
        robot.until(lambda: logged)
        robot.spin(0.5)
        assert not going.ended and "qos: sensor" in logged[0] and len(logged) == 1


def test_a_latched_message_is_heard_by_who_comes_later(robot: Robot, serving: Serving, tmp_path: Path) -> None:
    serving("map")
    with Going(robot, tmp_path, "  retry: {times: -1, child: {map_name: {}}}") as going:
        robot.until(lambda: going.ended)
        assert going.ended == [bt.Status.SUCCESS]


def test_what_is_published_is_heard_by_others(robot: Robot, serving: Serving, tmp_path: Path) -> None:
    serving("echo")
    root = """  parallel:
    success: 1
    children:
      - repeat: {times: -1, child: {sequence: [say: hello, wait: 0.2]}}
      - retry: {times: -1, child: {said: HELLO}}
"""
    with Going(robot, tmp_path, root) as going:
        robot.until(lambda: going.ended)
        assert going.ended == [bt.Status.SUCCESS]


def test_a_parameter_is_read_set_and_may_be_refused(robot: Robot, serving: Serving, tmp_path: Path) -> None:
    serving()
    with Going(robot, tmp_path, "  sequence: [set_speed: 0.25, speed: {now: '{v}'}]") as going:
        robot.until(lambda: going.ended)
        assert going.ended == [bt.Status.SUCCESS] and going.run.blackboard["v"] == 0.25
    with Going(robot, tmp_path, "  set_speed: 7.5") as going:
        robot.until(lambda: going.ended)
        assert going.ended == [bt.Status.FAILURE] and "too fast" in going.why()


def test_two_nodes_of_one_process_have_runs_of_their_own(robot: Robot, serving: Serving, tmp_path: Path) -> None:
    serving()
    other = Robot("second")
    robot.executor.add_node(other.node)
    with Going(robot, tmp_path, "  count: {to: 2, all: '{all}'}") as one:
        (tmp_path / "b").mkdir()
        with Going(other, tmp_path / "b", "  count: {to: 3, all: '{all}'}") as two:
            robot.until(lambda: one.ended and two.ended)
            assert len(one.run.blackboard["all"]) == 4 and len(two.run.blackboard["all"]) == 5
    other.node.destroy_node()


def test_an_unknown_type_and_a_field_that_is_none_are_faults(robot: Robot) -> None:
    ros = Rclpy(robot.node)
    with pytest.raises(MessageFault, match=r"no_package/msg/Nothing"):
        ros.publisher("/x", "no_package/msg/Nothing")
    send = ros.publisher("/x", "std_msgs/msg/String")
    with pytest.raises(MessageFault, match="it has data"):
        send({"text": "hello"})
    with pytest.raises(MessageFault, match="String"):
        send({"data": 7})
    ros.close()


def test_messages_of_every_shape_come_back_as_they_were_sent(robot: Robot) -> None:
    """Nested messages, arrays of numbers and of messages, octets."""
    from bt_robots.ros.rosidl import made, plain, type_of

    for name, value in (
        ("nav_msgs/msg/Path", {"header": {"frame_id": "map"}, "poses": [{"pose": {"position": {"x": 1}}}]}),
        ("geometry_msgs/msg/PoseWithCovariance", {"covariance": [1] + [0] * 35}),
        ("std_msgs/msg/ByteMultiArray", {"data": [1, 2, 255]}),
        ("std_msgs/msg/Float32MultiArray", {"data": [0.5, 2]}),
        ("test_msgs/msg/BasicTypes", {"bool_value": True, "byte_value": 7, "int64_value": -(2**62)}),
        ("test_msgs/msg/Nested", {"basic_types_value": {"float64_value": 3}}),
    ):
        back = plain(made(type_of("message", name), value))
        again = plain(made(type_of("message", name), back))
        assert back == again
        assert _inside(value, back), (name, back)


def _inside(part: Any, whole: Any) -> bool:
    if isinstance(part, dict):
        return all(_inside(value, whole[name]) for name, value in part.items())
    if isinstance(part, list):
        return len(part) == len(whole) and all(map(_inside, part, whole))
    return bool(part == whole)


def test_the_transport_passes_the_kit_for_strangers(robot: Robot) -> None:
    """The executor spins in a thread of its own, as a program does that has other work."""
    over = threading.Event()
    thread = threading.Thread(
        target=lambda: [robot.executor.spin_once(timeout_sec=0.02) for _ in iter(over.is_set, True)]
    )
    thread.start()
    try:
        ros = Rclpy(robot.node)
        check_transport(ros)
        ros.close()
    finally:
        over.set()
        thread.join()


def test_the_log_of_a_run_is_heard_on_rosout(robot: Robot, tmp_path: Path) -> None:
    from rcl_interfaces.msg import Log

    heard: list[str] = []
    listener = Robot("listener")
    listener.node.create_subscription(Log, "/rosout", lambda message: heard.append(message.msg), 10)
    robot.executor.add_node(listener.node)
    with bt.Run(loaded(tmp_path, "  sequence: [log: hello there, wait: 1]"), clock=NodeClock(robot.node)) as run:
        rosout(run, robot.node)
        robot.spin(0.5)
        run.tick()
        robot.until(lambda: any("hello there" in text for text in heard))
    listener.node.destroy_node()


def test_a_managed_node_goes_through_its_life_by_the_services_of_a_lifecycle_manager(
    robot: Robot, serving: Serving, tmp_path: Path
) -> None:
    """configure, activate: it ticks; deactivate: the goal is cancelled; cleanup. Another node asks for each."""
    from lifecycle_msgs.msg import Transition
    from lifecycle_msgs.srv import ChangeState

    from bt_robots.ros.managed import ManagedTree

    server = serving()
    loaded(tmp_path, "  succeed: {}")
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "main.yaml").write_text("version: 1\ntree: main\nskills: [robot]\nroot: {count: {to: 300}}\n")
    managed = ManagedTree("managed")
    robot.executor.add_node(managed)
    managed.set_parameters([
        rclpy_parameter("project", str(tmp_path)), rclpy_parameter("tree", "main"), rclpy_parameter("hz", 20.0)
    ])  # fmt: skip
    client = robot.node.create_client(ChangeState, "/managed/change_state")
    robot.until(client.service_is_ready)

    def change(what: int) -> bool:
        future = client.call_async(ChangeState.Request(transition=Transition(id=what)))
        robot.until(future.done)
        return bool(future.result().success)

    assert change(Transition.TRANSITION_CONFIGURE) and change(Transition.TRANSITION_ACTIVATE)
    robot.until(lambda: "begun 300" in server.said())
    assert change(Transition.TRANSITION_DEACTIVATE)
    robot.until(lambda: "canceled" in server.said() and managed.running is None)
    assert change(Transition.TRANSITION_CLEANUP)
    managed.set_parameters([rclpy_parameter("tree", "nothing")])
    assert not change(Transition.TRANSITION_CONFIGURE)
    managed.destroy_node()


def rclpy_parameter(name: str, value: object) -> Any:
    from rclpy.parameter import Parameter

    return Parameter(name, value=value)


def test_no_tick_waits_for_a_server(robot: Robot, tmp_path: Path) -> None:
    """A tick with a missing server costs no more than ten times one with nothing to do."""

    def cost(root: str) -> float:
        with bt.Run(loaded(tmp_path, root), services={"ros": Rclpy(robot.node)}) as run:
            run.tick()
            began = time.perf_counter()
            for _ in range(50):
                run.tick()
            return time.perf_counter() - began

    assert cost("  count: {to: 3}") < 10 * cost("  wait: 100") + 0.5

"""The transport on rclpy, with a double that is made from rclpy's signatures: the thing itself cannot be had here."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bt_runtime as bt

pytest.importorskip("rosbags", reason="needs the ros extra")

from bt_robots.ros.rclpy import NodeClock, Rclpy, Ticker, rosout
from packages.robots.tests.ros import rclpy_double
from packages.robots.tests.ros.conftest import tree
from packages.robots.tests.ros.rclpy_double import ABORTED, CANCELED, SUCCEEDED, Server, System
from packages.robots.tests.ros.topics import MANIFEST as TOPICS

MOST = 200  # turns of an executor in which whatever is waited for must have come


@pytest.fixture
def system() -> Iterator[System]:
    with rclpy_double.rclpy() as made:
        yield made


@pytest.fixture
def node(system: System) -> Any:
    from rclpy.node import Node

    return Node("robot")


def goals(system: System, **about: Any) -> list[Server]:
    """An action server that does what it is told by the test."""
    found: list[Server] = []

    def take(server: Server) -> Server:
        for name, value in about.items():
            setattr(server, name, value)
        found.append(server)
        return server

    system.actions["/navigate_to_pose"] = take
    return found


def spun(system: System, holds: Any) -> None:
    for _ in range(MOST):
        if holds():
            return
        system.now += 10**8
        system.spin()
    raise AssertionError("it has not come")


def test_a_timer_ticks_and_a_goal_is_followed_without_waiting(tmp_path: Path, system: System, node: Any) -> None:
    found, ended = goals(system), []
    whole = tree(tmp_path, "  go: {x: 3, left: '{left}', at: '{at}', code: '{code}'}")
    with bt.Run(whole, services={"ros": Rclpy(node)}, clock=NodeClock(node)) as run:
        Ticker(run, node, 10, ended.append)
        spun(system, lambda: found)
        assert system.timers[0].period == 0.1 and found[0].goal.pose.pose.position.x == 3
        found[0].feed(distance_remaining=2.5, current_pose={"pose": {"position": {"x": 1.0}}})
        spun(system, lambda: run.blackboard.get("left") == 2.5)
        found[0].end(SUCCEEDED, error_code=0, error_msg="")
        spun(system, lambda: ended)
    assert ended == [bt.Status.SUCCESS] and system.timers == []
    assert run.blackboard["at"] == {"x": 1.0} and run.blackboard["code"] == 0


@pytest.mark.parametrize(("status", "said"), [(ABORTED, "aborted"), (CANCELED, "canceled"), (0, "restarted")])
def test_a_goal_that_does_not_succeed_fails(tmp_path: Path, system: System, node: Any, status: int, said: str) -> None:
    found = goals(system)
    with bt.Run(tree(tmp_path, "  go: {code: '{code}'}"), services={"ros": Rclpy(node)}) as run:
        Ticker(run, node)
        spun(system, lambda: found)
        found[0].end(status, error_code=7)
        spun(system, lambda: run.status is bt.Status.FAILURE)
        assert said in run.parts.engine.root.feedback_message and run.blackboard.get("code") in (
            (7,) if status else (None,)
        )


def test_a_rejected_goal_fails(tmp_path: Path, system: System, node: Any) -> None:
    goals(system, accepts=False)
    with bt.Run(tree(tmp_path, "  go: {}"), services={"ros": Rclpy(node)}) as run:
        Ticker(run, node)
        spun(system, lambda: run.status is bt.Status.FAILURE)


def test_a_halt_cancels_and_the_next_goal_hears_nothing_of_the_last(tmp_path: Path, system: System, node: Any) -> None:
    """Late feedback and a late result of a goal that is gone reach nobody, whatever id they come under."""
    found = goals(system)
    with bt.Run(tree(tmp_path, "  go: {left: '{left}'}"), services={"ros": Rclpy(node)}) as run:
        ticker = Ticker(run, node)
        spun(system, lambda: found and found[0].waiting)
        run.halt("another way")
        assert found[0].asked == 1
        spun(system, lambda: "waits" in run.parts.engine.root.feedback_message)
        assert len(found) == 1  # until it has stopped
        found[0].end(CANCELED)
        spun(system, lambda: len(found) == 2)
        found[0].feed(distance_remaining=99.0)
        found[1].feed(found[0].id, distance_remaining=98.0)
        found[1].feed(distance_remaining=1.0)
        spun(system, lambda: run.blackboard.get("left") is not None)
        assert run.blackboard["left"] == 1.0
        ticker.stop()
        run.halt("enough")
        found[1].end(CANCELED)
        spun(system, lambda: not run.parts.context.resources.left())


def test_a_halt_before_the_answer_cancels_as_soon_as_it_has_come(tmp_path: Path, system: System, node: Any) -> None:
    found = goals(system)
    with bt.Run(tree(tmp_path, "  go: {}"), services={"ros": Rclpy(node)}) as run:
        run.tick()
        run.halt("at once")
        assert found[0].asked == 0
        spun(system, lambda: found[0].asked == 1)
        found[0].end(CANCELED)
        spun(system, lambda: not run.parts.context.resources.left())


def test_a_server_that_is_gone_for_too_long_is_a_failure(tmp_path: Path, system: System, node: Any) -> None:
    found = goals(system)
    with bt.Run(tree(tmp_path, "  go: {}"), services={"ros": Rclpy(node)}, clock=NodeClock(node)) as run:
        Ticker(run, node)
        spun(system, lambda: found and found[0].waiting)
        serve = system.actions.pop("/navigate_to_pose")
        spun(system, lambda: "is gone" in run.parts.engine.root.feedback_message)
        system.actions["/navigate_to_pose"] = serve
        spun(system, lambda: len(found[0].waiting) == 2)  # back in time: it is asked how it stands
        del system.actions["/navigate_to_pose"]
        spun(system, lambda: run.status is bt.Status.FAILURE)


def test_a_goal_that_was_given_up_is_cancelled_when_its_server_is_back(
    tmp_path: Path, system: System, node: Any
) -> None:
    found = goals(system, cancels=False)
    with bt.Run(tree(tmp_path, "  go: {}"), services={"ros": Rclpy(node)}, clock=NodeClock(node)) as run:
        Ticker(run, node)
        spun(system, lambda: found and found[0].waiting)
        serve = system.actions.pop("/navigate_to_pose")
        spun(system, lambda: run.status is bt.Status.FAILURE)
        assert found[0].asked == 0
        system.actions["/navigate_to_pose"] = serve
        spun(system, lambda: found[0].asked == 2)  # it refuses, and is asked again
        found[0].cancels = True
        spun(system, lambda: not system.timers)
    assert found[0].asked == 3


def test_topics_services_and_parameters_are_those_of_the_node(tmp_path: Path, system: System, node: Any) -> None:
    system.services["/dock"] = lambda ask: {"success": ask["data"], "message": "as told"}
    system.services["/controller_server/get_parameters"] = lambda ask: {"values": [{"type": 3, "double_value": 0.5}]}
    root = (
        "  sequence:\n    - say: hello\n    - dock: {data: true}\n    - speed: {value: '{v}'}\n"
        "    - battery_above: {least: 0.5, charge: '{c}'}"
    )
    with bt.Run(tree(tmp_path, root, TOPICS), services={"ros": Rclpy(node)}) as run:
        run.tick()  # nodes subscribe
        node.create_publisher(system.type("sensor_msgs/msg/BatteryState"), "/battery_state", 10).publish(
            rclpy_double._names({"percentage": 0.75})
        )
        Ticker(run, node)
        spun(system, lambda: run.status is bt.Status.SUCCESS)
        assert (run.blackboard["v"], run.blackboard["c"]) == (0.5, 0.75)
    assert ("/said", {"data": "hello"}) in system.sent


def test_a_message_that_does_not_fit_is_told_by_its_field(tmp_path: Path, system: System, node: Any) -> None:
    manifest = TOPICS.replace("params: {data: string}", "params: {text: string}")
    with bt.Run(tree(tmp_path, "  say: hello", manifest), services={"ros": Rclpy(node)}) as run:
        tick = run.tick()
        assert tick.status is bt.Status.FAILURE and "text" in str(tick.crashes[0])


def test_the_log_of_a_run_is_the_node_s(tmp_path: Path, system: System, node: Any) -> None:
    with bt.Run(bt.load("version: 1\ntree: t\nroot: {log: {text: careful, level: warning}}\n")) as run:
        rosout(run, node)
        run.spin()
    assert system.log == [("warning", "/t: careful")]


def managed(tmp_path: Path, system: System, root: str) -> Any:
    tree(tmp_path, root)
    node = importlib.import_module("bt_robots.ros.managed").ManagedTree("robot")
    node.parameters["tree"].value = str(tmp_path / "tree.yaml")
    node.parameters["project"].value = str(tmp_path)
    return node


def test_a_managed_node_loads_ticks_and_halts_by_its_transitions(tmp_path: Path, system: System) -> None:
    from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn

    done, failed, state = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE, LifecycleState()
    found = goals(system)
    node = managed(tmp_path, system, "  go: {x: '{far}'}\ninputs: {far: {type: number, default: 1}}")
    assert node.on_activate(state) is failed  # nothing is configured
    assert node.on_configure(state) is done and not system.timers
    node.parameters["inputs"].value = "{"
    assert node.on_activate(state) is failed and node.running is None  # that is no JSON
    node.parameters["inputs"].value = '{"far": 7}'
    assert node.on_activate(state) is done
    spun(system, lambda: found and found[0].waiting)
    assert found[0].goal.pose.pose.position.x == 7
    assert node.on_deactivate(state) is done and found[0].asked == 1
    assert node.on_activate(state) is failed  # it has not stopped yet, and nobody waits for it in a transition
    found[0].end(CANCELED)
    spun(system, lambda: node.running is None)
    assert not system.timers
    assert node.on_activate(state) is done
    spun(system, lambda: len(found) == 2 and found[1].waiting)
    found[1].end(SUCCEEDED)
    spun(system, lambda: node.status is bt.Status.SUCCESS)
    assert node.on_deactivate(state) is done and node.running is None
    assert node.on_cleanup(state) is done and node.on_shutdown(state) is done


def test_a_tree_at_fault_is_not_configured_and_its_faults_are_in_the_log(tmp_path: Path, system: System) -> None:
    from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn

    node = managed(tmp_path, system, "  go: {}")
    (tmp_path / "tree.yaml").write_text("version: 1\ntree: t\nskills: [nav]\nroot: {goo: {}}\n")
    assert node.on_configure(LifecycleState()) is TransitionCallbackReturn.FAILURE
    assert any("unknown node kind `goo`" in said for level, said in system.log if level == "error")


def test_a_call_that_rclpy_does_not_have_is_refused_by_the_double(system: System, node: Any) -> None:
    with pytest.raises(TypeError):
        node.create_timer("wrong", print, 1, 2, 3, 4)
    with pytest.raises(AttributeError):
        node.create_rate(10)

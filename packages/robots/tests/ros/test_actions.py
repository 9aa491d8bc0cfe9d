"""Actions of ROS 2 over zenoh, between processes: a server that accepts, rejects, aborts, is slow, refuses, or dies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bt_runtime as bt
from bt_runtime.events import Feedback
from bt_runtime.plugins import Wrapping

pytest.importorskip("zenoh", reason="needs the ros extra")
pytest.importorskip("rosbags", reason="needs the ros extra")

from bt_robots.ros.goals import PartsGoal
from bt_robots.ros.transport import Answer, Goal
from bt_robots.ros.zenoh import Zenoh
from packages.robots.tests.ros.conftest import GUARD, MANIFEST, Server, free, tree, until
from packages.robots.tests.ros.double import CANCELED

OUTPUTS = 'left: "{left}", at: "{at}", code: "{code}", said: "{said}"'


def goal_of(node: Any) -> Goal | None:
    activity = node.activity
    while isinstance(activity, Wrapping):
        activity = activity.inner
    return getattr(getattr(activity, "target", None), "goal", None)


def accepted(node: Any) -> bool:
    goal = goal_of(node)
    return goal is not None and goal.state == "accepted"


def test_a_goal_is_followed_to_its_end_and_its_result_is_read_by_fields(tmp_path: Path, ros: Any) -> None:
    root = f"  sequence:\n    - go: {{how: steps=3, {OUTPUTS}}}\n    - check: code == 0"
    with bt.Run(tree(tmp_path, root), services={"ros": ros}) as run:
        assert run.spin(seconds=GUARD) is bt.Status.SUCCESS


def test_what_is_fed_back_is_read_by_fields_and_told_while_it_runs(tmp_path: Path, ros: Any) -> None:
    said: list[str] = []
    with bt.Run(tree(tmp_path, f"  go: {{how: steps=3 hold, {OUTPUTS}}}"), services={"ros": ros}) as run:
        run.listen(lambda event: said.append(event.text), Feedback)
        until(run, lambda: said[-1:] == ["1.0 m to go"])
        assert run.blackboard["left"] == 1 and run.blackboard["at"]["x"] == -1


def test_a_rejected_goal_fails_and_says_so(tmp_path: Path, ros: Any) -> None:
    with bt.Run(tree(tmp_path, "  go: {how: reject}"), services={"ros": ros}) as run:
        assert run.spin(seconds=GUARD) is bt.Status.FAILURE
        assert run.parts.engine.root.feedback_message == "the server has rejected the goal"


def test_an_aborted_goal_fails_with_what_its_result_says(tmp_path: Path, ros: Any) -> None:
    with bt.Run(tree(tmp_path, f"  go: {{how: abort, {OUTPUTS}}}"), services={"ros": ros}) as run:
        assert run.spin(seconds=GUARD) is bt.Status.FAILURE
        assert (run.blackboard["code"], run.blackboard["said"]) == (103, "no way")


def test_a_halt_cancels_and_the_run_ends_when_the_server_has_stopped(tmp_path: Path, ros: Any) -> None:
    with bt.Run(tree(tmp_path, "  go: {how: hold slow}"), services={"ros": ros}) as run:
        until(run, lambda: accepted(run.parts.engine.root))
        goal = goal_of(run.parts.engine.root)
        run.halt("enough")
        assert goal is not None and goal.state == "accepted"  # it takes 300 ms, and the halt has not waited
    assert goal.state == "canceled"


def test_the_next_start_waits_until_a_slow_cancel_is_over(tmp_path: Path, ros: Any) -> None:
    """No goal is sent into one that is still being cancelled."""
    with bt.Run(tree(tmp_path, "  go: {how: hold slow}"), services={"ros": ros}) as run:
        until(run, lambda: accepted(run.parts.engine.root))
        first = goal_of(run.parts.engine.root)
        run.halt("again")
        run.tick()
        assert goal_of(run.parts.engine.root) is None and "waits" in run.parts.engine.root.feedback_message
        until(run, lambda: accepted(run.parts.engine.root))
        assert first is not None and first.state == "canceled"


def test_a_server_that_refuses_to_cancel_is_asked_again(tmp_path: Path, ros: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("bt_robots.ros.action.AGAIN", 0.01)
    with bt.Run(tree(tmp_path, "  go: {how: hold stubborn stubborn}"), services={"ros": ros}) as run:
        until(run, lambda: accepted(run.parts.engine.root))
        goal = goal_of(run.parts.engine.root)
        run.halt("enough")
    assert goal is not None
    assert (goal.state, goal.refused, goal.asked) == ("canceled", 2, 3)


def test_what_never_cancels_is_waited_for_so_long_and_no_longer(tmp_path: Path, ros: Any) -> None:
    manifest = MANIFEST + "    stopping: 0.2\n"
    how = "hold " + "stubborn " * 50
    with bt.Run(tree(tmp_path, f"  go: {{how: {how}}}", manifest), services={"ros": ros}) as run:
        until(run, lambda: accepted(run.parts.engine.root))
        goal = goal_of(run.parts.engine.root)
        run.halt("enough")
    assert goal is not None and goal.state == "accepted"


def test_halting_before_the_server_has_answered_cancels_too(tmp_path: Path, ros: Any) -> None:
    with bt.Run(tree(tmp_path, "  go: {how: hold}"), services={"ros": ros}) as run:
        until(run, lambda: goal_of(run.parts.engine.root) is not None)
        goal = goal_of(run.parts.engine.root)
        run.halt("at once")
    assert goal is not None and goal.state == "canceled"


def test_two_clients_get_their_own_answers(tmp_path: Path, ros: Any, server: str) -> None:
    with Zenoh(server, domain=0, node="other", opening=GUARD) as second:
        whole = tree(tmp_path, f"  go: {{how: hold, {OUTPUTS}}}")
        with bt.Run(whole, services={"ros": ros}) as one, bt.Run(whole, services={"ros": second}) as two:
            until(one, lambda: accepted(one.parts.engine.root))
            until(two, lambda: accepted(two.parts.engine.root))
            kept = goal_of(two.parts.engine.root)
            one.halt("only this one")
            until(two, lambda: not one.parts.context.resources.left())
            assert two.status is bt.Status.RUNNING and kept is not None and kept.state == "accepted"


def test_a_server_that_dies_in_the_middle_is_a_failure_not_a_wait(
    tmp_path: Path, serving: Callable[..., Server]
) -> None:
    at = free()
    router = serving("--router", "--listen", at).ready()
    serving("--connect", at).ready()
    with Zenoh(at, client=True, domain=0, opening=GUARD) as ros:
        whole = tree(tmp_path, "  go: {how: die}")
        with bt.Run(whole, services={"ros": ros}) as run:
            assert run.spin(seconds=GUARD) is bt.Status.FAILURE
            assert (
                "went away" in run.parts.engine.root.feedback_message
                or "not said" in run.parts.engine.root.feedback_message
            )
        patient = MANIFEST.replace("grace: 0.2", f"grace: {GUARD:g}") + f"    wait: {GUARD:g}\n"
        with bt.Run(tree(tmp_path, "  go: {how: steps=1}", patient), services={"ros": ros}) as run:
            until(run, lambda: "waits" in run.parts.engine.root.feedback_message)
            serving("--connect", at).ready()  # it is restarted, and the tree has waited for it
            assert run.spin(seconds=GUARD) is bt.Status.SUCCESS, run.parts.engine.root.feedback_message
    assert router.process.poll() is None


def test_a_session_that_drops_comes_back_to_the_goal_that_went_on(
    tmp_path: Path, serving: Callable[..., Server]
) -> None:
    """The router between is gone for a while: the goal is not lost, and its end is asked for when somebody answers."""
    at = free()
    router = serving("--router", "--listen", at).ready()
    serving("--connect", at).ready()
    with Zenoh(at, client=True, domain=0, opening=GUARD) as ros:
        manifest = MANIFEST.replace("grace: 0.2", f"grace: {GUARD:g}")
        with bt.Run(tree(tmp_path, "  go: {how: hold}", manifest), services={"ros": ros}) as run:
            until(run, lambda: accepted(run.parts.engine.root))
            goal = goal_of(run.parts.engine.root)
            router.kill()
            until(run, lambda: "is gone" in run.parts.engine.root.feedback_message)
            serving("--router", "--listen", at).ready()
            until(run, lambda: ros.action("/navigate_to_pose", "nav2_msgs/action/NavigateToPose").ready())
            run.tick()
            assert run.status is bt.Status.RUNNING and accepted(run.parts.engine.root)
            run.halt("enough")
        assert goal is not None and goal.state == "canceled"


def test_a_goal_that_was_given_up_is_cancelled_when_the_link_is_back(
    tmp_path: Path, serving: Callable[..., Server]
) -> None:
    """The router is away for longer than `grace`: the tree goes on, and the server hears of the cancel all the same."""
    at = free()
    router = serving("--router", "--listen", at).ready()
    serving("--connect", at).ready()
    with Zenoh(at, client=True, domain=0, opening=GUARD) as ros:
        client = ros.action("/navigate_to_pose", "nav2_msgs/action/NavigateToPose")
        root = f"  fallback: [go: {{how: hold}}, wait: {GUARD}]"
        with bt.Run(tree(tmp_path, root), services={"ros": ros}) as run:
            go = run.parts.engine.root.children[0]
            until(run, lambda: accepted(go))
            goal = goal_of(go)
            assert isinstance(goal, PartsGoal)
            router.kill()
            until(run, lambda: go.status is bt.Status.FAILURE)
            assert "cancelled as soon as it is back" in go.feedback_message
            assert [*client.owed.values()] == [goal]
            serving("--router", "--listen", at).ready()
            until(run, lambda: not client.owed)
            told: list[Answer] = []
            client.results.call({"goal_id": goal.named}, told.append, GUARD)  # answered when the goal has ended
            until(run, lambda: told)
        assert told[0].value is not None and told[0].value["status"] == CANCELED


def test_a_halt_that_the_server_cannot_hear_is_owed_to_it(tmp_path: Path, serving: Callable[..., Server]) -> None:
    at = free()
    router = serving("--router", "--listen", at).ready()
    serving("--connect", at).ready()
    with Zenoh(at, client=True, domain=0, opening=GUARD) as ros:
        client = ros.action("/navigate_to_pose", "nav2_msgs/action/NavigateToPose")
        manifest = MANIFEST.replace("grace: 0.2", f"grace: {GUARD:g}")
        with bt.Run(tree(tmp_path, "  go: {how: hold stubborn}", manifest), services={"ros": ros}) as run:
            until(run, lambda: accepted(run.parts.engine.root))
            router.kill()
            until(run, lambda: "is gone" in run.parts.engine.root.feedback_message)
            run.halt("enough")
            assert not run.parts.context.resources.left()  # nobody waits for who cannot answer
            assert client.owed
            serving("--router", "--listen", at).ready()
            while client.owed:  # refused once, and asked again
                run.parts.runner.woken.wait(0.01)


def test_without_a_server_it_fails_after_the_time_that_it_was_given(tmp_path: Path, ros: Any) -> None:
    manifest = MANIFEST.replace("action: /navigate_to_pose", "action: /nobody") + "    wait: 0.1\n"
    with bt.Run(tree(tmp_path, "  go: {}", manifest), services={"ros": ros}) as run:
        assert run.spin(seconds=GUARD) is bt.Status.FAILURE
        assert run.parts.engine.root.feedback_message == "there is no server of /nobody"


def test_a_run_without_ros_says_how_to_have_it(tmp_path: Path) -> None:
    with bt.Run(tree(tmp_path, "  go: {}"), strict=False) as run, pytest.raises(bt.BtError) as raised:
        run.tick()
    assert "--ros zenoh" in raised.value.hint

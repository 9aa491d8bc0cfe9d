"""What a task says, and how its record goes from state to state."""

from __future__ import annotations

import json

import pytest

from bt_fleet.robot import report
from bt_fleet.robot.held import RUNNING, Own
from bt_fleet.server import forms, messages
from bt_fleet.store import record, task
from bt_fleet.store.record import ASSIGNED, DONE, DOUBT, MOVES, REPEAT, STARTED, STAYS, WAITING, Record, folded
from bt_fleet.store.task import Task, lacking
from bt_runtime import BtError

FACTS = {"gripper": True, "level": 2, "wheels": "wide", "broken": False}


@pytest.mark.parametrize(
    ("needs", "lacks"),
    [("", ""), ("gripper", ""), ("gripper,level<3", ""), ("level<2", "level<2"), ("arm", "arm"), ("broken", "broken"),
     ("wheels=wide", ""), ("wheels!=wide", "wheels!=wide"), ("level>=2, gripper", ""), ("wheels<3", "wheels<3"),
     ("gripper=true", "")],
)  # fmt: skip
def test_the_first_need_that_a_robot_does_not_meet_is_named(needs: str, lacks: str) -> None:
    """A bare name must be a true fact; numbers are compared as numbers, all else only for being alike."""
    assert lacking(needs, FACTS) == lacks


@pytest.mark.parametrize("needs", ["<3", "a b", "level<", "__import__('os')"])
def test_what_is_no_need_is_refused_where_it_is_sent(needs: str) -> None:
    """A text that no robot could ever answer is a fault of the sender."""
    with pytest.raises(BtError, match="is no need"):
        Task("t", "patrol", needs=needs)


def test_a_task_and_its_record_survive_being_written() -> None:
    """What the store holds reads back as what was written; fields of a later version are ignored."""
    sent = Task("t", "patrol", {"room": "hall", "n": 0}, needs="level<3", by=12.5, priority=2, world={"env": "field"})
    held = Record(sent).assigned("r1", REPEAT, 1.0).started(2.0)
    assert record.of(held.text()) == held
    assert task.of({**sent.plain(), "later": 1}) == sent
    assert sent.words() == ["patrol", "--set=room=hall", "--set=n=0", "--env=field"]


def ended(term: int, robot: str, verdict: str = "success") -> dict[str, object]:
    return {"what": "ended", "task": "t", "term": term, "robot": robot, "verdict": verdict}


def started(term: int, robot: str) -> dict[str, object]:
    return {"what": "started", "task": "t", "term": term, "robot": robot}


HAD = Record(Task("t", "patrol")).assigned("r1", STAYS, 1.0)


def test_nothing_leads_out_of_done() -> None:
    """Every report on a task that is done changes nothing."""
    done = folded(HAD, ended(1, "r1"), 2.0)
    assert done is not None and done.state == DONE
    for said in (ended(1, "r1", "failure"), started(1, "r1"), {**started(1, "r1"), "what": "returned"}):
        assert folded(done, said, 3.0) is None


def test_an_earlier_holder_may_end_a_task_and_nothing_else() -> None:
    """r1 was lost and r2 has it now: r1's late start says nothing, and its end is an end."""
    again = HAD.lost(2.0, begun=False).assigned("r2", STAYS, 3.0)
    assert again.term == 2
    assert folded(again, started(1, "r1"), 4.0) is None
    assert folded(again, {**started(1, "r1"), "what": "returned"}, 4.0) is None
    after = folded(again, ended(1, "r1"), 4.0)
    assert after is not None and (after.state, after.robot) == (DONE, "r1")


@pytest.mark.parametrize(
    ("policy", "begun", "to", "state"),
    [(STAYS, False, None, WAITING), (STAYS, True, None, DOUBT), (REPEAT, True, None, WAITING),
     (MOVES, True, None, WAITING), (REPEAT, True, "r1", DOUBT), (REPEAT, False, "r1", ASSIGNED)],
)  # fmt: skip
def test_a_lost_robots_task_goes_to_another_only_as_its_policy_allows(policy, begun, to, state) -> None:
    """What may have begun and must not be done twice is in doubt; a task for one robot waits for it."""
    had = Record(Task("t", "patrol", to=to)).assigned("r1", policy, 1.0)
    after = had.lost(2.0, begun)
    assert after.state == state
    assert after.resume == (("r1", 1) if policy == MOVES else None)


def test_what_is_in_doubt_goes_on_when_its_robot_is_back() -> None:
    """The robot is asked first: it has the task still."""
    doubt = HAD.started(2.0).lost(3.0, begun=True)
    assert doubt.state == DOUBT
    assert doubt.found(4.0, begun=True).state == STARTED
    after = folded(doubt, ended(1, "r1"), 4.0)
    assert after is not None and after.verdict == "success"


def test_a_report_can_always_be_read() -> None:
    """Outputs with NaN, of enormous size or depth, and reasons with odd characters: the report is still one."""
    own = Own(Task("t", "t"), 1, RUNNING, "stays", 1.0)
    deep: object = 1
    for _ in range(100):
        deep = [deep]
    for outputs in ({"x": float("nan")}, {"x": "y" * 2_000_000}, {"x": deep}, {"x": "\ud800"}, {"x": 10**90}):
        made = report.of(
            own, 1.0, {"what": "ended", "verdict": "success", "outputs": outputs, "reason": "\udcff" * 9000}
        )
        read = messages.read(forms.REPORT, json.dumps(made).encode())
        assert read["verdict"] == "success" and "outputs were left out" in read["reason"]
    sound = report.of(own, 1.0, {"what": "ended", "verdict": "success", "outputs": {"x": 1}})
    assert sound["outputs"] == {"x": 1} and sound["reason"] == ""

"""Leaves: check, set, wait, log, succeed, fail."""

from __future__ import annotations

import pytest

from bt_runtime import Run, load
from bt_runtime.testing import FAILURE, RUNNING, SUCCESS, after

rule = pytest.mark.rule
X = "blackboard: {x: {type: any, default: 1}}"


@rule("check", 1)
def test_check_says_what_holds_and_an_entry_nobody_wrote_is_its_fault(make):
    assert make("check: x > 0", header=X).tick() is SUCCESS
    assert make("check: x > 1", header=X).tick() is FAILURE
    t = make("check: y > 1", header="blackboard: {y: number}")
    assert t.tick() is FAILURE
    assert "no value is named `y`" in t.ticks[-1].crashes[0].message
    assert t.ticks[-1].crashes[0].path == "/t"


@rule("set", 1)
def test_set_computes_all_before_it_writes(make):
    t = make('set: {x: "{y}", y: "{x}"}', header="blackboard: {x: {type: any, default: 1}, y: {type: any, default: 2}}")
    assert t.tick() is SUCCESS
    assert (t.board["x"], t.board["y"]) == (2, 1)


@rule("wait", 1)
def test_wait_ends_by_the_clock(make):
    t = make("wait: 1.5")
    assert t.tick() is RUNNING
    assert t.advance(1.4) is RUNNING
    assert t.advance(0.1) is SUCCESS
    assert make("wait: 0").tick() is SUCCESS


@rule("wait", 2)
def test_wait_until_ends_when_the_test_holds_and_fails_when_time_is_up_first(make):
    t = make("wait: {until: x > 1}", header=X)
    assert t.tick(3) is RUNNING
    t.board["x"] = 2
    assert t.tick() is SUCCESS
    t = make("wait: {until: x > 1, seconds: 2}", header=X)
    t.tick()
    assert t.advance(2) is FAILURE


@rule("log", 1)
@rule("succeed", 1)
@rule("fail", 1)
def test_log_succeed_and_fail(make):
    t = make('sequence: [log: {text: "x is {x}", level: warning}, succeed: {}, fail: "no {x}"]', header=X)
    assert t.tick() is FAILURE
    assert t.lines == [("/t/0", "warning", "x is 1")]
    assert t.visits["/t/2"] == 1
    assert t.find("/t/2").feedback_message == "no 1"


@rule("check", 2)
def test_a_check_of_an_update_holds_once_for_each(make):
    t = make("check: {updated: pose}", header="blackboard: {pose: number}")
    assert t.tick() is FAILURE
    t.board["pose"] = 1
    assert [t.tick(), t.tick()] == [SUCCESS, FAILURE]
    t.board["pose"] = 1  # the same value once more is an update too
    assert t.tick() is SUCCESS
    t = make("check: {updated: pose, expr: pose > 1}", header="blackboard: {pose: number}")
    t.board["pose"] = 1
    assert t.tick() is FAILURE
    t.board["pose"] = 2
    assert t.tick() is SUCCESS


@rule("wait", 3)
def test_a_wait_for_an_update_misses_none(make):
    t = make("sequence: [wait: {updated: goal}, go: {}]", header="blackboard: {goal: any}", go=after(1))
    assert t.tick() is RUNNING
    t.board["goal"] = "kitchen"
    assert [t.tick(), t.tick()] == [RUNNING, SUCCESS]
    assert t.tick() is RUNNING
    assert t.skills["go"].started == 1  # this goal was reached
    t.board["goal"] = "hall"
    t.tick()
    t.board["goal"] = "office"  # while it is on its way
    assert [t.tick(), t.tick(), t.tick()] == [SUCCESS, RUNNING, SUCCESS]
    assert t.skills["go"].started == 3


@rule("wait", 3)
def test_a_wait_for_an_update_may_have_a_test_and_an_end(make):
    t = make("wait: {updated: n, until: n > 1, seconds: 5}", header="blackboard: {n: number}")
    assert t.tick() is RUNNING
    t.board["n"] = 1
    assert t.tick() is RUNNING
    t.board["n"] = 2
    assert t.tick() is SUCCESS
    assert t.tick() is RUNNING
    assert t.advance(5) is FAILURE


@rule("unset", 1)
def test_an_entry_that_was_unset_was_never_written(make):
    header = "blackboard: {n: {type: number, default: 1}}"
    t = make("sequence: [unset: n, check: not exists(n), unset: n]", header=header)
    assert t.tick() is SUCCESS
    assert "n" not in t.board
    assert "n" not in t.run.parts.context.blackboard.snapshot()[""]


def test_a_subtree_unsets_the_entry_that_it_shares(tmp_path):
    (tmp_path / "inner.yaml").write_text("version: 1\ntree: inner\noutputs: {x: any}\nroot:\n  unset: x\n")
    (tmp_path / "t.yaml").write_text(
        "version: 1\ntree: t\nblackboard: {y: {type: number, default: 1}}\nroot:\n"
        "  tree: {file: inner.yaml, with: {x: '{y}'}}\n"
    )
    with Run(load(tmp_path / "t.yaml", project=tmp_path)) as run:
        assert run.tick().status is SUCCESS
        assert "y" not in run.blackboard

"""Leaves: check, set, wait, log, succeed, fail."""

from __future__ import annotations

import pytest

from bt_runtime.testing import FAILURE, RUNNING, SUCCESS

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

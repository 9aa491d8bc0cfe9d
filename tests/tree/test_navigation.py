"""Pipeline, recovery and round robin, by visit counts on small trees."""

from __future__ import annotations

import pytest

from bt_runtime.testing import FAILURE, INVALID, RUNNING, SUCCESS, after

rule = pytest.mark.rule


@rule("pipeline", 1, 2)
def test_a_pipeline_goes_on_past_an_earlier_child_that_is_running_once_a_later_one_was_reached(make):
    t = make("pipeline: [path: {}, follow: {}]", path=after(1), follow=after(3))
    assert t.tick() is RUNNING
    assert t.skills["follow"].started == 0  # the first route is not there yet
    assert t.tick() is RUNNING
    assert (t.skills["path"].started, t.skills["follow"].started) == (1, 1)
    assert t.tick() is RUNNING  # the next route is being made, and the robot drives on
    assert (t.skills["path"].started, t.visits["/t/1"]) == (2, 2)
    assert t.skills["follow"].cancels == 0


@rule("pipeline", 3)
def test_a_pipeline_succeeds_with_its_last_child_and_halts_what_still_runs(make):
    t = make("pipeline: [a: {}, b: {}]", a=[SUCCESS, RUNNING], b=after(1))
    assert t.tick(2) is SUCCESS
    assert t.skills["a"].cancels == 1
    assert t.tick() is RUNNING  # a new round: the later child waits for the earlier one again
    assert t.skills["b"].started == 1


@rule("pipeline", 4)
def test_a_failure_anywhere_ends_a_pipeline_and_halts_what_runs(make):
    t = make("pipeline: [a: {}, b: {}, c: {}]", a=[SUCCESS, RUNNING], b=[SUCCESS, FAILURE], c=RUNNING)
    assert t.tick() is RUNNING
    assert t.tick() is FAILURE
    assert [t.skills[s].cancels for s in "abc"] == [1, 0, 1]


@rule("pipeline", 5)
def test_skipped_children_are_passed_over_in_a_pipeline(make):
    assert make("pipeline: [a: {when: 1 > 2}, b: {}]", a=FAILURE, b=SUCCESS).tick() is SUCCESS
    assert make("pipeline: [a: {}, b: {when: 1 > 2}]", a=RUNNING, b=SUCCESS).tick(2) is RUNNING
    assert make("pipeline: [a: {when: 1 > 2}, b: {unless: 1 < 2}]", a=SUCCESS, b=SUCCESS).tick() is INVALID


RECOVERY = "recovery: {{times: {times}, do: {{go: {{}}}}, recover: {{clear: {{}}}}}}"


@rule("recovery", 1, 2)
def test_a_recovery_runs_between_two_attempts(make):
    t = make(RECOVERY.format(times=2), go=[FAILURE, SUCCESS], clear=after(1))
    assert t.tick() is RUNNING
    assert (t.skills["go"].started, t.skills["clear"].started) == (1, 1)
    assert t.tick() is RUNNING  # it has recovered; the next attempt is for the next tick
    assert t.ticks[-1].due < t.clock.now()
    assert t.skills["go"].started == 1
    assert t.tick() is SUCCESS


@rule("recovery", 2)
@pytest.mark.parametrize("clear", ["{}", "{when: 1 > 2}"])
def test_a_recovery_that_fails_or_is_skipped_is_a_failure(make, clear):
    t = make(f"recovery: {{times: 5, do: {{go: {{}}}}, recover: {{clear: {clear}}}}}", go=FAILURE, clear=FAILURE)
    assert t.tick() is FAILURE
    assert t.skills["go"].started == 1


@rule("recovery", 3)
def test_after_so_many_recoveries_a_failure_is_a_failure_and_the_next_start_counts_anew(make):
    t = make(RECOVERY.format(times=2), go=FAILURE, clear=SUCCESS)
    for _ in range(2):
        assert t.tick(2) is RUNNING
        assert t.tick() is FAILURE
    assert (t.skills["go"].started, t.skills["clear"].started) == (6, 4)
    assert make(RECOVERY.format(times=0), go=FAILURE, clear=SUCCESS).tick() is FAILURE
    assert make(RECOVERY.format(times=-1), go=[FAILURE] * 9 + [SUCCESS], clear=SUCCESS).tick(10) is SUCCESS


@rule("recovery", 4)
def test_a_skipped_deed_makes_a_recovery_skipped(make):
    t = make("recovery: {do: {go: {when: 1 > 2}}, recover: {clear: {}}}", go=SUCCESS, clear=SUCCESS)
    assert t.tick() is INVALID
    assert t.skills["clear"].started == 0


def test_a_halted_recovery_halts_the_branch_that_runs_and_begins_with_the_deed_again(make):
    t = make(RECOVERY.format(times=2), go=[FAILURE, SUCCESS], clear=RUNNING)
    t.tick()
    t.run.halt("enough")
    assert t.skills["clear"].cancels == 1
    assert t.tick() is SUCCESS


@rule("round_robin", 1, 3)
def test_a_round_robin_begins_after_the_child_that_succeeded_last(make):
    t = make("round_robin: [a: {}, b: {}, c: {}]", a=SUCCESS, b=after(1), c=SUCCESS)
    assert [t.tick() for _ in range(5)] == [SUCCESS, RUNNING, SUCCESS, SUCCESS, SUCCESS]
    assert [t.skills[s].started for s in "abc"] == [2, 1, 1]


@rule("round_robin", 2, 4)
def test_a_round_robin_fails_when_each_had_its_turn_and_then_begins_at_the_first(make):
    t = make("round_robin: [a: {}, b: {}]", a=[SUCCESS, FAILURE], b=FAILURE)
    assert [t.tick(), t.tick()] == [SUCCESS, FAILURE]
    assert [t.skills[s].started for s in "ab"] == [2, 1]
    assert t.tick() is FAILURE
    assert [t.skills[s].started for s in "ab"] == [3, 2]
    t = make("round_robin: [a: {when: 1 > 2}, b: {}]", a=SUCCESS, b=SUCCESS)
    assert t.tick() is SUCCESS
    assert make("round_robin: [a: {when: 1 > 2}]", a=SUCCESS).tick() is INVALID


@rule("round_robin", 4)
def test_a_halted_round_robin_begins_at_the_first_child(make):
    t = make("round_robin: [a: {}, b: {}]", a=SUCCESS, b=RUNNING)
    assert [t.tick(), t.tick()] == [SUCCESS, RUNNING]
    t.run.halt("a new goal")
    assert t.skills["b"].cancels == 1
    assert t.tick() is SUCCESS
    assert t.skills["a"].started == 2


def test_children_of_a_round_robin_come_and_go_without_taking_its_turn_from_whoever_runs(make):
    t = make("round_robin: [a: {}, b: {}]", a=SUCCESS, b=after(3), c=SUCCESS)
    assert [t.tick(), t.tick()] == [SUCCESS, RUNNING]
    t.insert("/t", "c: {}\n", 0)
    assert t.tick() is RUNNING
    t.run.remove("/t/2")
    assert t.tick(2) is SUCCESS
    assert [t.skills[s].started for s in "abc"] == [1, 1, 0]

"""Decorators and guards, by visit counts on small trees."""

from __future__ import annotations

import pytest

from bt_runtime.testing import FAILURE, INVALID, RUNNING, SUCCESS, after

rule = pytest.mark.rule
X = "blackboard: {x: {type: any, default: 1}}"
SKIPPED = "a: {when: 1 > 2}"


@rule("invert", 1)
def test_invert_turns_results_round_and_leaves_running(make):
    assert make("invert: {a: {}}", a=SUCCESS).tick() is FAILURE
    assert make("invert: {a: {}}", a=FAILURE).tick() is SUCCESS
    assert make("invert: {a: {}}", a=RUNNING).tick() is RUNNING


@rule("invert", 2)
@pytest.mark.parametrize(
    "body",
    [
        f"invert: {{{SKIPPED}}}", f"force: {{status: success, child: {{{SKIPPED}}}}}",
        f"retry: {{times: 2, child: {{{SKIPPED}}}}}", f"repeat: {{times: 2, child: {{{SKIPPED}}}}}",
        f"timeout: {{seconds: 2, child: {{{SKIPPED}}}}}", f"delay: {{seconds: 0, child: {{{SKIPPED}}}}}",
        f"rate: {{hz: 2, child: {{{SKIPPED}}}}}", f"once: {{{SKIPPED}}}", f"until_failure: {{{SKIPPED}}}",
        f"precondition: {{if: 1 < 2, child: {{{SKIPPED}}}}}",
        f"if: {{check: 1 < 2, then: {{{SKIPPED}}}}}", f"while: {{check: 1 < 2, do: {{{SKIPPED}}}}}",
        f"switch: {{on: 1, cases: {{'1': {{{SKIPPED}}}}}}}", f"try: {{do: {{{SKIPPED}}}, catch: {{fail: x}}}}",
        f"sequence_with_memory: [{SKIPPED}]", f"for_each: {{in: [1, 2], as: i, child: {{{SKIPPED}}}}}",
    ],
)  # fmt: skip
def test_a_skipped_child_makes_its_parent_skipped(make, body):
    t = make(body, a=SUCCESS)
    while t.tick() is RUNNING:
        pass
    assert t.status is INVALID
    assert t.skills["a"].started == 0


@rule("force", 1)
def test_force_waits_for_the_end_and_gives_its_own_result(make):
    t = make("force: {status: success, child: {a: {}}}", a=after(1, FAILURE))
    assert t.tick() is RUNNING
    assert t.tick() is SUCCESS
    assert make("force: {status: failure, child: {a: {}}}", a=SUCCESS).tick() is FAILURE


@rule("retry", 1, 2)
def test_retry_starts_the_child_again_at_the_next_tick_and_a_running_child_uses_no_attempt(make):
    t = make("retry: {times: 2, child: {a: {}}}", a=[after(3, FAILURE), after(2, FAILURE)])
    assert t.tick(4) is RUNNING
    assert t.skills["a"].started == 1
    assert t.tick() is RUNNING
    assert t.skills["a"].started == 2
    assert t.tick(2) is FAILURE
    assert t.tick() is RUNNING  # a new start has two attempts again
    assert make("retry: {times: 2, child: {a: {}}}", a=[FAILURE, SUCCESS]).tick(2) is SUCCESS


@rule("retry", 3)
@rule("repeat", 3)
@pytest.mark.parametrize(("kind", "zero"), [("retry", FAILURE), ("repeat", SUCCESS)])
def test_counts_that_turn_out_at_run_time(make, kind, zero):
    body = f'{kind}: {{times: "{{x}}", child: {{a: {{}}}}}}'
    t = make(body, header=X.replace("any", "integer"), a=SUCCESS if kind == "repeat" else FAILURE)
    t.board["x"] = 0
    assert t.tick() is zero
    assert t.skills["a"].started == 0
    t.board["x"] = -2
    assert t.tick() is FAILURE
    assert "-2" in t.ticks[-1].crashes[0].message
    assert t.skills["a"].started == 0
    t.board["x"] = -1
    assert t.tick(50) is RUNNING
    assert t.skills["a"].started == 50


def test_a_count_of_another_type_is_a_fault_that_says_so(make):
    t = make('retry: {times: "{x}", child: {a: {}}}', header=X, a=SUCCESS)
    t.board["x"] = "three"
    assert t.tick() is FAILURE
    assert t.ticks[-1].crashes[0].message == "`times` takes an integer, not a string: 'three'"


@rule("repeat", 1, 2)
def test_repeat_starts_the_child_again_until_the_last_success(make):
    t = make("repeat: {times: 3, child: {a: {}}}", a=after(1))
    assert t.tick(5) is RUNNING
    assert t.tick() is SUCCESS
    assert t.skills["a"].started == 3
    assert make("repeat: {times: 3, child: {a: {}}}", a=[SUCCESS, FAILURE]).tick(2) is FAILURE


@rule("until_failure", 1)
def test_until_failure_ends_with_success_when_the_child_fails(make):
    t = make("until_failure: {a: {}}", a=[SUCCESS, SUCCESS, FAILURE])
    assert t.tick(2) is RUNNING
    assert t.tick() is SUCCESS


@rule("for_each", 1)
def test_for_each_reads_its_list_once_and_writes_each_item_first(make):
    seen = []
    t = make('for_each: {in: "{x}", as: i, child: {a: {n: "{i}"}}}', header=X, a=lambda n: seen.append(n) or SUCCESS)
    t.board["x"] = [1, 2]
    t.tick()
    t.board["x"] = [7, 8, 9]
    assert t.tick() is SUCCESS
    assert seen == [1, 2]


@rule("for_each", 2)
def test_for_each_goes_on_at_the_next_tick_and_ends_at_a_failure(make):
    t = make("for_each: {in: [1, 2, 3], as: i, child: {a: {}}}", a=[after(1), FAILURE])
    assert t.tick(2) is RUNNING
    assert t.tick() is FAILURE
    assert t.board["i"] == 2


@rule("for_each", 3)
def test_for_each_of_nothing_succeeds(make):
    t = make("for_each: {in: [], as: i, child: {a: {}}}", a=FAILURE)
    assert t.tick() is SUCCESS
    assert t.skills["a"].started == 0


@rule("for_each", 4)
def test_for_each_passes_over_skipped_items(make):
    t = make('for_each: {in: [1, 2, 3], as: i, child: {a: {n: "{i}", when: i != 2}}}', a=lambda n: SUCCESS)
    assert t.tick(3) is SUCCESS
    assert [s["n"] for s in t.skills["a"].starts] == [1, 3]


@rule("timeout", 1)
def test_timeout_halts_by_the_clock_even_when_the_child_would_finish_at_this_tick(make):
    t = make("timeout: {seconds: 2, child: {a: {}}}", a=after(1))
    assert t.tick() is RUNNING
    assert t.advance(2) is FAILURE
    assert (t.skills["a"].polls, t.skills["a"].cancels) == (1, 1)
    assert t.tick() is RUNNING  # a new start has its time anew
    assert t.advance(1.9) is SUCCESS


@rule("timeout", 2)
def test_timeout_wakes_the_runner_when_the_time_is_up(make):
    t = make("timeout: {seconds: 2, child: {wait: {until: x > 1}}}", header=X)
    assert t.run.spin() is FAILURE
    assert (t.clock.now(), t.run.parts.engine.count) == (2, 2)
    t = make("fallback: [{timeout: {seconds: 2.25, child: {a: {}}}}, wait: 1]", a=RUNNING)
    assert t.run.spin(hz=1) is SUCCESS
    halted = next(tick for tick in t.ticks if tick.halts)
    assert halted.number == 4  # at 0, 1, 2 and 2.25; then the rate goes on at 3 and 4
    assert (t.clock.now(), t.run.parts.engine.count) == (4, 6)


@rule("delay", 1, 2)
def test_delay_waits_by_the_clock_then_ticks_within_the_same_tick(make):
    t = make("delay: {seconds: 2, child: {a: {}}}", a=SUCCESS)
    assert t.tick(3) is RUNNING
    assert t.skills["a"].started == 0
    assert t.advance(2) is SUCCESS
    for seconds in (0, -3):
        t = make('delay: {seconds: "{x}", child: {a: {}}}', header=X, a=SUCCESS)
        t.board["x"] = seconds
        assert t.tick() is SUCCESS


@rule("rate", 1, 2)
def test_rate_starts_its_child_at_most_so_often(make):
    t = make("rate: {hz: 2, child: {a: {}}}", a=[after(1), FAILURE, RUNNING, SUCCESS])
    assert t.tick(2) is SUCCESS
    assert t.tick() is SUCCESS
    assert t.skills["a"].started == 1
    assert t.advance(0.5) is FAILURE
    assert t.tick() is FAILURE
    assert t.advance(0.5) is RUNNING
    t.run.halt("enough")
    assert t.tick() is RUNNING
    assert t.skills["a"].started == 3
    assert t.advance(0.5) is SUCCESS


@rule("once", 1)
def test_once_ends_one_time_only_and_a_halt_is_no_end(make):
    t = make("once: {a: {}}", a=[RUNNING, FAILURE, SUCCESS])
    t.tick()
    t.run.halt("x")
    assert t.tick(3) is FAILURE
    assert t.tick() is FAILURE
    assert t.skills["a"].started == 2
    t = make("once: {then: skip, child: {a: {}}}", a=SUCCESS)
    t.tick()
    assert t.tick() is INVALID


@rule("skip_unless", 1, 2)
def test_skip_unless_starts_once_for_each_update(make):
    t = make("skip_unless: {updated: x, child: {a: {}}}", header="blackboard: {x: any}", a=[after(1), SUCCESS])
    assert t.tick() is INVALID
    t.board["x"] = 1
    assert t.tick() is RUNNING
    assert t.tick() is SUCCESS
    assert t.tick() is INVALID
    t.board["x"] = 1  # written, though with the same value
    assert t.tick() is SUCCESS


@rule("precondition", 1)
@pytest.mark.parametrize(
    ("otherwise", "status"), [("failure", FAILURE), ("success", SUCCESS), ("skip", INVALID), ("running", RUNNING)]
)
def test_precondition_asks_before_the_start_only(make, otherwise, status):
    t = make(f"precondition: {{if: x > 0, else: {otherwise}, child: {{a: {{}}}}}}", header=X, a=after(1))
    t.tick()
    t.board["x"] = 0
    assert t.tick() is SUCCESS
    assert t.tick() is status
    assert t.skills["a"].started == 1


@rule("precondition", 2)
def test_precondition_that_waits_asks_again(make):
    t = make("precondition: {if: x > 1, else: running, child: {a: {}}}", header=X, a=SUCCESS)
    assert t.tick(2) is RUNNING
    t.board["x"] = 2
    assert t.tick() is SUCCESS


# Guards, on any node ---------------------------------------------------------------------------------


def test_when_skips_before_and_halts_while_running(make):
    t = make("a: {when: x > 0, on_halt: {left: 1}, on_success: {done: 1}, on_failure: {lost: 1}}", header=X, a=RUNNING)
    assert t.tick() is RUNNING
    t.board["x"] = 0
    assert t.tick() is INVALID
    assert t.skills["a"].cancels == 1
    assert t.board["left"] == 1
    assert "done" not in t.board
    assert "lost" not in t.board
    [(node, why)] = t.ticks[-1].halts
    assert (node.name, why.reason) == ("a", "its guard does not hold any more")


def test_unless_is_the_opposite(make):
    t = make("a: {unless: x > 0}", header=X, a=SUCCESS)
    assert t.tick() is INVALID
    t.board["x"] = 0
    assert t.tick() is SUCCESS


def test_assignments_are_written_after_the_node_has_ended(make):
    t = make("a: {on_success: {n: '{x + 1}'}, on_failure: {n: 0}}", header=X, a=[SUCCESS, FAILURE])
    t.tick()
    assert t.board["n"] == 2
    t.tick()
    assert t.board["n"] == 0


def test_on_halt_is_written_when_a_parent_halts_the_node_and_after_the_child_was_cancelled(make):
    t = make("reactive_sequence: [check: x > 0, wait: {until: x > 5, on_halt: {left: '{x}'}}]", header=X)
    t.tick()
    t.board["x"] = 0
    assert t.tick() is FAILURE
    assert t.board["left"] == 0


def test_a_guard_that_breaks_fails_the_node_and_halts_it(make):
    t = make("a: {when: x > 0}", header=X, a=RUNNING)
    t.tick()
    t.board["x"] = "text"
    assert t.tick() is FAILURE
    assert t.skills["a"].cancels == 1
    assert t.ticks[-1].crashes[0].path == "/t"


def test_a_guarded_node_keeps_its_path(make):
    t = make("sequence: [a: {when: 1 < 2, name: first}, b: {}]", a=SUCCESS, b=SUCCESS)
    t.tick()
    assert t.visits == {"/t": 1, "/t/first": 1, "/t/1": 1}


@rule("rate", 3)
def test_a_rate_may_return_something_else_in_between(make):
    t = make("rate: {hz: 2, else: skip, child: {a: {}}}", a=[SUCCESS, FAILURE])
    assert [t.tick(), t.tick()] == [SUCCESS, INVALID]
    assert t.advance(0.5) is FAILURE
    assert t.tick() is INVALID
    assert make("rate: {hz: 2, else: failure, child: {a: {}}}", a=SUCCESS).tick() is SUCCESS


@rule("rate", 4)
@pytest.mark.parametrize("hz", [0, -1, 0.0001])
def test_a_computed_rate_below_the_least_one_fails_in_words(make, hz):
    t = make("rate: {hz: '{x}', child: {a: {}}}", header=X, a=SUCCESS)
    t.board["x"] = hz
    assert (t.tick(), t.skills["a"].started) == (FAILURE, 0)
    assert t.run.parts.engine.root.feedback_message == f"`hz` takes 0.001 or more, not {hz}"


@rule("for_each", 3)
@pytest.mark.parametrize(("empty", "expected"), [("success", SUCCESS), ("failure", FAILURE), ("skip", INVALID)])
def test_what_no_items_come_to_can_be_said(make, empty, expected):
    t = make(f"for_each: {{in: [], as: item, empty: {empty}, child: {{a: {{}}}}}}", a=SUCCESS)
    assert t.tick() is expected
    t = make(f"for_each: {{from: jobs, as: item, empty: {empty}, child: {{a: {{}}}}}}", header=JOBS, a=SUCCESS)
    assert t.tick() is expected
    assert t.skills["a"].started == 0


JOBS = "blackboard: {jobs: any}"


@rule("for_each", 5)
def test_a_list_is_used_up_and_what_is_added_meanwhile_is_done_too(make):
    t = make("for_each: {from: jobs, as: job, child: {do: {it: '{job}'}}}", header=JOBS, **{"do(it)": after(1)})
    t.board["jobs"] = ["a", "b"]
    assert t.tick() is RUNNING
    assert t.board["jobs"] == ["b"]
    t.board.update("jobs", lambda jobs: [*jobs, "c"])
    assert t.tick(5) is SUCCESS
    assert [start["it"] for start in t.skills["do"].starts] == ["a", "b", "c"]
    assert t.board["jobs"] == []


@rule("for_each", 5)
def test_what_was_taken_off_a_list_is_gone_whatever_comes_of_it(make):
    t = make(
        "for_each: {from: jobs, as: job, child: {do: {it: '{job}'}}}", header=JOBS, **{"do(it)": [FAILURE, RUNNING]}
    )
    t.board["jobs"] = [1, 2, 3]
    assert [t.tick(), t.tick()] == [FAILURE, RUNNING]
    t.run.halt("enough")
    assert t.board["jobs"] == [3]


@rule("for_each", 5)
def test_a_list_that_somebody_else_has_used_up_between_two_rounds_ends_it(make):
    t = make("for_each: {from: jobs, as: job, child: {a: {}}}", header=JOBS, a=SUCCESS)
    t.board["jobs"] = [1, 2]
    assert t.tick() is RUNNING
    t.board["jobs"] = []
    assert t.tick() is SUCCESS
    assert t.skills["a"].started == 1


@rule("for_each", 6)
def test_an_entry_that_holds_no_list_cannot_be_used_up(make):
    t = make("for_each: {from: jobs, as: job, child: {a: {}}}", header=JOBS, a=SUCCESS)
    assert t.tick() is SUCCESS
    t.board["jobs"] = "many"
    assert t.tick() is FAILURE
    assert "`jobs` holds a string" in t.ticks[-1].crashes[0].message


def test_on_end_is_written_after_a_success_and_after_a_failure_but_not_after_a_halt(make):
    t = make("a: {on_success: {x: 0}, on_end: {x: '{x + 1}'}}", header=X, a=[SUCCESS, FAILURE, RUNNING])
    t.tick()
    assert t.board["x"] == 1
    t.tick()
    assert t.board["x"] == 2
    t.tick()
    t.run.halt("enough")
    assert t.board["x"] == 2

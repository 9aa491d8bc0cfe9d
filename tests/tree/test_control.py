"""Control nodes, by visit counts on small trees."""

from __future__ import annotations

import pytest

from bt_runtime.testing import FAILURE, INVALID, RUNNING, SUCCESS, after

rule = pytest.mark.rule


@rule("sequence", 1, 2)
def test_a_sequence_goes_on_within_the_tick_and_resumes_the_running_child(make):
    t = make("sequence: [a: {}, b: {}, c: {}]", a=SUCCESS, b=after(2), c=SUCCESS)
    assert t.tick(3) is SUCCESS
    assert (t.visits["/t/0"], t.visits["/t/1"], t.visits["/t/2"]) == (1, 3, 1)


@rule("sequence", 3)
def test_a_sequence_ends_at_the_first_failure_and_begins_again_at_the_first_child(make):
    t = make("sequence: [a: {}, b: {}, c: {}]", a=SUCCESS, b=[FAILURE, SUCCESS], c=SUCCESS)
    assert t.tick() is FAILURE
    assert t.visits["/t/2"] == 0
    assert t.tick() is SUCCESS
    assert (t.visits["/t/0"], t.visits["/t/1"], t.visits["/t/2"]) == (2, 2, 1)


@rule("sequence", 4)
@rule("fallback", 4)
@rule("reactive_sequence", 4)
@rule("reactive_fallback", 4)
@pytest.mark.parametrize("kind", ["sequence", "fallback", "reactive_sequence", "reactive_fallback"])
def test_skipped_children_are_passed_over_and_all_skipped_is_skipped(make, kind):
    t = make(f"{kind}: [a: {{when: 1 > 2}}, b: {{}}]", a=SUCCESS, b=SUCCESS)
    assert t.tick() is SUCCESS
    assert t.visits["/t/0"] == 0
    t = make(f"{kind}: [a: {{when: 1 > 2}}, b: {{}}]", a=SUCCESS, b=FAILURE)
    assert t.tick() is FAILURE
    t = make(f"{kind}: [a: {{when: 1 > 2}}, b: {{unless: 1 < 2}}]", a=SUCCESS, b=FAILURE)
    assert t.tick() is INVALID


@rule("fallback", 1, 2)
def test_a_fallback_goes_on_within_the_tick_and_resumes_the_running_child(make):
    t = make("fallback: [a: {}, b: {}, c: {}]", a=FAILURE, b=after(2, FAILURE), c=SUCCESS)
    assert t.tick(3) is SUCCESS
    assert (t.visits["/t/0"], t.visits["/t/1"], t.visits["/t/2"]) == (1, 3, 1)


@rule("fallback", 3)
def test_a_fallback_ends_at_the_first_success_and_fails_when_all_have_failed(make):
    t = make("fallback: [a: {}, b: {}]", a=SUCCESS, b=SUCCESS)
    assert t.tick() is SUCCESS
    assert t.visits["/t/1"] == 0
    assert make("fallback: [a: {}, b: {}]", a=FAILURE, b=FAILURE).tick() is FAILURE


@rule("reactive_sequence", 1, 2)
def test_a_reactive_sequence_begins_at_the_first_child_and_halts_whoever_loses_its_turn(make):
    t = make("reactive_sequence: [a: {}, b: {}]", a=[SUCCESS, SUCCESS, FAILURE], b=RUNNING)
    assert t.tick(2) is RUNNING
    assert (t.visits["/t/0"], t.visits["/t/1"]) == (2, 2)
    assert t.tick() is FAILURE
    assert t.skills["b"].cancels == 1
    assert t.find("/t/1").status is INVALID


@rule("reactive_sequence", 2)
def test_a_running_earlier_child_halts_a_later_one(make):
    t = make("reactive_sequence: [a: {}, b: {}]", a=[SUCCESS, RUNNING], b=RUNNING)
    assert t.tick(2) is RUNNING
    assert t.skills["b"].cancels == 1


@rule("reactive_sequence", 3)
def test_a_reactive_sequence_succeeds_when_all_succeed_in_one_tick(make):
    t = make("reactive_sequence: [a: {}, b: {}]", a=SUCCESS, b=after(1))
    assert t.tick(2) is SUCCESS
    assert t.skills["a"].started == 2


@rule("reactive_fallback", 1, 2)
def test_a_reactive_fallback_tries_the_more_important_child_again_and_halts_the_other(make):
    t = make("reactive_fallback: [a: {}, b: {}]", a=[FAILURE, FAILURE, SUCCESS], b=RUNNING)
    assert t.tick(2) is RUNNING
    assert t.tick() is SUCCESS
    assert (t.skills["a"].started, t.skills["b"].started, t.skills["b"].cancels) == (3, 1, 1)


@rule("reactive_fallback", 3)
def test_a_reactive_fallback_fails_when_all_fail_in_one_tick(make):
    t = make("reactive_fallback: [a: {}, b: {}]", a=FAILURE, b=after(1, FAILURE))
    assert t.tick(2) is FAILURE


@rule("sequence_with_memory", 1)
def test_memory_begins_at_the_child_that_failed(make):
    t = make("sequence_with_memory: [a: {}, b: {}, c: {}]", a=SUCCESS, b=[FAILURE, SUCCESS], c=SUCCESS)
    assert t.tick() is FAILURE
    assert t.tick() is SUCCESS
    assert (t.visits["/t/0"], t.visits["/t/1"], t.visits["/t/2"]) == (1, 2, 1)


@rule("sequence_with_memory", 2)
def test_memory_is_lost_with_a_success_or_a_halt(make):
    t = make("sequence_with_memory: [a: {}, b: {}]", a=SUCCESS, b=[SUCCESS, RUNNING, SUCCESS])
    assert t.tick() is SUCCESS
    assert t.tick() is RUNNING
    t.run.halt("a person said so")
    assert t.tick() is SUCCESS
    assert t.skills["a"].started == 3


@rule("parallel", 1)
def test_parallel_ticks_each_child_until_it_has_finished(make):
    t = make("parallel: [a: {}, b: {}, c: {}]", a=after(2), b=SUCCESS, c=after(1))
    assert t.tick(3) is SUCCESS
    assert (t.visits["/t/0"], t.visits["/t/1"], t.visits["/t/2"]) == (3, 1, 2)


@rule("parallel", 2)
@pytest.mark.parametrize(
    ("success", "failure", "results", "expected", "cancelled"),
    [
        (1, 1, (RUNNING, SUCCESS, FAILURE), SUCCESS, 1),  # the first one decides
        (2, 2, (SUCCESS, FAILURE, RUNNING), RUNNING, 0),
        (3, 3, (RUNNING, SUCCESS, FAILURE), FAILURE, 1),  # three can no longer succeed
        (-1, 1, (SUCCESS, SUCCESS, SUCCESS), SUCCESS, 0),
        (-2, 2, (SUCCESS, RUNNING, SUCCESS), SUCCESS, 1),  # all but one
        (-1, -1, (RUNNING, FAILURE, SUCCESS), FAILURE, 1),
        (1, -1, (FAILURE, FAILURE, RUNNING), RUNNING, 0),
        (1, -2, (RUNNING, FAILURE, FAILURE), FAILURE, 1),
        (1, 1, (SUCCESS, RUNNING, RUNNING), SUCCESS, 0),
        (0, 1, (RUNNING, RUNNING, RUNNING), SUCCESS, 3),
    ],
)
def test_parallel_thresholds(make, success, failure, results, expected, cancelled):
    body = f"parallel:\n  success: {success}\n  failure: {failure}\n  children: [a: {{}}, b: {{}}, c: {{}}]"
    t = make(body, **dict(zip("abc", results, strict=True)))
    assert t.tick() is expected
    assert sum(t.skills[s].cancels for s in "abc") == cancelled


@rule("parallel", 2)
def test_a_threshold_above_the_children_at_run_time_means_all_of_them(make):
    body = 'parallel:\n  success: "{n}"\n  children: [a: {}, b: {}]'
    t = make(body, header="inputs: {n: {type: integer, default: 5}}", a=SUCCESS, b=after(1))
    assert t.tick(2) is SUCCESS


@rule("parallel", 3)
@pytest.mark.parametrize(("success", "expected"), [(2, SUCCESS), (-1, FAILURE), (1, SUCCESS)])
def test_in_turn_runs_every_child_to_its_end_whatever_the_others_return(make, success, expected):
    body = f"parallel:\n  order: in_turn\n  success: {success}\n  children: [a: {{}}, b: {{}}, c: {{}}]"
    t = make(body, a=after(1, FAILURE), b=after(1), c=SUCCESS)
    assert t.tick() is RUNNING
    assert (t.visits["/t/0"], t.visits["/t/1"]) == (1, 0)
    assert t.tick(2) is expected
    assert (t.visits["/t/0"], t.visits["/t/1"], t.visits["/t/2"]) == (2, 2, 1)


@rule("parallel", 4)
def test_skipped_children_do_not_count_in_a_parallel(make):
    body = "parallel:\n  success: 2\n  children: [a: {}, b: {when: 1 > 2}, c: {when: 1 > 2}]"
    assert make(body, a=SUCCESS, b=SUCCESS, c=SUCCESS).tick() is SUCCESS  # two of one: all that take part
    body = "parallel: [a: {when: 1 > 2}, b: {when: 1 > 2}]"
    assert make(body, a=SUCCESS, b=SUCCESS).tick() is INVALID


@rule("parallel", 5)
def test_children_after_the_one_that_decided_a_parallel_are_neither_started_nor_ticked(make):
    t = make("parallel: [a: {}, b: {}]", a=FAILURE, b=RUNNING)
    assert t.tick() is FAILURE
    assert (t.skills["b"].started, t.skills["b"].cancels) == (0, 0)
    t = make("parallel:\n  success: 1\n  children: [a: {}, b: {}]", a=after(1), b=RUNNING)
    assert t.tick(2) is SUCCESS
    assert (t.visits["/t/1"], t.skills["b"].cancels) == (1, 1)
    t = make("parallel:\n  success: 1\n  children: [a: {}, b: {}]", a=FAILURE, b=SUCCESS)
    assert t.tick() is FAILURE  # the first one decides, as in BehaviorTree.CPP


@rule("parallel", 6)
def test_a_skipped_child_of_a_parallel_is_asked_again_while_another_one_runs(make):
    body = "parallel: [a: {}, b: {when: x > 0}]"
    header = "blackboard: {x: {type: number, default: 0}}"
    t = make(body, header=header, a=after(3), b=after(1))
    assert t.tick(2) is RUNNING
    assert t.skills["b"].started == 0
    t.board["x"] = 1
    assert t.tick() is RUNNING
    assert t.skills["b"].started == 1
    assert t.tick() is SUCCESS
    t = make(body, header=header, a=after(1), b=SUCCESS)
    assert t.tick(2) is SUCCESS  # nobody runs any more: who is skipped now takes no part


@rule("parallel", 7)
@pytest.mark.parametrize(("success", "expected"), [(-1, FAILURE), (-2, SUCCESS), (1, SUCCESS)])
def test_a_parallel_that_waits_for_all_halts_nobody(make, success, expected):
    body = f"parallel:\n  wait_all: true\n  success: {success}\n  children: [a: {{}}, b: {{}}, c: {{}}]"
    t = make(body, a=FAILURE, b=SUCCESS, c=after(2))
    assert [t.tick(), t.tick(), t.tick()] == [RUNNING, RUNNING, expected]
    assert t.skills["c"].cancels == 0
    assert (t.visits["/t/0"], t.visits["/t/2"]) == (1, 3)


@rule("if", 1)
def test_if_keeps_its_branch_until_it_ends(make):
    t = make(
        "if: {check: x > 0, then: {a: {}}, else: {b: {}}}", header="blackboard: {x: {type: number, default: 1}}",
        a=after(1), b=FAILURE,
    )  # fmt: skip
    assert t.tick() is RUNNING
    t.board["x"] = 0
    assert t.tick() is SUCCESS
    assert t.skills["b"].started == 0
    assert t.tick() is FAILURE


@rule("if", 2)
def test_if_without_else_fails_when_the_test_does_not_hold(make):
    assert make("if: {check: 1 > 2, then: {a: {}}}", a=SUCCESS).tick() is FAILURE


@rule("while", 1)
def test_while_halts_the_branch_that_lost_and_starts_the_other(make):
    t = make(
        "while: {check: x > 0, do: {a: {}}, else: {b: {}}}", header="blackboard: {x: {type: number, default: 1}}",
        a=RUNNING, b=RUNNING,
    )  # fmt: skip
    t.tick()
    t.board["x"] = 0
    t.tick()
    assert (t.skills["a"].cancels, t.skills["b"].started) == (1, 1)
    t.board["x"] = 1
    t.tick()
    assert (t.skills["a"].started, t.skills["b"].cancels) == (2, 1)


@rule("while", 2)
def test_while_gives_its_branchs_result_and_fails_without_else(make):
    head = "blackboard: {x: {type: number, default: 1}}"
    assert make("while: {check: x > 0, do: {a: {}}}", header=head, a=SUCCESS).tick() is SUCCESS
    t = make("while: {check: x > 0, do: {a: {}}}", header=head, a=RUNNING)
    t.tick()
    t.board["x"] = 0
    assert t.tick() is FAILURE
    assert t.skills["a"].cancels == 1


@rule("switch", 1)
def test_switch_follows_its_value_and_halts_first(make):
    t = make(
        "switch: {on: x, cases: {one: {a: {}}, two: {b: {}}}, default: {c: {}}}",
        header="blackboard: {x: {type: any, default: one}}", a=RUNNING, b=RUNNING, c=SUCCESS,
    )  # fmt: skip
    t.tick()
    t.board["x"] = "two"
    t.tick()
    assert (t.skills["a"].cancels, t.skills["b"].started) == (1, 1)
    order = [(n.name, s) for n, s in t.ticks[-1].changes]
    assert order.index(("a", INVALID)) < order.index(("b", RUNNING))
    t.board["x"] = "three"
    assert t.tick() is SUCCESS
    assert t.skills["b"].cancels == 1


@rule("switch", 1)
@pytest.mark.parametrize(
    ("value", "case"), [(True, "a"), (False, "b"), (None, "c"), (3, "d"), ("3", "d"), ("true", "a")]
)
def test_cases_are_compared_as_text(make, value, case):
    t = make(
        "switch: {on: x, cases: {'true': {a: {}}, 'false': {b: {}}, 'null': {c: {}}, '3': {d: {}}}}",
        header="blackboard: {x: any}", **dict.fromkeys("abcd", SUCCESS),
    )  # fmt: skip
    t.board["x"] = value
    assert t.tick() is SUCCESS
    assert [s for s in "abcd" if t.skills[s].started] == [case]


@rule("switch", 2)
def test_switch_fails_when_no_case_fits(make):
    assert make("switch: {on: 1 + 1, cases: {three: {a: {}}}}", a=SUCCESS).tick() is FAILURE


@rule("try", 1)
def test_try_does_not_catch_a_success(make):
    t = make("try: {do: {a: {}}, catch: {b: {}}}", a=after(1), b=FAILURE)
    assert t.tick(2) is SUCCESS
    assert t.skills["b"].started == 0


@rule("try", 2)
def test_try_writes_the_fault_and_gives_the_result_of_catch(make):
    t = make(
        """
        try:
          do:
            sequence: [a: {}, fail: no cup was found]
          as: why
          catch:
            sequence: [b: {}, check: "why['exception'] == false"]
        """,
        a=SUCCESS, b=after(1),
    )  # fmt: skip
    assert t.tick(2) is SUCCESS
    assert t.board["why"] == {"path": "/t/0/1", "message": "no cup was found", "exception": False}
    assert t.skills["a"].started == 1


@rule("try", 2)
def test_try_names_the_node_that_broke(make):
    t = make("try: {do: {sequence: [a: {}, b: {}]}, catch: {c: {}}}", a=SUCCESS, b=OSError("no motor"), c=SUCCESS)
    assert t.tick() is SUCCESS
    assert t.board["error"] == {"path": "/t/0/1", "message": "OSError: no motor", "exception": True}


@rule("try", 3)
def test_with_on_exception_a_plain_failure_is_passed_on(make):
    body = "try: {on: exception, do: {a: {}}, catch: {b: {}}}"
    t = make(body, a=FAILURE, b=SUCCESS)
    assert t.tick() is FAILURE
    assert t.skills["b"].started == 0
    assert make(body, a=OSError("x"), b=SUCCESS).tick() is SUCCESS


@rule("try", 3)
def test_a_fault_that_was_made_good_inside_is_no_exception(make):
    body = "try: {on: exception, do: {sequence: [{fallback: [a: {}, b: {}]}, c: {}]}, catch: {d: {}}}"
    t = make(body, a=OSError("x"), b=SUCCESS, c=FAILURE, d=SUCCESS)
    assert t.tick() is FAILURE
    assert t.skills["d"].started == 0


@rule("try", 4)
@pytest.mark.parametrize("result", [SUCCESS, FAILURE])
def test_finally_runs_after_the_deed_and_its_own_result_does_not_count(make, result):
    t = make("try: {do: {a: {}}, finally: {z: {}}}", a=result, z=after(1, FAILURE))
    assert [t.tick(), t.tick()] == [RUNNING, result]
    assert (t.skills["a"].started, t.skills["z"].started) == (1, 1)
    assert t.tick() is RUNNING  # a new start begins with the deed
    assert t.skills["a"].started == 2


@rule("try", 2, 4)
def test_finally_runs_after_the_catch(make):
    t = make("try: {do: {a: {}}, catch: {b: {}}, finally: {z: {}}}", a=FAILURE, b=after(1), z=SUCCESS)
    assert t.tick() is RUNNING
    assert t.skills["z"].started == 0
    assert t.tick() is SUCCESS
    assert t.skills["z"].started == 1


@rule("try", 5)
def test_finally_has_one_tick_within_a_halt(make):
    t = make("try: {do: {a: {}}, catch: {b: {}}, finally: {z: {}}}", a=RUNNING, b=SUCCESS, z=[SUCCESS, RUNNING])
    for times in (1, 2):
        t.tick()
        t.run.halt("enough")
        assert [t.skills[s].started for s in "abz"] == [times, 0, times]
        assert t.run.parts.engine.root.status is INVALID
    assert t.skills["z"].cancels == 1  # the second one did not end in its tick


@rule("try", 5)
def test_a_finally_that_is_running_is_halted_and_not_started_again(make):
    t = make("try: {do: {a: {}}, finally: {z: {}}}", a=SUCCESS, z=RUNNING)
    t.tick()
    t.run.halt("enough")
    assert (t.skills["z"].started, t.skills["z"].cancels) == (1, 1)


@rule("try", 6)
def test_on_any_catches_a_halt_before_finally(make):
    body = (
        "try: {on: any, do: {a: {}}, catch: {sequence: [b: {}, set: {why: \"{error['message']}\"}]}, finally: {z: {}}}"
    )
    t = make(body, a=RUNNING, b=SUCCESS, z=SUCCESS)
    t.tick()
    t.run.halt("enough")
    assert [t.skills[s].started for s in "abz"] == [1, 1, 1]
    assert t.board["why"] == "halted: enough"
    t = make(body, a=FAILURE, b=RUNNING, z=SUCCESS)
    t.tick()
    t.run.halt("enough")  # it is catching already
    assert [t.skills[s].started for s in "abz"] == [1, 1, 1]


@rule("try", 6)
def test_what_breaks_within_a_halt_does_not_keep_the_rest_from_it(make):
    t = make("try: {do: {a: {}}, catch: {b: {}}, on: any, finally: {z: {}}}", a=RUNNING, b=OSError("x"), z=SUCCESS)
    t.tick()
    t.run.halt("enough")
    assert t.skills["z"].started == 1


@rule("try", 7)
def test_a_skipped_deed_makes_a_try_skipped(make):
    t = make("try: {do: {a: {when: 1 > 2}}, catch: {b: {}}, finally: {z: {}}}", a=SUCCESS, b=SUCCESS, z=SUCCESS)
    assert t.tick() is INVALID
    assert t.skills["z"].started == 0


@rule("sequence", 5)
@rule("fallback", 5)
@pytest.mark.parametrize(("kind", "onward", "ends"), [("sequence", SUCCESS, FAILURE), ("fallback", FAILURE, SUCCESS)])
def test_with_yield_the_next_child_is_started_at_the_next_tick(make, kind, onward, ends):
    t = make(f"{kind}: {{yield: true, children: [a: {{}}, b: {{}}, c: {{}}]}}", a=onward, b=after(1, onward), c=onward)
    seen = []
    for _ in range(8):
        status = t.tick()
        seen.append((status, [n.status for n in t.run.parts.engine.root.children]))
        assert (t.ticks[-1].due < t.clock.now()) is (status is RUNNING and RUNNING not in seen[-1][1])
    one_round = [
        (RUNNING, [onward, INVALID, INVALID]),
        (RUNNING, [onward, RUNNING, INVALID]),
        (RUNNING, [onward, onward, INVALID]),
        (onward, [onward, onward, onward]),
    ]
    assert seen == one_round * 2
    assert make(f"{kind}: {{yield: true, children: [a: {{}}, b: {{}}]}}", a=ends, b=ends).tick() is ends


def test_a_halt_between_two_children_begins_again_at_the_first(make):
    t = make("sequence: {yield: true, children: [a: {}, b: {}]}", a=SUCCESS, b=SUCCESS)
    t.tick()
    t.run.halt("enough")
    assert t.tick(2) is SUCCESS
    assert (t.skills["a"].started, t.skills["b"].started) == (2, 1)


def test_children_are_halted_before_parents_and_left_before_right(make):
    t = make(
        "parallel: [{sequence: {name: left, children: [a: {}]}}, {parallel: {name: right, children: [b: {}, c: {}]}}]",
        **dict.fromkeys("abc", RUNNING),
    )
    t.tick()
    t.run.halt("enough", by="operator")
    halts = t.ticks[-1].halts
    assert [n.name for n, _ in halts] == ["a", "left", "b", "c", "right", "parallel"]
    assert {why for _, why in halts} == {("operator", "enough")}


def test_a_parent_that_halts_is_on_record_with_its_path(make):
    t = make("sequence: [{reactive_fallback: [a: {}, b: {}]}]", a=[FAILURE, SUCCESS], b=RUNNING)
    t.tick(2)
    [(node, why)] = t.ticks[-1].halts
    assert (node.name, why.by) == ("b", "/t/0")


def test_a_reactive_parent_halts_a_running_child_whose_turn_was_skipped(make):
    t = make(
        "reactive_fallback: [a: {when: x > 0}, b: {}]", header="blackboard: {x: {type: number, default: 1}}",
        a=RUNNING, b=RUNNING,
    )  # fmt: skip
    t.tick()
    t.board["x"] = 0
    assert t.tick() is RUNNING
    assert (t.skills["a"].cancels, t.skills["b"].started) == (1, 1)


@pytest.mark.parametrize("kind", ["sequence", "reactive_sequence"])
def test_results_of_an_earlier_round_are_not_shown_as_those_of_this_one(make, kind):
    t = make(f"{kind}: [a: {{}}, b: {{}}]", a=[SUCCESS, FAILURE], b=SUCCESS)
    t.tick(1)
    t.tick(1)
    assert [n.status for n in t.run.parts.engine.root.children] == [FAILURE, INVALID]
    t = make(f"{kind}: [b: {{}}]", b=SUCCESS, a=FAILURE)
    t.tick()
    t.insert("/t", "a: {}\n", 0)
    t.tick()
    assert [n.status for n in t.run.parts.engine.root.children] == [FAILURE, INVALID]

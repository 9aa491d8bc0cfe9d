"""A node may stand where a test is meant: `if`, `while`, `switch`, `precondition`, and the guards of any node."""

from __future__ import annotations

import pytest

from bt_runtime import Faults, load
from bt_runtime.testing import FAILURE, INVALID, RUNNING, SUCCESS, after

rule = pytest.mark.rule


@rule("if", 3)
@pytest.mark.parametrize(("answer", "then", "other"), [(SUCCESS, 1, 0), (FAILURE, 0, 1), (after(2), 1, 0)])
def test_an_if_asks_a_node_once_and_waits_for_its_answer(make, answer, then, other):
    t = make("if: {check: {ok: {}}, then: {a: {}}, else: {b: {}}}", ok=answer, a=after(1), b=after(1))
    t.finish()
    assert (t.skills["ok"].started, t.skills["a"].started, t.skills["b"].started) == (1, then, other)


@rule("while", 3)
def test_a_while_asks_a_node_at_every_tick(make):
    t = make(
        "while: {check: {ok: {}}, do: {a: {}}, else: {b: {}}}", ok=[SUCCESS, SUCCESS, FAILURE], a=RUNNING, b=SUCCESS
    )
    assert [t.tick(), t.tick(), t.tick()] == [RUNNING, RUNNING, SUCCESS]
    assert (t.skills["ok"].started, t.skills["a"].started, t.skills["a"].cancels) == (3, 1, 1)


@rule("while", 3)
def test_while_the_node_runs_that_is_asked_the_branch_is_not_ticked_and_a_halt_reaches_both(make):
    t = make("while: {check: {ok: {}}, do: {a: {}}}", ok=[SUCCESS, RUNNING], a=RUNNING)
    t.tick(3)
    assert (t.skills["a"].polls, t.skills["a"].cancels) == (1, 0)
    t.run.halt("enough")
    assert (t.skills["a"].cancels, t.skills["ok"].cancels) == (1, 1)


@rule("switch", 3)
@pytest.mark.parametrize(("answer", "ran"), [(SUCCESS, "a"), (FAILURE, "b"), (INVALID, "c")])
def test_a_switch_takes_the_result_of_a_node(make, answer, ran):
    asked = "{ok: {when: 'false'}}" if answer is INVALID else "{ok: {}}"
    cases = "{success: {a: {}}, failure: {b: {}}, invalid: {c: {}}}"
    t = make(f"switch: {{on: {asked}, cases: {cases}}}", ok=answer if answer is not INVALID else SUCCESS, a=1, b=1, c=1)
    t.tick()
    assert [name for name in "abc" if t.skills[name].started] == [ran]


@rule("precondition", 3)
def test_a_precondition_asks_a_node_before_its_child_starts_and_not_again(make):
    t = make("precondition: {if: {ok: {}}, child: {a: {}}}", ok=after(1), a=after(2))
    assert [t.tick() for _ in range(4)] == [RUNNING, RUNNING, RUNNING, SUCCESS]
    assert t.skills["ok"].started == 1
    assert make("precondition: {if: {ok: {}}, child: {a: {}}}", ok=FAILURE, a=SUCCESS).tick() is FAILURE


@pytest.mark.parametrize(("field", "holds", "not_"), [("when", SUCCESS, FAILURE), ("unless", FAILURE, SUCCESS)])
def test_a_guard_may_ask_a_node_and_halts_what_it_guards_when_the_answer_changes(make, field, holds, not_):
    t = make(
        f"fallback: [{{a: {{{field}: {{ok: {{}}}}, on_halt: {{x: 1}}}}}}, b: {{}}]",
        ok=[holds, holds, not_],
        a=RUNNING,
        b=SUCCESS,
    )
    assert [t.tick(), t.tick(), t.tick()] == [RUNNING, RUNNING, SUCCESS]
    assert (t.skills["a"].started, t.skills["a"].cancels, t.board["x"]) == (1, 1, 1)


OK = "blackboard: {ok: {type: boolean, default: true}, n: {type: integer, default: 1}}"
TURNS_FALSE = {"ok": False, "n": 0}


@pytest.mark.parametrize(
    "root",
    [
        "a: {when: ok, unless: {asked: {}}}",
        "a: {when: '1 / n > 0', unless: {asked: {}}}",  # the guard breaks
        "a: {when: {check: ok}, unless: {asked: {}}}",
        "a: {when: {sequence: [check: ok]}, unless: {sequence: [succeed: {}, asked: {}]}}",
        "sequence: {when: ok, unless: {asked: {}}, children: [a: {}]}",
        "reactive_fallback: [sequence: {when: not ok, children: [a: {}]}, if: {check: {asked: {}}, then: {a: {}}}]",
        "reactive_sequence: [check: ok, while: {check: {asked: {}}, do: {a: {}}}]",
        "reactive_sequence: [check: ok, switch: {on: {asked: {}}, cases: {success: {a: {}}}}]",
        "reactive_sequence: [check: ok, precondition: {if: {asked: {}}, child: {a: {}}}]",
        "reactive_sequence: [check: ok, a: {when: {asked: {}}}]",
        "precondition: {if: ok, child: {if: {check: {asked: {}}, then: {a: {}}, when: ok}}}",
    ],
)
def test_a_running_test_whose_answer_nobody_asks_for_is_cancelled_in_the_same_tick(make, root):
    """Whatever the guard decides, no skill goes on for a question that is not asked any more."""
    t = make(f"fallback:\n- {root}\n- succeed: {{}}\n", header=OK, asked=RUNNING, a=SUCCESS)
    assert t.tick() is RUNNING
    assert (t.skills["asked"].started, t.skills["asked"].cancels) == (1, 0)
    t.board.update(TURNS_FALSE)
    t.tick()
    assert (t.skills["asked"].started, t.skills["asked"].cancels) == (1, 1)
    assert [node.path for node in t.run.nodes() if node.status is RUNNING and "asked" in node.path] == []


def test_where_both_guards_ask_nodes_the_second_is_cancelled_while_the_first_runs_again(make):
    t = make("a: {when: {ok: {}}, unless: {bad: {}}}", ok=[SUCCESS, after(1)], bad=RUNNING, a=SUCCESS)
    cancelled = [t.skills["bad"].cancels for _ in range(3) if t.tick() is RUNNING]
    assert (cancelled, t.skills["bad"].started) == ([0, 1, 1], 2)


def test_what_a_guard_guards_goes_on_while_its_test_runs_and_after_it_has_answered(make):
    t = make("a: {when: {ok: {}}}", ok=[after(1), after(1), after(1)], a=after(2))
    assert [t.tick() for _ in range(6)] == [RUNNING] * 5 + [SUCCESS]
    assert (t.skills["a"].started, t.skills["a"].cancels) == (1, 0)


def test_both_guards_may_ask_nodes_and_expressions_stay_as_they_are(make):
    t = make("a: {when: {ok: {}}, unless: {bad: {}}}", ok=SUCCESS, bad=[FAILURE, SUCCESS], a=SUCCESS)
    assert (t.tick(), t.tick()) == (SUCCESS, INVALID)
    t = make(
        "a: {when: {sequence: [ok: {}, check: x > 1]}, unless: x > 2}",
        header="blackboard: {x: {type: integer, default: 2}}",
        ok=SUCCESS,
        a=SUCCESS,
    )
    assert t.tick() is SUCCESS
    t.board["x"] = 3
    assert t.tick() is INVALID


def test_what_is_asked_has_a_path_of_its_own_and_may_be_replaced(make):
    t = make("if: {check: {ok: {}}, then: {a: {}}}", ok=SUCCESS, a=SUCCESS)
    assert [node.path for node in t.run.nodes()] == ["/t", "/t/0", "/t/check"]
    t.replace("/t/check", "fail: no\n")
    assert t.tick() is FAILURE


def test_a_node_that_takes_time_is_warned_of_where_it_is_asked_at_every_tick():
    text = "version: 1\ntree: t\nroot:\n  while: {check: {wait: 1}, do: {wait: 5}}\n"
    (warning,) = load(text).warnings
    assert (warning.code, "`check` asks it anew" in warning.message) == ("BT027", True)
    assert load(text.replace("while", "if").replace("do:", "then:")).warnings == ()


def test_faults_inside_what_is_asked_are_told_with_their_place():
    with pytest.raises(Faults) as faults:
        load("version: 1\ntree: t\nroot:\n  if: {check: {chek: x}, then: {succeed: {}}}\n")
    assert [d.code for d in faults.value.diagnostics] == ["BT012"]

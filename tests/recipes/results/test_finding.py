"""Figures of made-up outcomes, against what a hand can count."""

from __future__ import annotations

import math
from typing import Any

import pytest

from bt_lab.report.statistics import shuffled, sign_flips, unpaired, wilson
from bt_lab.run.outcome import Outcome
from recipes.results.claims import Figure
from recipes.results.finding import Finding, find, from_json

ONE, TWO = ("house", "one"), ("house", "two")


def outcome(task: int, success: bool, depth: int = 2, **more: Any) -> Outcome:
    return Outcome("any", f"task {task}", task, success=success, depth=depth, total=2, **more)


def found(figure: Figure, one: list[Outcome], two: list[Outcome] | None = None) -> Finding:
    return find(figure, {ONE: one, TWO: two or []}, seed=0)


def test_a_rate_is_told_with_wilsons_interval_and_what_broke_counts_as_not_reached() -> None:
    told = found(Figure("any", ONE, "goal"), [outcome(0, True), outcome(1, True), outcome(2, False, error="broke")])
    assert (told.value, told.low, told.high) == wilson(2, 3)
    assert told.n == "3"


def test_only_tasks_of_the_depth_that_is_asked_for_count() -> None:
    outcomes = [outcome(0, True, 2), outcome(1, False, 3), outcome(2, False, 4), outcome(3, True, 5)]
    assert found(Figure("any", ONE, "goal", depth=(3, 4)), outcomes).value == 0
    assert found(Figure("any", ONE, "goal", depth=(3, 99)), outcomes).value == pytest.approx(1 / 3)


def test_two_strategies_are_compared_on_the_tasks_that_both_have() -> None:
    one = [outcome(i, True) for i in range(6)]
    two = [outcome(i, False) for i in range(1, 9)]
    told = found(Figure("any", ONE, "goal", TWO), one, two)
    assert (told.value, told.n) == (1, "5 pairs")
    assert told.p == pytest.approx(2 / 2**5)  # McNemar's, exact: five coins that fall alike


def test_decisions_are_compared_where_both_reached_the_goal() -> None:
    one = [outcome(0, True, decisions=10), outcome(1, True, decisions=20), outcome(2, False, decisions=99)]
    two = [outcome(0, True, decisions=14), outcome(1, True, decisions=22), outcome(2, True, decisions=1)]
    told = found(Figure("any", ONE, "decisions", TWO, among="reached"), one, two)
    assert (told.value, told.n, told.test) == (-3, "2 pairs", "sign flips")


def test_other_tasks_are_compared_without_pairs() -> None:
    outcomes = [outcome(i, True, 2, k=1) for i in range(9)] + [outcome(i, True, 3, k=3) for i in range(9, 15)]
    told = found(Figure("any", ONE, "k", ONE, (3, 3), (2, 2), "reached"), outcomes, [])
    assert (told.value, told.n, told.low, told.high) == (2, "6, 9", 2, 2)
    assert told.p < 0.01


@pytest.mark.parametrize(
    ("target", "met"),
    [({"at_least": 50}, True), ({"at_least": 51}, False), ({"above": 50}, False), ({"at_most": 50}, True),
     ({"below": 50}, False), ({"at_least": 40, "below": 60}, True)],
)  # fmt: skip
def test_a_target_for_a_share_is_in_percent(target: dict[str, float], met: bool) -> None:
    told = found(Figure("any", ONE, "goal", target=target), [outcome(0, True), outcome(1, False)])
    assert told.met is met


def test_of_what_was_missed_some_was_taken_for_done() -> None:
    """The share of the misses, not of all."""
    outcomes = [outcome(0, True, status="SUCCESS"), outcome(1, False, status="FAILURE"), outcome(2, False)]
    outcomes += [outcome(3, False, status="SUCCESS")]
    told = found(Figure("any", ONE, "mistaken", among="missed"), outcomes)
    assert (told.value, told.n) == (pytest.approx(1 / 3), "3")


@pytest.mark.parametrize(("tasks", "met"), [(7, False), (8, True)])
def test_a_target_may_ask_for_a_p_besides(tasks: int, met: bool) -> None:
    """Seven coins that fall alike are p = 0.016, eight 0.008: the same difference, sure enough only once."""
    one, two = ([outcome(i, reached) for i in range(tasks)] for reached in (True, False))
    figure = Figure("any", ONE, "goal", TWO, target={"at_least": 10, "p_below": 0.01})
    assert found(figure, one, two).met is met


def test_what_could_not_be_measured_meets_no_target() -> None:
    told = found(Figure("any", ONE, "k", among="reached", target={"at_most": 9}), [outcome(0, False)])
    assert math.isnan(told.value)
    assert told.met is False
    assert from_json(told.to_json()).n == "0"


def test_signs_that_all_agree_are_unlikely_and_no_difference_is_likely() -> None:
    assert sign_flips([1.0] * 12, seed=0) < 0.01
    assert sign_flips([1.0, -1.0] * 6, seed=0) > 0.9
    assert math.isnan(sign_flips([], seed=0))


def test_groups_that_lie_apart_differ_and_the_same_group_does_not() -> None:
    near, far = [1.0, 2.0, 3.0] * 4, [11.0, 12.0, 13.0] * 4
    assert shuffled(near, far, seed=0) < 0.01 < 0.9 < shuffled(near, near, seed=0)
    assert unpaired(far, near, seed=0).low > 8
    assert unpaired(far, near, seed=0) == unpaired(far, near, seed=0)


def test_a_figure_may_look_only_at_tasks_that_another_strategy_had_too() -> None:
    one, two = [outcome(i, i < 2) for i in range(8)], [outcome(i, True) for i in range(4)]
    told = found(Figure("any", ONE, "goal", like=TWO), one, two)
    assert (told.value, told.n) == (0.5, "4")

"""The statistics give the numbers of the textbooks, and the same ones for a seed."""

from __future__ import annotations

import math
from random import Random

import pytest

from bt_lab.report.statistics import bootstrap, mcnemar, mean, wilson


@pytest.mark.parametrize(
    ("hits", "count", "low", "high"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605)],
)
def test_a_rate_has_wilsons_interval(hits: int, count: int, low: float, high: float) -> None:
    """The last two are the examples of Newcombe, 1998."""
    found = wilson(hits, count)
    assert found.value == hits / count
    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-5)


def test_a_rate_lies_within_its_interval_whatever_is_rounded() -> None:
    for count in range(1, 60):
        for hits in (0, 1, count // 2, count):
            found = wilson(hits, count)
            assert 0 <= found.low <= found.value <= found.high <= 1


def test_of_nothing_everything_is_possible() -> None:
    assert wilson(0, 0)[1:] == (0.0, 1.0)
    assert math.isnan(wilson(0, 0).value) and math.isnan(bootstrap([], 0).value)


@pytest.mark.parametrize(("first", "second", "p"), [(0, 0, 1.0), (5, 5, 1.0), (1, 9, 22 / 1024), (0, 6, 2 / 64)])
def test_mcnemars_test_is_the_two_sided_binomial(first: int, second: int, p: float) -> None:
    assert mcnemar(first, second) == pytest.approx(p) == mcnemar(second, first)


def test_a_bootstrap_is_the_same_for_a_seed_and_covers_the_mean_about_as_often_as_it_says() -> None:
    rng, inside = Random(2), 0
    values = [rng.gauss(0, 1) for _ in range(40)]
    assert bootstrap(values, 7) == bootstrap(values, 7) != bootstrap(values, 8)
    for seed in range(200):
        found = bootstrap([rng.gauss(3, 2) for _ in range(40)], seed, 200)
        inside += found.low <= 3 <= found.high
    assert 0.87 <= inside / 200 <= 0.99


def test_a_mean_is_exact() -> None:
    assert mean([0.1] * 10) == 0.1

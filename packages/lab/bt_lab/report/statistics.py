"""The few statistics that the tables need, in plain Python: confidence intervals for rates and means, and paired
tests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from statistics import stdev
from typing import NamedTuple

Z = 1.959963984540054  # of the normal distribution: 95 % lie within
SAMPLES = 1000
NEAR = 1e-9  # sums of the same numbers in another order are not always the same


class Estimate(NamedTuple):
    """A value and its 95 % confidence interval."""

    value: float
    low: float
    high: float


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def wilson(hits: int, count: int) -> Estimate:
    """The Wilson interval of a rate. It also holds for few tries and for rates of 0 and 1, where the normal
    approximation has no width."""
    if count == 0:
        return Estimate(math.nan, 0.0, 1.0)
    rate, square = hits / count, Z * Z
    middle = rate + square / (2 * count)
    reach = Z * math.sqrt(rate * (1 - rate) / count + square / (4 * count * count))
    scale = 1 + square / count
    low, high = (middle - reach) / scale, (middle + reach) / scale
    return Estimate(rate, min(rate, max(0.0, low)), max(rate, min(1.0, high)))  # sums are not exact at 0 and 1


def bootstrap(values: Sequence[float], seed: int, samples: int = SAMPLES) -> Estimate:
    """Returns a bootstrap estimate of a mean over tasks, reproducible by the seed."""
    if not values:
        return Estimate(math.nan, math.nan, math.nan)
    rng = Random(seed)
    means = sorted(mean(rng.choices(values, k=len(values))) for _ in range(samples))
    return Estimate(mean(values), means[int(0.025 * samples)], means[min(samples - 1, int(0.975 * samples))])


def ratio(pairs: Sequence[tuple[float, float]], seed: int, samples: int = SAMPLES) -> Estimate:
    """Returns the first side's mean as a share of the second's, with an interval that is drawn over pairs."""
    rng = Random(seed)
    if not pairs or not any(other for _, other in pairs):
        return Estimate(math.nan, math.nan, math.nan)
    drawn = (rng.choices(pairs, k=len(pairs)) for _ in range(samples))
    shares = sorted(_share(each) for each in drawn)
    return Estimate(_share(pairs), shares[int(0.025 * samples)], shares[min(samples - 1, int(0.975 * samples))])


def _share(pairs: Sequence[tuple[float, float]]) -> float:
    other = math.fsum(b for _, b in pairs)
    return math.fsum(a for a, _ in pairs) / other if other else math.inf


# Student's t, two-sided at 95 %, by degrees of freedom from 1 on
_T = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
)  # fmt: skip


def student(values: Sequence[float]) -> Estimate:
    """A mean with Student's interval, for values with a normal distribution; a single value has no interval."""
    if len(values) < 2:
        return Estimate(mean(values), -math.inf, math.inf)
    reach = _T[min(len(values) - 1, len(_T)) - 1] * stdev(values) / math.sqrt(len(values))
    return Estimate(mean(values), mean(values) - reach, mean(values) + reach)


def mcnemar(first_only: int, second_only: int) -> float:
    """McNemar's exact test, two-sided: the probability of so uneven a split of the discordant pairs by chance."""
    count, fewer = first_only + second_only, min(first_only, second_only)
    tail = sum(math.comb(count, i) for i in range(fewer + 1))
    return float(min(1.0, 2 * tail / (1 << count)))


def unpaired(first: Sequence[float], second: Sequence[float], seed: int, samples: int = SAMPLES) -> Estimate:
    """The difference of the means of two groups that share no tasks."""
    if not first or not second:
        return Estimate(math.nan, math.nan, math.nan)
    rng = Random(seed)
    gaps = sorted(
        mean(rng.choices(first, k=len(first))) - mean(rng.choices(second, k=len(second))) for _ in range(samples)
    )
    low, high = gaps[int(0.025 * samples)], gaps[min(samples - 1, int(0.975 * samples))]
    return Estimate(mean(first) - mean(second), low, high)


def sign_flips(gaps: Sequence[float], seed: int) -> float:
    """A two-sided sign-flip test: how often random signs of the differences give a mean at least as far from zero."""
    if not gaps:
        return math.nan
    rng, found = Random(seed), abs(math.fsum(gaps)) - NEAR
    sums = (abs(math.fsum(g if rng.random() < 0.5 else -g for g in gaps)) for _ in range(SAMPLES))
    return (1 + sum(each >= found for each in sums)) / (1 + SAMPLES)


def shuffled(first: Sequence[float], second: Sequence[float], seed: int) -> float:
    """Two-sided permutation test: how often a random regrouping gives a difference of means at least as large."""
    if not first or not second:
        return math.nan
    rng, pool, count = Random(seed), [*first, *second], len(first)
    found, hits = abs(mean(first) - mean(second)) - NEAR, 0
    for _ in range(SAMPLES):
        rng.shuffle(pool)
        hits += abs(mean(pool[:count]) - mean(pool[count:])) >= found
    return (1 + hits) / (1 + SAMPLES)

"""The few statistics that tables need, in plain Python: intervals for rates and means, and tests for pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

Z = 1.959963984540054  # of the normal distribution: 95 % lie within
SAMPLES = 1000


class Estimate(NamedTuple):
    """A value and the interval that it lies in, at 95 %."""

    value: float
    low: float
    high: float


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def wilson(hits: int, count: int) -> Estimate:
    """A rate. Holds for few tries and for rates of 0 and 1, where the usual formula says that all is certain."""
    if count == 0:
        return Estimate(math.nan, 0.0, 1.0)
    rate, square = hits / count, Z * Z
    middle = rate + square / (2 * count)
    reach = Z * math.sqrt(rate * (1 - rate) / count + square / (4 * count * count))
    scale = 1 + square / count
    low, high = (middle - reach) / scale, (middle + reach) / scale
    return Estimate(rate, min(rate, max(0.0, low)), max(rate, min(1.0, high)))  # sums are not exact at 0 and 1


def bootstrap(values: Sequence[float], seed: int, samples: int = SAMPLES) -> Estimate:
    """A mean over tasks, drawn again and again with replacement; the same seed gives the same interval."""
    if not values:
        return Estimate(math.nan, math.nan, math.nan)
    rng = Random(seed)
    means = sorted(mean(rng.choices(values, k=len(values))) for _ in range(samples))
    return Estimate(mean(values), means[int(0.025 * samples)], means[min(samples - 1, int(0.975 * samples))])


def mcnemar(first_only: int, second_only: int) -> float:
    """Exact, two-sided: how likely so uneven a split of the pairs that differ is, were it decided by a coin."""
    count, fewer = first_only + second_only, min(first_only, second_only)
    tail = sum(math.comb(count, i) for i in range(fewer + 1))
    return float(min(1.0, 2 * tail / (1 << count)))

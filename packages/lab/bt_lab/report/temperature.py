"""Temperature scaling: finds the divisor of log-odds that makes confidence match accuracy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bt_lab.report.judgements import Judgement, calibration, judged
from bt_lab.report.table import number
from bt_lab.run.own_cases import Answered
from bt_runtime.agents.answers import spoken
from bt_runtime.language.outputs import Output

LOWEST, HIGHEST, STEPS = 0.05, 20.0, 60  # of the scale; halvings of what is left by the golden section
_GOLDEN = (math.sqrt(5) - 1) / 2
_LEAST = 1e-12  # a share that was rounded to nothing


class Fit(NamedTuple):
    scale: float  # fitted to all cases
    before: Judgement
    after: Judgement  # each half of the cases by the scale of the other


def fitted(found: Sequence[Answered], outputs: Sequence[Output]) -> dict[str, Fit]:
    """Fits a scale for each chosen output with enough cases that have odds."""
    fits = {}
    for output in outputs:
        own = [each for each in found if each.odds.get(output.name) and output.name in each.case.right]
        if len(own) < 4:  # two halves of which a scale could be made
            continue
        halves = own[::2], own[1::2]
        swapped = [scaled(each, output, scale_of(halves[1 - n], output)) for n in (0, 1) for each in halves[n]]
        fits[output.name] = Fit(scale_of(own, output), judged(own, output), judged(swapped, output))
    return fits


def scale_of(found: Sequence[Answered], output: Output) -> float:
    """Returns the scale of maximum likelihood. The loss has one minimum in the scale's logarithm."""
    odds = [(each.odds[output.name], spoken(output, each.case.right[output.name])) for each in found]

    def loss(log: float) -> float:
        return -sum(math.log(max(_LEAST, divided(told, math.exp(log)).get(right, 0.0))) for told, right in odds)

    low, high = math.log(LOWEST), math.log(HIGHEST)
    for _ in range(STEPS):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        low, high = (low, right) if loss(left) <= loss(right) else (left, high)
    return math.exp((low + high) / 2)


def scaled(each: Answered, output: Output, scale: float) -> Answered:
    return each._replace(odds={**each.odds, output.name: divided(each.odds[output.name], scale)})


def divided(odds: Mapping[str, float], scale: float) -> dict[str, float]:
    """Returns the probabilities after dividing the log-odds by `scale`."""
    logs = {name: math.log(max(_LEAST, share)) / scale for name, share in odds.items()}
    top = max(logs.values())
    weights = {name: math.exp(log - top) for name, log in logs.items()}
    return {name: weight / sum(weights.values()) for name, weight in weights.items()}


def text(fits: Mapping[str, Fit], own: float = 1.0) -> str:
    """Describes the fitted scales. `own`: the scale that the node has now."""
    parts = []
    for name, fit in fits.items():
        errors = f"{number(fit.before.error)} as it is, {number(fit.after.error)} scaled"
        brier = f"{number(fit.before.brier)} and {number(fit.after.brier)}"
        how = f"Calibration error {errors} (Brier {brier}), each half of the cases by the scale of the other."
        parts.append(f"{name}: scale {own * fit.scale:.3g}. {how}\n\n{calibration(fit.after)}\n")
    return "\n".join(parts)

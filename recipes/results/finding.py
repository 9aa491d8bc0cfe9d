"""A figure of a claim, from the outcomes that it needs: the number, how sure it is, and whether it meets its target."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from bt_lab.report.statistics import (
    Estimate,
    bootstrap,
    mcnemar,
    ratio,
    shuffled,
    sign_flips,
    unpaired,
    wilson,
)
from bt_lab.run.outcome import Outcome
from bt_runtime.types import Json
from recipes.results.claims import Figure

Sides = Mapping[tuple[str, str], Sequence[Outcome]]  # (evaluation, strategy) → outcomes
RATES = ("goal", "overflow", "mistaken")  # yes or no in each episode
SHARES = (*RATES, "subgoals")  # shown in percent


class Finding(NamedTuple):
    """`n`: episodes, or pairs of them, or two numbers where there are no pairs. Shares are between 0 and 1."""

    name: str
    measure: str
    difference: bool
    n: str
    value: float
    low: float
    high: float
    test: str = ""
    p: float = math.nan
    target: Mapping[str, float] = {}  # shares in percent, as a person wrote them
    met: bool | None = None
    paper: float | None = None  # its own figure, in percent
    share: bool = False  # is the value a share of the other side's mean

    def to_json(self) -> dict[str, Json]:
        plain = {k: _finite(v) for k, v in self._asdict().items()}
        return {**plain, "target": dict(self.target)}


def from_json(found: Mapping[str, Any]) -> Finding:
    numbers = {key: math.nan if found[key] is None else found[key] for key in ("value", "low", "high", "p")}
    return Finding(**{**found, **numbers})


def _finite(value: Any) -> Any:
    return (None if math.isnan(value) else round(value, 6)) if isinstance(value, float) else value


def find(figure: Figure, sides: Sides, seed: int) -> Finding:
    """Nothing is left out of a rate: what broke has not reached its goal."""
    together = [outcome for side in (figure.of, *figure.also) for outcome in sides[side]]
    own = _within(together, figure.depth, figure.kind)
    if figure.like:
        shared = {(o.task, o.goal) for o in sides[figure.like]}
        own = [o for o in own if (o.task, o.goal) in shared]
    if figure.against is None:
        return _judged(_alone(figure, own, seed), figure)
    other = _within(sides[figure.against], figure.against_depth or figure.depth, figure.kind)
    compared = _shared if figure.share else _apart if figure.against_depth else _paired
    return _judged(compared(figure, own, other, seed), figure)


def _within(outcomes: Sequence[Outcome], depth: tuple[int, int], kind: str) -> list[Outcome]:
    return [o for o in outcomes if depth[0] <= o.depth <= depth[1] and kind in ("", o.kind)]


def _measured(outcome: Outcome, measure: str) -> float:
    return float(getattr(outcome, "success" if measure == "goal" else measure))


def _alone(figure: Figure, own: Sequence[Outcome], seed: int) -> Finding:
    kept = [o for o in own if figure.among == "all" or o.success is (figure.among == "reached")]
    values = [_measured(o, figure.measure) for o in kept]
    yes_or_no = figure.measure in RATES
    estimate = wilson(round(sum(values)), len(values)) if yes_or_no else bootstrap(values, seed)
    return Finding(figure.name, figure.measure, False, str(len(kept)), *estimate)


def _pairs(figure: Figure, own: Sequence[Outcome], other: Sequence[Outcome]) -> list[tuple[Outcome, Outcome]]:
    known = {(o.task, o.goal): o for o in other}
    pairs = [(o, known[o.task, o.goal]) for o in own if (o.task, o.goal) in known]
    return [(a, b) for a, b in pairs if figure.among == "all" or (a.success and b.success)]


def _shared(figure: Figure, own: Sequence[Outcome], other: Sequence[Outcome], seed: int) -> Finding:
    """The mean as a share of the other's, with an interval that is drawn over pairs."""
    pairs = [(_measured(a, figure.measure), _measured(b, figure.measure)) for a, b in _pairs(figure, own, other)]
    estimate = ratio(pairs, seed)
    return Finding(figure.name, figure.measure, False, f"{len(pairs)} pairs", *estimate, share=True)


def _paired(figure: Figure, own: Sequence[Outcome], other: Sequence[Outcome], seed: int) -> Finding:
    """On the same tasks. A goal is tested by the pairs that differ, any other number by turning signs around."""
    pairs = _pairs(figure, own, other)
    gaps = [_measured(a, figure.measure) - _measured(b, figure.measure) for a, b in pairs]
    if figure.measure in RATES:
        test, p = "McNemar", mcnemar(sum(g > 0 for g in gaps), sum(g < 0 for g in gaps))
    else:
        test, p = "sign flips", sign_flips(gaps, seed)
    return Finding(figure.name, figure.measure, True, f"{len(gaps)} pairs", *bootstrap(gaps, seed), test, p)


def _apart(figure: Figure, own: Sequence[Outcome], other: Sequence[Outcome], seed: int) -> Finding:
    first, second = (
        [_measured(o, figure.measure) for o in side if o.success or figure.among == "all"] for side in (own, other)
    )
    gap: Estimate = unpaired(first, second, seed)
    p = shuffled(first, second, seed)
    return Finding(figure.name, figure.measure, True, f"{len(first)}, {len(second)}", *gap, "shuffles", p)


def _judged(found: Finding, figure: Figure) -> Finding:
    """A target is met by the number itself, and by p where it says so; its interval stands beside it."""
    found = found._replace(paper=figure.paper)
    if not figure.target:
        return found
    value = found.value * 100 if figure.measure in SHARES or found.share else found.value
    ways = {
        "at_least": lambda bound: value >= bound, "at_most": lambda bound: value <= bound,
        "above": lambda bound: value > bound, "below": lambda bound: value < bound,
        "p_below": lambda bound: found.p < bound,
    }  # fmt: skip
    met = not math.isnan(value) and all(ways[way](bound) for way, bound in figure.target.items())
    return found._replace(target=figure.target, met=met)

"""Summarises outcomes: for every strategy in total, by kind of task, and by depth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from bt_lab.report.statistics import Estimate, bootstrap, mean, wilson
from bt_lab.run.outcome import Outcome
from bt_runtime.types import Json

MEANS = ("steps", "decisions", "calls", "written", "prompt", "computed", "seconds", "agents", "invalid", "refused")


class Group(NamedTuple):
    """Outcomes of one strategy. A broken episode counts in `episodes` as failed, and in `errors`."""

    strategy: str
    by: str  # all, kind, depth
    name: str  # name of the kind, or the depth
    episodes: int
    errors: int
    goals: int  # reached
    goal: Estimate  # the share that is reached
    subgoals: Estimate  # the mean share of subgoals that are met
    means: dict[str, Estimate]  # over all outcomes
    saved: float  # the share of all tokens of prompts that was in the cache
    decisions_reached: float  # mean over the outcomes that reached the goal
    k_reached: float  # mean depth of recursion over them
    k_most: int
    failures: dict[str, int]  # label → how many

    def to_json(self) -> dict[str, Json]:
        plain = self._asdict()
        plain["goal"], plain["subgoals"] = self.goal._asdict(), self.subgoals._asdict()
        plain["means"] = {name: estimate._asdict() for name, estimate in self.means.items()}
        return {name: _finite(value) for name, value in plain.items()}


def groups(outcomes: Sequence[Outcome], seed: int) -> list[Group]:
    """Groups outcomes: strategies in order of appearance, kinds by name, depths by number."""
    found: list[Group] = []
    for strategy in dict.fromkeys(o.strategy for o in outcomes):
        own = [o for o in outcomes if o.strategy == strategy]
        found.append(group(own, strategy, "all", "", seed))
        found += _apart(own, strategy, "kind", seed, lambda o: o.kind, sorted({o.kind for o in own}))
        depths = [str(depth) for depth in sorted({o.depth for o in own})]
        found += _apart(own, strategy, "depth", seed, lambda o: str(o.depth), depths)
    return found


def _apart(
    own: Sequence[Outcome], strategy: str, by: str, seed: int, key: Callable[[Outcome], str], names: Iterable[str]
) -> list[Group]:
    return [group([o for o in own if key(o) == name], strategy, by, name, seed) for name in names]


def group(own: Sequence[Outcome], strategy: str, by: str, name: str, seed: int) -> Group:
    reached = [o for o in own if o.success]
    prompt = sum(o.prompt for o in own)
    labels = Counter(o.label for o in own if o.label)
    return Group(
        strategy, by, name, len(own), sum(bool(o.error) for o in own), len(reached),
        goal=wilson(len(reached), len(own)),
        subgoals=bootstrap([o.subgoals for o in own], seed),
        means={each: _mean(own, each, seed, by == "all") for each in MEANS},
        saved=sum(o.reused for o in own) / prompt if prompt else 0.0,
        decisions_reached=mean([float(o.decisions) for o in reached]),
        k_reached=mean([float(o.k) for o in reached]),
        k_most=max((o.k for o in own), default=0),
        failures=dict(labels.most_common()),
    )  # fmt: skip


def _mean(own: Sequence[Outcome], name: str, seed: int, interval: bool) -> Estimate:
    """Returns a mean, with an interval only on request, because sampling takes time."""
    values = [float(getattr(o, name)) for o in own]
    return bootstrap(values, seed) if interval else Estimate(mean(values), float("nan"), float("nan"))


def _finite(value: Json) -> Json:
    """Replaces NaN by None: JSON has no NaN."""
    if isinstance(value, float):
        return None if value != value else round(value, 6)
    if isinstance(value, dict):
        return {name: _finite(inner) for name, inner in value.items()}
    return value

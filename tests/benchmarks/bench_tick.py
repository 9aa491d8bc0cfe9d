"""Calls of ours, and the files that they are in: of a tick in which an agent decides and acts, of the first one in
which it grafts, and of a resume."""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from rows import Row

import bt_runtime
from bt_runtime import Run, Skill, Status, load, skill
from bt_runtime.agents import ScriptedModel
from bt_runtime.clock import Manual
from bt_runtime.events import Acting, Decided
from bt_runtime.journal import resume
from bt_runtime.run.view.feed import Feed
from bt_runtime.run.view.watch import RunWatch
from tests.run.view.scenes import house_run
from tests.support.room import Room

ROOM = str(Path(bt_runtime.__file__).parent)
CALLS, FILES = 1200, 25  # with a journal and a page
PLAN = "Expand:\nsequence:\n- find the apple\n- put it down\n"
PATROL = """version: 1
tree: patrol
blackboard: {low: {type: boolean, default: false}}
root:
  reactive_fallback:
    - sequence: {when: low, children: [log: low]}
    - sequence: [go: {place: hall}, log: there]
"""


@skill("go to {place}", on_resume="repeat")
class Go(Skill):
    def start(self, place: str) -> None: ...

    def poll(self) -> Status:
        return Status.RUNNING


def rows() -> Iterator[Row]:
    yield Row("first tick that decides and grafts: calls", "two subgoals of ReAcTree", len(grafted()), "≤ 900")
    for what, journal, page in (("bare", False, False), ("journal", True, False), ("journal and page", True, True)):
        calls, files = traced(journal, page)
        bounds = (f"≤ {CALLS:,}", f"≤ {FILES}") if page else ("", "")
        yield Row(f"tick that decides and acts, {what}: calls", "median of a house task", calls, bounds[0])
        yield Row(f"tick that decides and acts, {what}: files", "median of a house task", files, bounds[1])
    yield Row("resume of 3 ticks: calls", "an open journal, a graft in it", len(resumed()), "≤ 800")


def grafted() -> list[str]:
    lines = iter(["Think: two parts", PLAN, *["Think: there", "Act: go left", "Act: done"] * 9])
    model = ScriptedModel(lambda question: next(lines))
    tree, inputs = load("reactree"), {"goal": "move the apple"}
    with Run(tree, inputs=inputs, world=Room(), services={"model": model}, clock=Manual(), recall=False) as run:
        run.tick()
        before = len(list(run.nodes()))
        seen = entered(run.tick)[1]
        assert len(list(run.nodes())) > before
    return seen


def resumed() -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        with Run(load(PATROL, skills=[Go]), clock=Manual(), journal=folder) as run:
            run.tick()
            run.tick()
            run.insert("/patrol/1", "log: hi", 1)
            run.tick()
            assert run.parts.journal is not None
            run.parts.journal.settled()
            path = run.parts.journal.path
            assert path is not None
            copy = Path(folder) / "open" / path.name
            copy.parent.mkdir()
            for file in path.parent.glob(f"{path.name}*"):
                shutil.copy(file, copy.parent)
        again, seen = entered(lambda: resume(copy, skills=[Go], clock=Manual()))
        assert again.parts.engine.count == 3
        again.close()
    return seen


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
            tick, seen = entered(run.tick)
            if did == {Decided, Acting}:
                found.append((len(seen), len(set(seen))))
            running = tick.running
    return statistics.median(calls for calls, _ in found), statistics.median(files for _, files in found)


def entered(work: Callable[[], Any]) -> tuple[Any, list[str]]:
    """Does the work; returns its result and the files of the calls that it enters."""
    seen: list[str] = []

    def enter(frame: FrameType, event: str, arg: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(ROOM):
            seen.append(frame.f_code.co_filename)

    sys.setprofile(enter)
    try:
        return work(), seen
    finally:
        sys.setprofile(None)

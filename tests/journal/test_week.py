"""A run that goes on and on: a short version of `make week`."""

from __future__ import annotations

from pathlib import Path

import pytest

import bt_runtime as bt
from bt_runtime.journal import Recorder, Recording, writer
from bt_runtime.journal.store import JournalLimits
from tests.journal.week import verdict, week

LOG = 1.1 * 1000 * 4096  # bytes beside a journal that were not yet written into it: SQLite does that every 1,000 pages


def test_memory_and_journal_of_a_long_run_stay_within_bounds(tmp_path: Path) -> None:
    """100,000 ticks with halts, writes, lines and grafts, and a limit that is reached early on."""
    limits = JournalLimits(bytes=2**21, ticks=2000)
    found = list(week(100_000, tmp_path, limits))
    added, part = verdict(found, limits)
    assert added < 5 and part < 1.6 + LOG / limits.bytes, found  # 1.6 as in `make week`
    assert found[-1].ticks == 100_000


def test_a_run_that_only_halts_does_not_outgrow_its_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is noted even in a full journal has a bound as well, and the journal can be read."""
    monkeypatch.setattr(writer, "_CHECKED", 1)
    tree = "version: 1\ntree: t\nblackboard: {on: {type: boolean, default: false}}\n"
    tree += "root:\n  reactive_fallback:\n    - reactive_sequence: [{check: on}, {wait: 9}]\n    - wait: 1000000\n"
    limits = JournalLimits(bytes=150_000, ticks=100)
    with bt.Run(bt.load(tree), clock=bt.clock.Manual(), journal=Recorder(tmp_path, limits=limits)) as run:
        for tick in range(8_000):
            run.blackboard["on"] = bool(tick % 2)
            run.tick()
            if tick % 500 == 0 and run.parts.journal is not None:
                run.parts.journal.settled(60)
    (path,) = tmp_path.glob("*.btr")
    assert path.stat().st_size < 2.5 * limits.bytes, path.stat().st_size
    found = Recording(path)
    assert found.full and not found.damage

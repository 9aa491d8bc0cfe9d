"""A run that goes on and on: a short version of `make week`."""

from __future__ import annotations

from pathlib import Path

from bt_runtime.journal.store import Limits
from tests.journal.week import verdict, week


def test_memory_and_journal_of_a_long_run_stay_within_bounds(tmp_path: Path) -> None:
    """100,000 ticks with halts, writes, lines and grafts, and a limit that is reached early on."""
    limits = Limits(bytes=2**21, ticks=2000)
    found = week(100_000, tmp_path, limits)
    added, part = verdict(found, limits)
    assert added < 5 and part < 3, found
    assert found[-1].ticks == 100_000

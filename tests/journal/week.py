"""`make week`: a robot that runs for a week on a clock that is moved by hand, 10,000,000 ticks, with a journal.

Prints how much memory the process takes and how large the journal is as it goes on; fails when one of them grows.
"""

from __future__ import annotations

import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import bt_runtime as bt
from bt_runtime.journal import Recorder
from bt_runtime.journal.store import JournalLimits

WEEK = 604_800.0  # seconds
TREE = """
version: 1
tree: week
blackboard: {battery: {type: number, default: 1.0}}
root:
  reactive_fallback:
    - sequence:
        - check: battery < 0.2
        - wait: 5
        - set: {battery: 1.0}
    - repeat:
        times: -1
        child:
          sequence:
            - wait: 1
            - set: {battery: "{battery - 0.01}"}
            - log: "round at {battery}"
"""
GROWN = "sequence: [{wait: 2}, {set: {battery: '{battery - 0.001}'}}]"
LOOKS = 10


class Look(NamedTuple):
    ticks: int
    memory: float  # MB
    journal: float  # MB
    seconds: float


def memory() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20


def size(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.iterdir()) / 2**20


def week(ticks: int, folder: Path, limits: JournalLimits, looks: int = LOOKS) -> Iterator[Look]:
    """A tick each WEEK / ticks seconds of its clock; every 1,000 ticks a part of the tree is another one."""
    clock, step, began = bt.clock.Manual(), WEEK / 10_000_000, time.monotonic()
    with bt.Run(bt.load(TREE), clock=clock, journal=Recorder(folder, limits=limits)) as run:
        run.tick()
        run.insert("/week/1/0", GROWN)
        for tick in range(1, ticks + 1):
            clock.advance(step)
            run.tick()
            if tick % 1000 == 0:
                run.replace("/week/1/0/3", GROWN)
            if tick % (ticks // looks) == 0:
                assert run.parts.journal is not None
                run.parts.journal.settled(60)
                yield Look(tick, memory(), size(folder), time.monotonic() - began)


def verdict(found: list[Look], limits: JournalLimits) -> tuple[float, float]:
    """How much memory was added after the first third (MB), and the journal's size as a part of its limit."""
    rest = found[len(found) // 3 :]
    return max(look.memory for look in rest) - rest[0].memory, max(
        look.journal for look in found
    ) * 2**20 / limits.bytes


def main(ticks: int) -> int:
    """Each look is printed when it is made: one that is interrupted has said what it has seen."""
    limits, found = JournalLimits(bytes=64 * 2**20), list[Look]()
    with tempfile.TemporaryDirectory() as folder, suppress(KeyboardInterrupt):
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        for look in week(ticks, Path(folder), limits, 100):
            found.append(look)
            print(line(look), flush=True)
    if not found:
        return 1
    added, part = verdict(found, limits)
    end = "" if found[-1].ticks == ticks else f"interrupted after {found[-1].ticks:,} of {ticks:,} ticks; "
    print(f"{end}memory added after the first third: {added:.1f} MB; the journal: {part:.2f} of its limit")
    return int(bool(end) or added > 5 or part > 1.6)


def line(look: Look) -> str:
    return f"{look.ticks:>11,} ticks  {look.memory:6.1f} MB  journal {look.journal:6.1f} MB  {look.seconds:7.0f} s"


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000))

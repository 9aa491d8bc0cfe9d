"""A row of the bench table: what was done, both figures, their ratio, and what was aimed at."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple


class Row(NamedTuple):
    work: str
    figures: str  # "ours 1.1 ms, py_trees 4.2 ms"
    measured: float | None  # the ratio (or count) that the target speaks of; None: not measured, figures says why
    target: str  # "≥ 3 ×", "≤ 1.5 ×", "0"; the first comparison sign and number are read


def met(row: Row) -> str:
    if row.measured is None:
        return "not run"
    sign, _, rest = row.target.partition(" ")
    try:
        bound = float(rest.split()[0].replace(",", ""))
    except (ValueError, IndexError):
        return ""
    good = {"≥": row.measured >= bound, "≤": row.measured <= bound, "=": row.measured == bound}.get(sign)
    return "" if good is None else ("met" if good else "MISSED")


def best(work: Callable[[], object], repeat: int = 5) -> float:
    """Seconds of the quickest of some runs: the least disturbed one on a noisy machine."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def median(work: Callable[[], object], repeat: int = 7) -> float:
    """Seconds of the middle run."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def processor(pid: int) -> float:
    """The seconds that a process has had of all cores."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def table(rows: Sequence[Row]) -> str:
    cells = [("work", "figures", "measured", "target", "")]
    cells += [(r.work, r.figures, "-" if r.measured is None else f"{r.measured:,.4g}", r.target, met(r)) for r in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(5)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    lines.insert(1, "  ".join("-" * w for w in widths))
    return "\n".join(lines)

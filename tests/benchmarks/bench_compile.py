"""Compiling recorded runs: time and memory of the whole command, and how both grow with the runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rows import Row

RUNS, COPIES = 200, 10
COMMAND = ["-m", "bt_runtime.cli", "runs", "compile"]


class Taken(NamedTuple):
    seconds: float  # of the processor
    megabytes: float  # at most at once


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="btr-") as folder:
        yield from _measured(Path(folder))


def _measured(folder: Path) -> Iterator[Row]:
    runs = os.environ.get("BTR_COMPILE_RUNS")
    journals = sorted(Path(runs).glob("*.btr"))[:RUNS] if runs else _recorded(folder)
    few, many = folder / "few", folder / "many"
    for place, copies in ((few, 1), (many, COPIES)):
        place.mkdir()
        for copy in range(copies):
            for journal in journals:
                shutil.copy(journal, place / f"{journal.stem}-{copy}.btr")
    one, ten = _compiled(few), _compiled(many)
    count = len(journals)
    size = sum(journal.stat().st_size for journal in journals) / count / 1024
    yield Row(
        f"compile {count} runs", f"{one.seconds:.1f} s of a core, journals of {size:.0f} kB", one.seconds, "≤ 60 s"
    )
    yield Row(f"compile {count} runs, memory", f"{one.megabytes:.0f} MB at most", one.megabytes, "≤ 1000 MB")
    ratio = ten.seconds / one.seconds
    yield Row(
        f"compile {count * COPIES:,} runs",
        f"{ten.seconds:.1f} s of a core",
        ratio,
        f"≤ {1.2 * COPIES:g} × (linear: {COPIES})",
    )
    yield Row(f"compile {count * COPIES:,} runs, memory", f"{ten.megabytes:.0f} MB at most", ten.megabytes, "≤ 1000 MB")


def _recorded(folder: Path) -> list[Path]:
    """Runs of a scripted agent that expands, searches and gives up; BTR_COMPILE_RUNS names recorded ones instead."""
    from tests.agents.compile.pantry import recorded

    return recorded(folder, range(RUNS))


def _compiled(journals: Path) -> Taken:
    """Runs the command in a process of its own."""
    child = subprocess.Popen(
        [sys.executable, *COMMAND, str(journals), "--name", "known"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"btr runs compile exited with {child.returncode}")
    return Taken(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)

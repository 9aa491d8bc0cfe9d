"""The list of runs: 200 live runs at 10 Hz in four processes, one page in headless Chromium, the server in a process of
its own. The machine's load stands in the figures: writers, server and browser share its cores."""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path

from rows import Row

from tests.run.view.browser import Browser, missing

RUNS, WRITERS, HZ, SECONDS = 200, 4, 10, 20
WRITER = """
import sys, time
from contextlib import ExitStack
from pathlib import Path
from bt_runtime import Run, load
from tests.run.view.many import PATROL
folder, count, period = Path(sys.argv[1]), int(sys.argv[2]), 1 / float(sys.argv[3])
with ExitStack() as stack:
    runs = [stack.enter_context(Run(load(PATROL), journal=folder)) for _ in range(count)]
    due, ticks, began = time.monotonic(), 0, time.monotonic()
    print("ready", flush=True)
    while True:
        for run in runs:
            run.tick()
        ticks += 1
        due = max(due + period, time.monotonic() - 1)
        (folder / f"{runs[0].name}.hz").write_text(str(ticks / (time.monotonic() - began)))
        time.sleep(max(0.0, due - time.monotonic()))
"""
BEAT = "window.at_ = []; const beat = (t) => { at_.push(t); requestAnimationFrame(beat); }; beat(0);"


def spent(pid: int) -> float:
    """Seconds of a core that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def started(stack: ExitStack, *command: str, **options: object) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, *command], text=True, **options)  # type: ignore[call-overload]
    stack.callback(process.wait)
    stack.callback(process.terminate)
    return process


def rows() -> Iterator[Row]:
    why = missing() or ("" if Path("/proc/self/stat").exists() else "only where there is /proc")
    if why:
        yield Row(f"list of {RUNS} live runs", why, None, "≥ 30 frames/s")
        return
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        writers = [
            started(stack, "-c", WRITER, name, str(RUNS // WRITERS), str(HZ), stdout=subprocess.PIPE)
            for _ in range(WRITERS)
        ]
        for writer in writers:
            assert writer.stdout is not None and writer.stdout.readline() == "ready\n"
        server = started(stack, "-m", "bt_runtime.cli", "view", name, "--port", "0", stderr=subprocess.PIPE)
        assert server.stderr is not None
        url = re.search(r"http\S+", server.stderr.readline())
        assert url is not None
        browser = stack.enter_context(Browser())
        browser.open(url[0])
        browser.until(f"window.btrRuns && document.querySelectorAll('#rows tr').length >= {RUNS}", 120)
        browser.js(BEAT)
        before, began = spent(server.pid), time.monotonic()
        time.sleep(SECONDS)
        share = (spent(server.pid) - before) / (time.monotonic() - began)
        at, ages = browser.js(
            "return [at_.slice(10), [...btrRuns.runs.values()].map((r) => Date.now() / 1000 - r.progress)]"
        )
        hz = statistics.mean(float(file.read_text()) for file in Path(name).glob("*.hz"))
    gaps = sorted(b - a for a, b in pairwise(at))
    frames = 1000 * len(gaps) / sum(gaps)
    load = f"{hz:.1f} ticks/s each, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    late = gaps[int(len(gaps) * 0.99)]
    yield Row(f"list of {RUNS} live runs: frames a second", f"99 % of the gaps within {late:.0f} ms; {load}", frames,
              "≥ 30")  # fmt: skip
    figures = f"rows at most {max(ages):.1f} s old, half within {statistics.median(ages):.1f} s"
    yield Row(f"list of {RUNS} live runs: the server's share of a core", figures, share, "≤ 0.1")

"""In a process of its own: 200 nodes at 50 Hz with a journal, as on a small robot. Prints what that takes.

`python small_robot.py WHAT SECONDS FOLDER`; WHAT: `python` (nothing is loaded), `libraries` (py_trees, PyYAML), `run`,
`sleep` (a bare loop that wakes as often: what the machine itself takes).
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

NODES, HZ = 200, 50
WARM = 1.0  # seconds that are not counted


def text(nodes: int = NODES) -> str:
    """A patrol: all of it runs, the battery is looked at in each tick, and now and then a branch begins anew."""
    head = "version: 1\ntree: patrol\nblackboard: {battery: {type: number, default: 1.0}}\n"
    lines = ["root:", "  reactive_sequence:", "    - check: battery > 0.2", "    - parallel:", "        children:"]
    branches = (nodes - 3) // 4
    for n in range(branches):
        steps = f"[{{wait: {1 + n % 9}}}, {{check: battery > 0.1}}]"
        lines += ["          - repeat:", "              times: -1", f"              child: {{sequence: {steps}}}"]
    lines += ["          - wait: 1000000000"] * (nodes - 3 - 4 * branches)
    return head + "\n".join(lines) + "\n"


def memory() -> float:
    """Megabytes of this process that lie in memory."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def run(seconds: float, folder: str) -> dict[str, float]:
    import bt_runtime as bt

    with bt.Run(bt.load(text()), hz=HZ, journal=folder) as made:
        made.spin(seconds=WARM)
        count, before, began = made.parts.engine.count, time.process_time(), time.monotonic()
        made.spin(seconds=seconds)
        used, passed = time.process_time() - before, time.monotonic() - began
        ticks, most = made.parts.engine.count - count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return {
            "nodes": made.parts.engine.nodes,
            "ticks": ticks,
            "cpu": 100 * used / passed,
            "mb": memory(),
            "most": most,
        }


def asleep(seconds: float) -> dict[str, float]:
    ticks, before, began = 0, time.process_time(), time.monotonic()
    while time.monotonic() < began + seconds:
        ticks += 1
        time.sleep(max(0.0, began + ticks / HZ - time.monotonic()))
    return {"cpu": 100 * (time.process_time() - before) / (time.monotonic() - began)}


def main(what: str, seconds: float, folder: str) -> dict[str, float]:
    if what == "run":
        return run(seconds, folder)
    if what == "sleep":
        return asleep(seconds)
    if what == "libraries":
        import py_trees  # noqa: F401
        import yaml  # noqa: F401
    return {"mb": memory()}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], float(sys.argv[2]), sys.argv[3])))

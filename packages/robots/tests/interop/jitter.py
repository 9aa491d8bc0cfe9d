"""`python -m packages.robots.tests.interop.jitter`: how late ticks are with the publisher off and on.

Also with somebody who asks now and then, and all the time. A tree of 50 nodes, 100 ticks a second; milliseconds.
"""

from __future__ import annotations

import subprocess
import sys
import time

import bt_runtime as bt
from bt_robots.groot2.publisher import Groot2

HZ, TICKS = 100, 1000
LEAVES = "".join(f"        - sequence: [{{set: {{n{i}: 1}}}}, {{wait: 0.03}}]\n" for i in range(16))
TREE = f"version: 1\ntree: jitter\nroot:\n  repeat:\n    times: 100000\n    child:\n      parallel:\n{LEAVES}"
ASKING = """
import struct, sys, time, zmq
socket = zmq.Context().socket(zmq.REQ)
socket.connect(f"tcp://127.0.0.1:{sys.argv[1]}")
while True:
    for what in b"TSB":
        socket.send_multipart([struct.pack("<BBI", 2, what, 1), *([b"jitter"] if what == 66 else [])])
        socket.recv_multipart()
    time.sleep(float(sys.argv[2]))
"""


def late(run: bt.Run) -> list[float]:
    found, began = [], time.monotonic()
    for number in range(1, TICKS + 1):
        due = began + number / HZ
        time.sleep(max(0.0, due - time.monotonic()))
        run.tick()
        found.append((time.monotonic() - due) * 1e3)
    return sorted(found)


def shown(name: str, found: list[float]) -> None:
    at = [found[int(len(found) * part)] for part in (0.5, 0.99)]
    print(f"{name:<44} p50 {at[0]:6.2f}   p99 {at[1]:6.2f}   max {found[-1]:6.2f}", flush=True)


def main() -> None:
    with bt.Run(bt.load(TREE)) as run:
        shown("off", late(run))
    with bt.Run(bt.load(TREE)) as run, Groot2(run, 0):
        shown("on, nobody asks", late(run))
    for name, rest in (("on, 10 times a second tree, status, board", 0.1), ("on, as often as it is answered", 0.0)):
        with bt.Run(bt.load(TREE)) as run, Groot2(run, 0) as server:
            asking = subprocess.Popen([sys.executable, "-c", ASKING, str(server.port), str(rest)])
            try:
                shown(name, late(run))
            finally:
                asking.kill()
                asking.wait()


if __name__ == "__main__":
    main()

"""Connects a run to ROS: its log becomes `/rosout`, and a simulator's `/clock` can be its time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from bt_robots.ros.transport import Transport
from bt_runtime.events import Line, Notice
from bt_runtime.run.run import Run
from bt_runtime.tree.clock import Simulated

LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}


def rosout(run: Run, ros: Transport, node: str = "bt_runtime") -> Callable[[], None]:
    """Sends every line of the run's log to `/rosout`; returns a function that ends that."""
    send = ros.publisher("/rosout", "rcl_interfaces/msg/Log")

    def say(line: Line) -> None:
        now = time.time_ns()
        stamp = {"sec": now // 10**9, "nanosec": now % 10**9}
        level = LEVELS.get(line.level, LEVELS["info"])
        send({"stamp": stamp, "level": level, "name": node, "msg": line.text, "file": line.path})

    return run.listen(say, Line, Notice)


def sim_clock(ros: Transport) -> Simulated:
    """Returns a clock for `Run(clock=…)` that follows `/clock`. It stands still until the first message."""
    clock = Simulated()

    def heard(message: dict[str, Any]) -> None:
        clock.set(message["clock"]["sec"] + message["clock"]["nanosec"] / 10**9)

    ros.subscribe("/clock", "rosgraph_msgs/msg/Clock", heard)
    return clock

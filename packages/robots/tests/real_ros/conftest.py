"""Real rclpy over Fast DDS on loopback, in a domain of this session's own. Servers are processes of their own, so that
killing them is real. `make ros-real` brings rclpy by pip; elsewhere these tests are skipped."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

os.environ["ROS_DOMAIN_ID"] = str(1 + os.getpid() % 100)
os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
rclpy = pytest.importorskip("rclpy", reason="needs rclpy: make ros-real")

GUARD = 30.0  # seconds after which something that is waited for will not come


class Servers:
    """A process of servers.py, or of another file beside it; `lines` is what it has said so far."""

    def __init__(self, *words: str, file: str = "servers.py") -> None:
        program = str(Path(__file__).with_name(file))
        self.process = subprocess.Popen([sys.executable, program, *words], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        os.set_blocking(self.process.stdout.fileno(), False)
        self.lines: list[str] = []
        by = time.monotonic() + GUARD
        while "ready" not in self.said() and time.monotonic() < by and self.process.poll() is None:
            time.sleep(0.02)
        if "ready" not in self.said():
            self.kill()
            raise AssertionError(f"the servers did not come up: {self.lines}")

    def said(self) -> list[str]:
        if self.process.stdout is not None and not self.process.stdout.closed:
            self.lines += [line.strip() for line in self.process.stdout]
        return self.lines

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


@pytest.fixture
def serving() -> Iterator[Callable[..., Servers]]:
    made: list[Servers] = []

    def start(*words: str, file: str = "servers.py") -> Servers:
        made.append(Servers(*words, file=file))
        return made[-1]

    yield start
    for each in made:
        each.kill()


class Robot:
    """A node with its executor, which the test spins."""

    def __init__(self, name: str = "robot") -> None:
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.node import Node

        self.node = Node(name)
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.node)

    def until(self, holds: Callable[[], Any], seconds: float = GUARD) -> Any:
        by = time.monotonic() + seconds
        while not (found := holds()):
            assert time.monotonic() < by, "it has not come"
            self.executor.spin_once(timeout_sec=0.02)
        return found

    def spin(self, seconds: float) -> None:
        by = time.monotonic() + seconds
        while time.monotonic() < by:
            self.executor.spin_once(timeout_sec=0.02)


@pytest.fixture
def robot() -> Iterator[Robot]:
    rclpy.init()
    made = Robot()
    yield made
    made.executor.shutdown()
    made.node.destroy_node()
    rclpy.shutdown()

"""Processes that serve, and runs that speak to them over zenoh: loopback alone, nobody is looked for."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import bt_runtime as bt

GUARD = 60.0  # seconds after which a test hangs
HOME = Path(__file__).parents[4]
MANIFEST = """
version: 1
skills: nav
impl: ros/action
kinds:
  go:
    action: /navigate_to_pose
    type: nav2_msgs/action/NavigateToPose
    sentence: go to {x} {y} {how}
    params: {x: {type: number, default: 1}, y: {type: number, default: 2}, how: {type: string, default: ""}}
    goal:
      pose: {header: {frame_id: map}, pose: {position: {x: "{x}", y: "{y}"}, orientation: {yaw: "{x}"}}}
      behavior_tree: "{how}"
    outputs: {left: number, at: object, code: integer, said: string}
    feedback: {left: distance_remaining, at: current_pose.pose.position}
    result: {code: error_code, said: error_msg}
    tells: "{distance_remaining} m to go"
    grace: 0.2
"""


def free() -> str:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"tcp/127.0.0.1:{one.getsockname()[1]}"


class Server:
    """A process of packages/robots/tests/ros/double.py."""

    def __init__(self, *options: str) -> None:
        command = [sys.executable, "-m", "packages.robots.tests.ros.double", *options]
        self.process = subprocess.Popen(
            command, cwd=HOME, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def ready(self) -> Server:
        assert self.process.stdout is not None and self.process.stderr is not None
        if self.process.stdout.readline().strip() != "ready":
            raise AssertionError(self.process.communicate()[1])
        return self

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def serving() -> Iterator[Callable[..., Server]]:
    made: list[Server] = []

    def start(*options: str) -> Server:
        made.append(Server(*options))
        return made[-1]

    yield start
    for each in made:
        each.kill()


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """One that nobody kills; gives its address."""
    pytest.importorskip("zenoh", reason="needs the ros extra")
    at = free()
    one = Server("--listen", at).ready()
    yield at
    one.kill()


@pytest.fixture
def ros(server: str) -> Iterator[Any]:
    from bt_robots.ros.zenoh import Zenoh

    with Zenoh(server, domain=0, opening=GUARD) as made:
        yield made


def tree(folder: Path, root: str, manifest: str = MANIFEST) -> bt.Tree:
    (folder / "skills").mkdir(exist_ok=True)
    (folder / "btr.yaml").write_text("version: 1\n")
    (folder / "skills" / "nav.yaml").write_text(manifest)
    (folder / "tree.yaml").write_text(f"version: 1\ntree: t\nskills: [nav]\nroot:\n{root}\n")
    return bt.load(folder / "tree.yaml", project=folder)


def until(run: bt.Run, holds: Callable[[], Any]) -> None:
    """Ticks until something holds; as long as a hung test may take."""
    end = time.monotonic() + GUARD
    while not holds():
        assert time.monotonic() < end, f"{run.status} {run.parts.engine.root.feedback_message}"
        tick = run.tick()
        run.parts.runner.woken.clear()
        if not holds():
            run.parts.runner.woken.wait(min(max(tick.due - time.monotonic(), 0.0), 0.05))

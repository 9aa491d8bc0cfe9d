"""A heartbeat tells of ticks that ended in time, and of nothing else: who hears none may stop the machine."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bt_runtime as bt
from bt_robots.telemetry.heartbeat import Heartbeat, place
from bt_runtime import BtError, debugger_of
from bt_runtime.language.project import plugins

TREE = "version: 1\ntree: t\nroot:\n  wait: 3600\n"
SILENCE = 1.0  # seconds: ten times what lies between two beats


@pytest.fixture
def heard() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        made.bind(("127.0.0.1", 0))
        made.settimeout(30)
        yield made


def at(heard: socket.socket, more: str = "") -> str:
    return f"udp:127.0.0.1:{heard.getsockname()[1]}{more}"


def beat(heard: socket.socket) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(heard.recv(1000))
    return found


def silent(heard: socket.socket) -> bool:
    """True when nothing comes any more; what was under way before is read first."""
    heard.settimeout(SILENCE)
    try:
        for _ in range(3):
            heard.recv(1000)
    except TimeoutError:
        return True
    finally:
        heard.settimeout(30)
    return False


def spinning(run: bt.Run) -> threading.Thread:
    made = threading.Thread(target=run.spin, kwargs={"seconds": 60})
    made.start()
    return made


def test_a_run_that_sleeps_beats_and_counts(heard: socket.socket) -> None:
    with bt.Run(bt.load(TREE)) as run, Heartbeat(run, at(heard)):
        thread = spinning(run)
        first, second = beat(heard), beat(heard)
        run.halt("enough")
        thread.join()
        assert silent(heard)
    assert (first["beat"], second["beat"]) == (1, 2) and second["tick"] > first["tick"]
    assert first["run"] == run.parts.name and first["state"] == "running"


def test_a_run_that_is_over_beats_no_more(heard: socket.socket) -> None:
    with bt.Run(bt.load(TREE.replace("3600", "0.3"))) as run, Heartbeat(run, at(heard)):
        assert run.spin(seconds=30) is bt.Status.SUCCESS
        assert beat(heard)["beat"] == 1
        assert silent(heard)


def test_a_hanging_skill_ends_the_beats(heard: socket.socket) -> None:
    hangs, go = threading.Event(), threading.Event()

    @bt.skill("hang")
    class Hang(bt.Skill):
        def start(self) -> None: ...

        def poll(self) -> bt.Status:
            if hangs.is_set():
                go.wait(60)
            return bt.Status.RUNNING

    tree = bt.load("version: 1\ntree: t\nroot:\n  hang: {}\n", skills=[Hang])
    with bt.Run(tree) as run, Heartbeat(run, at(heard)):
        thread = spinning(run)
        beat(heard)
        hangs.set()
        assert silent(heard)
        hangs.clear()
        go.set()
        beat(heard)  # and they come again
        run.halt("enough")
        thread.join()


def test_a_slow_tick_gives_no_beat(heard: socket.socket) -> None:
    """It ended, and too late."""

    @bt.skill("slow")
    class Slow(bt.Skill):
        def start(self) -> None: ...

        def poll(self) -> bt.Status:
            threading.Event().wait(0.02)
            return bt.Status.RUNNING

    tree = bt.load("version: 1\ntree: t\nroot:\n  slow: {}\n", skills=[Slow])
    with bt.Run(tree) as run, Heartbeat(run, at(heard, ",within=0.01")):
        thread = spinning(run)
        assert silent(heard)
        run.halt("enough")
        thread.join()


def test_a_run_that_the_debugger_holds_gives_no_beat(heard: socket.socket) -> None:
    with bt.Run(bt.load(TREE)) as run, Heartbeat(run, at(heard)):
        thread = spinning(run)
        beat(heard)
        debugger_of(run).pause()
        assert silent(heard)
        debugger_of(run).resume()
        beat(heard)
        run.halt("enough")
        thread.join()


PROGRAM = """
import sys
import bt_runtime as bt
from bt_robots.telemetry.heartbeat import Heartbeat
with bt.Run(bt.load(sys.argv[1])) as run, Heartbeat(run, sys.argv[2]):
    run.spin(seconds=60)
"""


@pytest.mark.parametrize("sign", [signal.SIGSTOP, signal.SIGKILL])
def test_a_stopped_and_a_killed_process_give_no_beat(heard: socket.socket, sign: signal.Signals) -> None:
    """After SIGCONT the counter goes on: no beat of the time before is sent late."""
    with subprocess.Popen([sys.executable, "-c", PROGRAM, TREE, at(heard)]) as process:
        try:
            beat(heard)
            os.kill(process.pid, sign)
            assert silent(heard)
            if sign == signal.SIGSTOP:
                os.kill(process.pid, signal.SIGCONT)
                assert beat(heard)["beat"] > 1
        finally:
            process.kill()


def test_a_file_holds_one_whole_beat(tmp_path: Path) -> None:
    file = tmp_path / "beat"
    with bt.Run(bt.load(TREE)) as run, Heartbeat(run, f"file:{file},every=0.001") as heartbeat:
        thread = spinning(run)
        numbers = []
        while len(numbers) < 50:
            if file.exists():
                numbers.append(json.loads(file.read_text())["beat"])
        run.halt("enough")
        thread.join()
    assert numbers == sorted(numbers) and heartbeat.count >= numbers[-1]
    assert [each.name for each in tmp_path.iterdir()] == ["beat"]


def test_a_topic_gets_the_beats_by_the_runs_own_connection() -> None:
    told: list[Any] = []
    came = threading.Event()

    class Ros:
        def publisher(self, topic: str, type: str) -> Any:
            told.append((topic, type))
            return lambda message: (told.append(message), came.set())

    with bt.Run(bt.load(TREE), services={"ros": Ros()}) as run, Heartbeat(run, "ros:/beat"):
        thread = spinning(run)
        assert came.wait(30)
        run.halt("enough")
        thread.join()
    assert told[0] == ("/beat", "std_msgs/msg/String") and json.loads(told[1]["data"])["beat"] == 1


@pytest.mark.parametrize(
    "where",
    ["", "udp", "udp:", "udp:127.0.0.1:0", "udp:127.0.0.1:x", "udp:10.0.0.1:9000", "file:/no/such/folder/beat",
    "file:/dev/null",
     "ros:/beat", "tcp:127.0.0.1:1", "udp:127.0.0.1:9000,every=0", "udp:127.0.0.1:9000,every=nan",
     "udp:127.0.0.1:9000,often"],
)  # fmt: skip
def test_what_is_no_place_is_refused_in_words(where: str) -> None:
    with bt.Run(bt.load(TREE)) as run, pytest.raises(BtError):
        Heartbeat(run, where)


def test_the_option_is_there() -> None:
    assert "heartbeat" in plugins.names("monitors")
    assert place("udp:127.0.0.1:9000,every=0.05,within=0.2")[2:] == (0.05, 0.2)

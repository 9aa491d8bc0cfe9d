"""Who is left when a process of ours dies: nobody."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from bt_runtime.language.project import child

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a stopped child of its parent's end")
CHILD = """
import signal
from bt_runtime.language.project import orphan
orphan.heed()
print("here", flush=True)
signal.pause()
"""
PARENT = f"""
import os, signal, subprocess, sys, threading
from bt_runtime.language.project import child
{{before}}
made = []
def make():
    words = [sys.executable, "-c", {CHILD!r}]
    made.append(child.start(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **{{how}}))
thread = threading.Thread(target=make); thread.start(); thread.join()
made[0].stdout.readline()
os.kill(made[0].pid, signal.SIGSTOP)
print(made[0].pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "gone"


def comes_to(pid: int, states: tuple[str, ...]) -> bool:
    end = time.monotonic() + 30
    while state(pid) not in states and time.monotonic() < end:
        time.sleep(0.01)
    return state(pid) in states


def orphan(**more: str) -> int:
    code = PARENT.format(**{"before": "", "how": {}, **more})
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=900)
    return int(done.stdout)


def test_a_stopped_child_goes_when_its_parent_is_killed():
    """It reads nothing, so no cut pipe can tell it."""
    assert comes_to(orphan(), ("gone", "Z"))


def test_a_stopped_child_that_has_something_to_put_away_wakes():
    """SIGCONT at the parent's death: it goes on, and would now find its line cut."""
    pid = orphan(how="{'at_death': signal.SIGCONT}")
    try:
        assert comes_to(pid, ("S", "R"))
    finally:
        os.kill(pid, signal.SIGKILL)


def test_a_child_stays_when_only_the_thread_that_asked_for_it_ends():
    """To Linux the parent is a thread; ours is one that never ends."""
    made: list[subprocess.Popen[bytes]] = []
    words = [sys.executable, "-c", CHILD]
    thread = threading.Thread(target=lambda: made.append(child.start(words, stdout=subprocess.PIPE)))
    thread.start()
    thread.join()
    with made[0] as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"here\n"
        assert process.poll() is None
        process.kill()


def test_a_child_whose_parent_was_gone_before_it_could_ask_goes_at_once():
    """It finds another parent than the one it was told of."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        env={**child.environment(), "BTR_PARENT": "1:9"},
        capture_output=True,
        timeout=900,
    )
    assert (done.returncode, done.stdout) == (1, b"")


def test_a_fork_can_start_children_of_its_own():
    """The thread that starts them is not there in a fork: another one is made."""
    code = (
        "import os, sys, subprocess; from bt_runtime.language.project import child\n"
        "child.start(['true']).wait()\n"
        "pid = os.fork()\n"
        "if not pid: os._exit(child.start(['true']).wait())\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=900).returncode == 0

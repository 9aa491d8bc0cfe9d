"""Several processes and threads on one store."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from bt_runtime.memory import Episodes

Make = Callable[..., Any]
KILL = Path(__file__).with_name("kill.py")

READ_AND_WRITE = """
import sys
from bt_runtime.memory import Episodes
from bt_runtime.memory.experience import Experience
path, name = sys.argv[1:]
with Episodes.open(path, "hashing") as memory:
    for i in range(60):
        memory.add([Experience(f"find cup {i % 7}", f"{name} {i}", "success", run=name, verdict=True)])
        found = memory.retrieve(f"find cup {i % 7}", k=500)
        assert f"{name} {i}" in [e.text for e in found.taken], "a process does not see its own writing"
"""


def run_all(code: str, path: Path, names: list[str]) -> list[str]:
    """Runs the code once per name, at the same time; what they said on stderr where they failed."""
    command = [sys.executable, "-c", code, str(path)]
    started = [subprocess.Popen([*command, name], stderr=subprocess.PIPE, text=True) for name in names]
    return [said for process in started for said in [process.communicate(timeout=900)[1]] if process.returncode]


def test_two_processes_are_never_locked_out(tmp_path: Path) -> None:
    """Processes that create, write and read one store together all get through, and nothing of theirs is missing."""
    path = tmp_path / "shared.sqlite"
    assert run_all(READ_AND_WRITE, path, ["a", "b", "c"]) == []
    with Episodes.open(path, "hashing") as memory:
        assert sum(memory.store.counts()["end"].values()) == 180


def test_kill_loses_nothing(tmp_path: Path) -> None:
    """Writers killed at random moments lose no acknowledged experience, tear no run, and leave a right index."""
    said = subprocess.run(
        [sys.executable, str(KILL), "rounds", str(tmp_path), "4", "7"], capture_output=True, text=True, timeout=900
    )
    assert said.returncode == 0, said.stderr
    outcome = json.loads(said.stdout)
    assert outcome.pop("acknowledged") >= 8
    assert outcome == {"lost": 0, "torn": 0, "index_wrong": 0, "corrupt": 0, "doubled": 0}


def test_what_another_process_commits_is_found(remember: Make, lived: Make, tmp_path: Path) -> None:
    """An open memory finds what another one has written since, and no longer what it has forgotten."""
    mine = remember(lived("find apple"), path=tmp_path / "m")
    theirs = remember(lived("find cup", text="new"), path=tmp_path / "m")
    assert [e.text for e in mine.retrieve("find cup", k=1).taken] == ["new"]
    theirs.store.remove([lived("find cup", text="new").uid])
    assert [e.goal for e in mine.retrieve("find cup", k=9).taken] == ["find apple"]
    theirs.add([lived("find cup", text="again")])
    assert [e.text for e in mine.retrieve("find cup", k=1).taken] == ["again"]


def test_threads_read_while_one_writes(remember: Make, lived: Make) -> None:
    """Searches and additions at the same time neither crash nor answer with half of anything."""
    memory = remember(lived("find apple", text="first"))
    written, done = [0], threading.Event()

    def read() -> int:
        times = 0
        while not done.is_set():
            known = written[0]
            found = memory.retrieve("find apple", k=10_000)
            assert len(found.taken) >= known
            times += 1
        return times

    with ThreadPoolExecutor(4) as threads:
        readers = [threads.submit(read) for _ in range(3)]
        for i in range(150):
            memory.add([lived(f"find apple {'cup ' * (i % 9)}", text=f"n {i}")])
            written[0] = i + 1
        done.set()
        assert all(reader.result() > 0 for reader in readers)
    assert len(memory.retrieve("find apple", k=10_000).taken) == 151


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_may_go_on(remember: Make, lived: Make) -> None:
    """After a search, a forked child retrieves and adds without hanging, and its parent sees it."""
    memory = remember(lived("find apple"), lived("find cup"))
    memory.retrieve("find apple")
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # hangs are killed, not waited for
        try:
            memory.add([lived("wash cup", text="by the child")])
            found = memory.retrieve("wash cup", k=1)
            os._exit(0 if found.taken[0].text == "by the child" else 1)
        except BaseException:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert memory.retrieve("wash cup", k=1).taken[0].text == "by the child"

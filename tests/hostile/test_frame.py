"""How the frame tells a case that hangs from one that a busy machine keeps waiting."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile import frame
from tests.hostile.case import Case

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the frame measures by /proc")


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame, "LOOK", 0.0)
    monkeypatch.setattr(frame, "IDLE", 5)


def started(code: str) -> Iterator[subprocess.Popen[bytes]]:
    program = [sys.executable, "-c", f"print('here', flush=True); {code}"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


def test_a_process_that_only_waits_hangs_after_so_many_looks(looks: None, tmp_path: Path) -> None:
    for process in started("import signal; signal.pause()"):
        running = frame.Running(Case("x", ()), tmp_path)
        while "R" in frame.work_of(process.pid)[0]:
            pass
        assert [running.hangs(process.pid) for _ in range(7)].index(True) in (4, 5)


def test_a_process_that_could_run_never_hangs_even_when_it_gets_no_turn(looks: None, tmp_path: Path) -> None:
    """It stands in the queue of a busy machine; should it never end, its bound is processor time."""
    for process in started("\nwhile True: pass"):
        running = frame.Running(Case("x", ()), tmp_path)
        assert not any(running.hangs(process.pid) for _ in range(50))

"""Whatever a file, a server or a text does: words with a way out, in bounded time and memory, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.hostile.__main__ import TARGETS

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the frame forks, and measures by /proc")


@pytest.mark.parametrize("name", [target.name for target in TARGETS])
def test_a_short_sweep_of_hostile_inputs_holds(name: str) -> None:
    """`make hostile MINUTES=30` is the whole of it. Each case is a process of its own, forked from a clean one,
    and bounded by what a sound tree takes on this machine, and by looks at which it does nothing: neither a slow nor a
    busy machine changes a verdict."""
    command = [sys.executable, "-m", "tests.hostile", "short", "--only", name]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr

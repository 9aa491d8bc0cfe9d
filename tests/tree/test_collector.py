"""The claims of `collector.py` beside this file, in a process of their own: a full collection walks over all that the
process holds, and after thousands of other tests that takes longer than all the rest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CLAIMS = Path(__file__).with_name("collector.py")


def test_the_collector_does_not_walk_over_a_standing_tree_and_nothing_piles_up() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(CLAIMS)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert ended.returncode == 0, ended.stdout

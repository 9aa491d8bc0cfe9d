"""The script that measures AutoPlan asks for one run of each house and seed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "recipes" / "autoplan" / "measure.sh"


def test_each_house_has_each_seed_once_and_runs_of_different_seeds_differ(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho "$@" >> {asked}\n')
    python.chmod(0o755)
    env = {**os.environ, "SEEDS": "0 3", "HOUSES": "0 1 2"}
    subprocess.run(["/bin/sh", str(SCRIPT), str(python)], env=env, cwd=tmp_path, check=True, timeout=900)
    words = [line.split() for line in asked.read_text().splitlines()]
    runs = [(w[w.index("--seed") + 1], Path(w[w.index("--out") + 1]).name) for w in words if "--seed" in w]
    assert runs == [
        ("0", "batch-4-rules-0-seed-0"), ("1", "batch-4-rules-1-seed-0"), ("2", "batch-4-rules-2-seed-0"),
        ("300", "batch-4-rules-0-seed-3"), ("301", "batch-4-rules-1-seed-3"), ("302", "batch-4-rules-2-seed-3"),
    ]  # fmt: skip

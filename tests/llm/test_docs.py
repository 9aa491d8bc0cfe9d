"""The pages' programs run as they stand there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from .conftest import need_llama

PAGE = Path(__file__).parents[2] / "docs" / "models.md"
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


def test_the_first_program_runs_and_is_short():
    """Copied from the page into a file: it prints its steps and what was shared."""
    need_llama()
    program = PROGRAMS[0]
    assert len([line for line in program.splitlines() if line.strip()]) <= 20
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    assert "log-probability" in done.stdout
    assert "of all prompt tokens were in the cache already" in done.stdout

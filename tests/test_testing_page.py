"""The examples of docs/testing.md run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "testing.md"


def test_the_examples_of_the_page_run_in_order(run_tree):
    space: dict[str, Any] = {}
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert len(blocks) == 8
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), space)
    tests = [f for name, f in space.items() if name.startswith("test_")]
    assert len(tests) == 1
    for test in tests:
        test(run_tree)

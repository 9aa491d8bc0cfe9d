"""What docs/memory.md says beside its examples is so. That they run: tests/test_page_programs.py."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "memory.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_what_the_examples_say_is_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer that stands beside an example is its answer."""
    names: dict[str, object] = {}
    exec(EXAMPLES[1].replace("memory.answer", "said = memory.answer"), names)
    assert names["said"] == "You saw apple 1 near table 1."

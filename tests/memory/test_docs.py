"""The examples of docs/memory.md run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "memory.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


class Blackboard(dict[str, object]):
    def set(self, key: str, value: object) -> None:
        self[key] = value


@pytest.mark.parametrize("code", EXAMPLES, ids=range(len(EXAMPLES)))
def test_an_example_runs(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copied as it stands, an example runs to its end."""
    monkeypatch.chdir(tmp_path)
    exec(code, {"blackboard": Blackboard()})


def test_what_the_examples_say_is_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer that stands beside an example is its answer."""
    names: dict[str, object] = {"blackboard": Blackboard()}
    exec(EXAMPLES[1].replace("memory.answer", "said = memory.answer"), names)
    assert names["said"] == "You saw apple 1 near table 1."

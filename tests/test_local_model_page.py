"""docs/local-model.md is done step by step, with the starter in SmolLM2's place and less of everything."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("llama_cpp", reason="needs the llm extra")
pytest.importorskip("torch", reason="needs the distill extra")

from tests.support.page_reader import ROOT, Reader, blocks

LESS = (
    ("smollm2", "starter"), ("--episodes 200", "--episodes 2"), ("--episodes 5", "--episodes 1"),
    ("--minutes 60", "--tokens 3000 --threads 1"), ("--layers 10", "--layers 2"),
)  # fmt: skip


def test_each_step_of_the_page_can_be_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """From the first prompt to a measured adapter no command fails, and each leaves what the next one takes."""
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "local-model.md").read_text("utf-8")
    for before, after in LESS:
        assert before in page, before
        page = page.replace(before, after)
    reader = Reader(capfd, monkeypatch)
    reader.read(page)
    assert reader.commands == sum(len(b.text.splitlines()) for b in blocks(page) if b.kind == "sh") == 6
    assert Path("crafter.gguf").is_file()
    assert all(re.search(r"\.btr$", path.name) for path in Path("lessons", "runs").iterdir() if path.is_file())

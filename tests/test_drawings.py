"""The drawings of the documentation are those of today's trees; each page of a node and each first page has one."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
WAYS_IN = [f"start-{reader}" for reader in ("author", "model", "robot", "research", "operator")]
FIRST = ["index", *WAYS_IN, "own-skills", "patterns", "language"]


def test_what_is_drawn_is_what_the_pages_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawn anew, also the run of the README's program, tick by tick; no drawing of a tree that is gone is left."""
    spec = importlib.util.spec_from_file_location("drawings", ROOT / ".ci" / "drawings.py")
    assert spec is not None and spec.loader is not None
    drawings = importlib.util.module_from_spec(spec)
    monkeypatch.chdir(ROOT)
    spec.loader.exec_module(drawings)
    texts = drawings.everything()
    assert [str(path) for path, text in texts.items() if not path.exists() or path.read_text("utf-8") != text] == []
    there = {path for folder in (DOCS / "drawn", DOCS / "nodes" / "drawn") for path in folder.glob("*.svg")}
    assert there == {path for path in texts if path.suffix == ".svg"}


PAGES = [*(DOCS / f"{name}.md" for name in FIRST), *sorted((DOCS / "nodes").glob("[a-z]*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_each_first_page_and_each_page_of_a_node_shows_its_tree(page: Path) -> None:
    shown = re.findall(r"!\[[^\]]+, [^\]]+\]\((drawn/[^)]+)\)", page.read_text("utf-8"))
    assert shown and all((page.parent / name).exists() for name in shown)


def test_the_readme_opens_with_the_picture_of_a_run_and_the_program_that_made_it() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert text.index("](docs/drawn/run.svg)") < text.index("```python") < text.index("```text") < text.index("##")

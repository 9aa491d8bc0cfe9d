"""An editor is told which properties of the open tree are broken, vacuous or impossible, while the author types."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from packages.author.tests.editor.lsp import Server

pytest.importorskip("pygls", reason="needs the lsp extra")
COMMAND = [sys.executable, "-m", "bt_runtime.cli", "serve", "lsp", "--stdio"]
TREE = """\
version: 1
tree: t
blackboard:
  low: {type: boolean, default: false}
  charging: {type: boolean, default: false, outside: false}
properties:
  plugged: {never: charging and tree is success}
  never_comes: {at_most: {times: 1, of: charging and not charging}}
  cannot: {ltl: "(F low) and (G !low)"}
root:
  sequence:
    - set: {charging: true}
    - wait: 1
    - set: {charging: false}
"""


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Server]:
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    running = Server(COMMAND, tmp_path)
    yield running
    running.close()


def proofs(editor: Server, uri: str, version: int, count: int) -> list[dict[str, Any]]:
    """What is told about this version once it has this many diagnostics from proofs."""
    while True:
        found = [each for each in editor.told(uri, version) if each.get("code") == "proof"]
        if len(found) == count:
            return found


def test_broken_vacuous_and_impossible_properties_are_diagnostics(editor: Server) -> None:
    """Each at its property's name; a sound property has none, and an edit takes back what was told."""
    uri = editor.open("t.yaml", TREE)
    found = proofs(editor, uri, 1, 2)
    lines = {each["range"]["start"]["line"]: each["message"] for each in found}
    assert "never holds" in lines[7] and "no run can keep it" in lines[8] and 6 not in lines
    editor.change(uri, 2, TREE.replace("{charging: false}\n", "{low: false}\n"))
    broken = next(each for each in proofs(editor, uri, 2, 3) if each["range"]["start"]["line"] == 6)
    assert "a run can break it" in broken["message"] and "tick 1" in broken["message"] and broken["severity"] == 2
    editor.change(uri, 3, TREE)
    assert len(proofs(editor, uri, 3, 2)) == 2
    editor.change(uri, 4, TREE.replace(", outside: false", ""))
    assumed = next(each for each in proofs(editor, uri, 4, 4) if each["range"]["start"]["line"] == 6)
    assert "proved, if only the tree writes `charging`" in assumed["message"]
    editor.change(uri, 5, TREE.replace("wait: 1", "wait: ["))
    assert all(each.get("code") != "proof" for each in editor.told(uri, 5))

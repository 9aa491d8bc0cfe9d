"""docs/compile.md is true: a reader who does what it says, step by step, gets what it shows."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import bt_runtime as bt
from bt_runtime.agents.compile.emit import MOST_NODES
from bt_runtime.cli import main

PAGE = (Path(__file__).parents[3] / "docs" / "compile.md").read_text("utf-8")
STARTER = find_spec("llama_cpp") and find_spec("llguidance")
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_every_step_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ten runs, a tree, an edit that is kept when more runs come, and a test of the result."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BTR_TRUST", str(tmp_path))
    for language, name, body in BLOCK.findall(PAGE):
        if name == "part":
            assert body in (tmp_path / "trees" / "desk.yaml").read_text("utf-8")
        elif name:
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(body, "utf-8")
        elif language == "sh":
            for line in body.splitlines():
                words = shlex.split(line)
                if "starter" in words and not STARTER:
                    continue
                if words[0] == "btr":
                    assert main(words[1:]) == 0, line
                else:
                    subprocess.run([sys.executable, *words[1:]], check=True, timeout=900)
    text = (tmp_path / "trees" / "desk.yaml").read_text("utf-8")
    assert "for the evening report" in text
    assert "# 15 times in 15 runs" in text
    capsys.readouterr()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "test_desk.py"], capture_output=True, text=True,
        timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)#]+)", PAGE))
def test_a_link_leads_somewhere(link: str) -> None:
    assert (Path(__file__).parents[3] / "docs" / link).exists()


@pytest.mark.parametrize("name", ["chores", "errands", "craft"])
def test_a_compiled_tree_that_the_page_names_is_within_the_limit(name: str) -> None:
    """And no agent stands in one of its cases."""
    root = Path(__file__).parents[3]
    assert f"](../trees/{name}.yaml)" in PAGE
    spec = bt.load(str(root / "trees" / f"{name}.yaml")).spec
    assert sum(not node.kind.transparent for node in spec.root.walk()) <= MOST_NODES
    assert not any(node.kind.family == "agent" for node in spec.root.children[0].walk())

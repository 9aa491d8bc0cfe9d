"""`btr check FOLDER` lists each tree with its properties."""

from __future__ import annotations

from pathlib import Path

import pytest

from bt_runtime.cli import main

HEAD = """\
version: 1
tree: {name}
blackboard: {{a: {{type: boolean, default: false}}}}
{properties}root: {{set: {{a: true}}}}
"""


def tree(folder: Path, name: str, promise: str = "") -> None:
    properties = f"properties: {{{promise}}}\n" if promise else ""
    (folder / f"{name}.yaml").write_text(HEAD.format(name=name, properties=properties))


def test_a_folder_is_listed_with_what_became_of_each_property(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A broken property is told with its story, a tree without properties by its name."""
    monkeypatch.chdir(tmp_path)
    trees = tmp_path / "trees"
    trees.mkdir()
    tree(trees, "bare")
    tree(trees, "good", "ends: {eventually: tree is success}")
    assert main(["check", "trees", "--no-cache"]) == 0
    tree(trees, "wrong", "off: {never: a}")
    capsys.readouterr()
    assert main(["check", "trees", "--no-cache"]) == 1
    out = capsys.readouterr().out
    assert "bare.yaml: no properties" in out and "ends: eventually `tree is success`: proved" in out
    assert "off: never `a`: broken\n    tick 1 at 0 s: a = True" in out
    assert out.endswith("3 trees, 1 without properties: 1 broken, 1 proved\n")


def test_a_promise_of_the_command_line_goes_with_one_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is to be shown of each tree stands in its head."""
    monkeypatch.chdir(tmp_path)
    tree(tmp_path, "one")
    assert main(["check", ".", "--never", "a"]) != 0
    assert "--never goes with one tree" in capsys.readouterr().err

"""`btr import` and `btr export`: a tree of BehaviorTree.CPP, as a project and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bt_robots.btcpp import document

NAV2 = Path(__file__).parents[2] / "packages" / "robots" / "tests" / "interop" / "nav2" / "follow_point.xml"


def test_the_command_writes_a_project_and_the_report(btr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = btr("import", NAV2, "--models", "nav2", "--out", "robot", "--json")
    assert said.code == 0
    assert json.loads(said.out)["main"] == "FollowPoint"
    (tmp_path / "robot" / "trees" / "FollowPoint.yaml").write_text("mine")
    assert "says something else" in btr("import", NAV2, "--out", "robot").err
    assert btr("import", NAV2, "--out", "robot", "--models", "nav2", "--force").code == 0
    monkeypatch.chdir(tmp_path / "robot")
    assert btr("validate").code == 0
    assert btr("export", "FollowPoint", "-o", "again.xml").code == 0
    assert document.read(Path("again.xml")).get("main_tree_to_execute") == "FollowPoint"

"""What docs/ros.md shows is sound: its manifest and tree, its commands, its Python."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from bt_robots.ros.implementations import GRACE, IMPLEMENTATIONS, STOPPING, WAIT
from bt_runtime.cli import main
from packages.robots.tests.ros import rclpy_double
from packages.robots.tests.ros.conftest import HOME

PAGE = (HOME / "docs" / "ros.md").read_text("utf-8")
BLOCK = re.compile(r"^```(yaml|python|console)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    for language, note, text in BLOCK.findall(PAGE):
        if language == "yaml":
            (tmp_path / note).parent.mkdir(exist_ok=True)
            (tmp_path / note).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def python(note: str) -> str:
    (text,) = (text for language, other, text in BLOCK.findall(PAGE) if language == "python" and other == note)
    return str(text)


def test_the_tree_and_the_manifest_of_the_page_are_sound(project: Path, capsys: Any) -> None:
    assert main(["validate", "--strict"]) == 0, capsys.readouterr()


def test_every_key_is_on_the_page() -> None:
    for name, made in IMPLEMENTATIONS.items():
        (line,) = (line for line in PAGE.splitlines() if line.startswith(f"| `ros/{name}` |"))
        assert set(made.keys) == set(re.findall(r"`(\w+)`", line.split("|")[2])), name
    for bound in (f"`wait` seconds ({WAIT:g})", f"`grace` seconds ({GRACE:g})", f"`stopping` seconds ({STOPPING:g})"):
        assert bound in PAGE


def test_the_page_s_zenoh_runs(project: Path, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = python("").replace("tcp/localhost:7447", server).replace("seconds=60", "seconds=0.1")
    exec(compile(text, "docs/ros.md", "exec"), {})


def test_the_page_s_node_ticks_on_the_double(project: Path) -> None:
    pytest.importorskip("rosbags", reason="needs the ros extra")
    with rclpy_double.rclpy() as system:
        names: dict[str, Any] = {}
        exec(compile(python("rclpy"), "docs/ros.md", "exec"), names)
        system.spin()
        assert names["run"].parts.engine.status.name == "FAILURE"  # no battery was heard of
        names["run"].close()

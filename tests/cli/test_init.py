from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

from bt_runtime.language.project import init
from tests.cli.conftest import Btr


@pytest.mark.parametrize("example", init.names())
def test_every_example_validates_strictly_and_runs(
    btr: Btr, here: Path, monkeypatch: pytest.MonkeyPatch, example: str
) -> None:
    if example == "arm":
        pytest.importorskip("mujoco")
    assert btr("init", "mine", "--example", example).code == 0
    monkeypatch.chdir(here / "mine")
    assert btr("validate", "--strict").code == 0
    if example != "ros2":  # that one needs a robot: packages/robots/tests/ros/test_run.py has one
        assert btr("run", "main", "--seconds", 300).code == 0
    assert btr("config", "schema", "--check").code == 0


def test_the_ros_example_installs_every_file_of_its_trees_and_skills(
    btr: Btr, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also trees in folders, and the skills' Python."""
    btr("init", "mine", "--example", "ros2")
    for name in ("trees/parts/door.yaml", "skills/arm/grip.py", "skills/arm/grip.yaml"):
        (here / "mine" / name).parent.mkdir(parents=True, exist_ok=True)
        (here / "mine" / name).touch()
    given: dict[str, Any] = {}
    monkeypatch.setattr("setuptools.setup", lambda **more: given.update(more))
    monkeypatch.chdir(here / "mine")
    runpy.run_path("setup.py")
    installed = {f"{folder}/{Path(file).name}" for folder, files in given["data_files"] for file in files}
    for name in ("trees/main.yaml", "trees/parts/door.yaml", "skills/arm/grip.py", "launch/tree.launch.py"):
        assert f"share/robot_tree/{name}" in installed


def test_the_schema_of_a_new_project_knows_its_skills(btr: Btr, here: Path) -> None:
    btr("init", "mine")
    schema = json.loads((here / "mine" / "schemas" / "tree.schema.json").read_text())
    assert "kind_say" in schema["definitions"]


def test_what_is_there_is_never_written_over(btr: Btr, here: Path) -> None:
    (here / "README.md").write_text("mine")
    said = btr("init")
    assert said.code == 2
    assert "already there: README.md" in said.err
    assert [p.name for p in here.iterdir()] == ["README.md"]
    assert (here / "README.md").read_text() == "mine"


def test_an_unknown_example_is_guessed(btr: Btr, here: Path) -> None:
    assert "did you mean `patrol`?" in btr("init", "--example", "patroll").err
    assert set(json.loads(btr("init", "--list", "--json").out)) == set(init.names())
    assert list(here.iterdir()) == []

"""The project is that of the file, wherever one stands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bt_runtime.language.loader import Loader
from bt_runtime.language.project import find_root
from tests.cli.conftest import Btr, tree


@pytest.fixture
def above(here: Path) -> Path:
    """A folder with two projects, each with a manifest `own` of another skill; itself none."""
    for name in ("one", "two"):
        for folder in ("trees", "skills"):
            (here / name / folder).mkdir(parents=True)
        (here / name / "btr.yaml").write_text("ticks: 1\n" if name == "two" else "")
        (here / name / "skills" / "own.yaml").write_text(
            f"version: 1\nskills: own\nabout: A.\nkinds:\n  go_{name}: "
            "{sentence: go, on_resume: repeat, impl: own.py:go}\n"
        )
        (here / name / "skills" / "own.py").write_text("def go():\n    yield\n    yield\n")
        (here / name / "trees" / "t.yaml").write_text(tree(f"go_{name}: {{}}", head="skills: [own]"))
    return here


def test_files_are_validated_with_the_skills_of_their_own_projects(btr: Btr, above: Path) -> None:
    """From a folder above both, and from within the other one."""
    said = btr("validate", "one/trees/t.yaml", "two/trees/t.yaml", "one/skills/own.yaml")
    assert (said.code, said.out) == (0, "")


def test_from_within_another_project_the_file_s_own_counts(
    btr: Btr, above: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(above / "one")
    assert btr("validate", "../two/trees/t.yaml").code == 0


def test_a_run_has_the_skills_and_settings_of_the_tree_s_project(btr: Btr, above: Path) -> None:
    """`ticks: 1` of two/btr.yaml stops the run, which one/ lets end."""
    assert json.loads(btr("run", "one/trees/t.yaml", "--json").out)["status"] == "SUCCESS"
    assert btr("run", "two/trees/t.yaml", "--json").code == 4
    assert find_root() is None  # what one command was about is forgotten after it


def test_a_loader_takes_the_project_of_its_first_file(above: Path) -> None:
    loader = Loader()
    assert loader.file(above / "two" / "trees" / "t.yaml").sound()
    assert loader.project == (above / "two").resolve()


def test_a_missing_manifest_is_one_fault_and_its_skills_are_none(btr: Btr, above: Path) -> None:
    """After BT040 of a manifest nothing is said of kinds that may be its skills."""
    (above / "one" / "skills" / "own.yaml").unlink()
    found = json.loads(btr("validate", "--json", "one/trees/t.yaml").out)
    assert [each["code"] for each in found] == ["BT040"]

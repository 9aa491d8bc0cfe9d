"""Names of trees: those in folders work everywhere, and shipped ones never stand in for one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

import bt_runtime as bt
from bt_runtime.testing import run_tree
from tests.cli.conftest import Btr, tree

OWN = tree("log: mine")


@pytest.fixture
def depot(here: Path) -> Path:
    (here / "trees" / "parts").mkdir(parents=True)
    (here / "btr.yaml").write_text("version: 1\n")
    (here / "trees" / "parts" / "door.yaml").write_text(OWN)
    return here


@pytest.mark.parametrize("name", ["parts/door", "parts/door.yaml"])
def test_a_tree_in_a_folder_has_one_name_everywhere(btr: Btr, depot: Path, name: str) -> None:
    assert btr("run", name, "--plain").code == 0
    assert "mine" in btr("view", "render", name).out
    assert bt.load(name).name == "t"
    assert run_tree(name).status is bt.Status.SUCCESS
    (depot / "trees" / "main.yaml").write_text(tree(f"tree: {name}"))
    assert btr("validate").err == "3 files checked, no faults\n"


@pytest.mark.parametrize("command", ["run", "view render"])
def test_a_shipped_tree_does_not_stand_in_for_an_own_one_in_a_folder(btr: Btr, depot: Path, command: str) -> None:
    said = btr(command, "door")
    assert (said.code, said.err) == (2, "error: there is no tree `door`\n  help: did you mean `parts/door`?\n")
    (depot / "trees" / "main.yaml").write_text(tree("tree: door"))
    assert "did you mean `parts/door`?" in btr("validate").out
    assert btr("view", "render", "btr:door").code == 0


def test_a_shipped_tree_that_is_taken_is_noted(btr: Btr, depot: Path) -> None:
    (depot / "trees" / "main.yaml").write_text(tree("tree: battery"))
    said = btr("validate")
    assert (said.code, said.out) == (0, "")
    assert "trees/main.yaml: note: `battery` is a shipped tree; `btr:battery` says so" in said.err
    assert "note: `battery` is a shipped tree" in btr("view", "render", "battery").err
    (depot / "trees" / "main.yaml").write_text(tree("tree: btr:battery"))
    assert "note" not in btr("validate").err + btr("view", "render", "btr:battery").err
    (depot / "trees" / "battery.yaml").write_text(OWN)
    assert "mine" in btr("view", "render", "battery").out


@pytest.mark.parametrize("name", ["btr:../pyproject", "btr:", "parts/../../x"])
def test_a_name_leads_out_of_no_folder(btr: Btr, depot: Path, name: str) -> None:
    (depot / "outside.yaml").write_text(OWN)
    (depot / "trees" / "main.yaml").write_text(tree(f"tree: '{name}'"))
    assert btr("validate", "trees/main.yaml").code == 1

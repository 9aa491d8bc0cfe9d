from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Btr, tree


def test_the_suffix_of_the_output_chooses_the_form(btr: Btr, here: Path) -> None:
    (here / "t.yaml").write_text(tree("log: hi"))
    assert btr("view", "render", "t.yaml", "-o", "t.svg").code == 0
    assert (here / "t.svg").read_text().startswith("<svg")
    assert btr("view", "render", "t.yaml", "-o", "t.svg", "--format", "dot").code == 0
    assert (here / "t.svg").read_text().startswith("digraph")


def test_a_suffix_of_no_form_is_refused(btr: Btr, here: Path) -> None:
    """A file with another name than what it holds opens nowhere; --format says that it is meant."""
    (here / "t.yaml").write_text(tree("log: hi"))
    said = btr("view", "render", "t.yaml", "-o", "t.png")
    assert said.code == 2 and ".svg" in said.err and not (here / "t.png").exists()
    assert btr("view", "render", "t.yaml", "-o", "t.png", "--format", "text").code == 0
    assert btr("view", "render", "t.yaml", "-o", "drawing").code == 0


def test_a_tree_at_fault_is_not_drawn(btr: Btr, here: Path) -> None:
    (here / "t.yaml").write_text(tree("lug: hi"))
    said = btr("view", "render", "t.yaml")
    assert (said.code, said.out) == (2, "")
    assert "BT012" in said.err


def test_a_folder_that_is_not_there_is_a_usage_error(btr: Btr, here: Path) -> None:
    (here / "t.yaml").write_text(tree("log: hi"))
    said = btr("view", "render", "t.yaml", "-o", "no/such/t.svg")
    assert said.code == 2
    assert "no/such/t.svg" in said.err
    assert btr("view", "render", "t.yaml", "--depth", 0).code == 2

"""Compiling again keeps a person's edits: what both changed is shown, and nothing is written unseen."""

from __future__ import annotations

from pathlib import Path

import pytest

import bt_runtime as bt
from bt_runtime import BtError
from bt_runtime.agents.compile.compiling import Compiled, compiled
from bt_runtime.agents.compile.keeping import base_of, keep
from tests.agents.compile.pantry import recorded


@pytest.fixture(scope="session")
def more(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """Compiled from more runs."""
    return compiled(recorded(tmp_path_factory.mktemp("more"), range(24)), "tidy_up")


@pytest.fixture
def file(tmp_path: Path, tidy_up: Compiled) -> Path:
    found = tmp_path / "trees" / "tidy_up.yaml"
    assert keep(found, tidy_up.text).state == "written"
    return found


def edited(file: Path, old: str, new: str) -> None:
    text = file.read_text("utf-8")
    assert text.count(old) == 1
    file.write_text(text.replace(old, new), "utf-8")


def test_the_same_runs_change_nothing(file: Path, tidy_up: Compiled) -> None:
    """Compiled once more from the same runs, the file stays as it is."""
    before = file.read_bytes()
    assert keep(file, tidy_up.text).state == "unchanged"
    assert file.read_bytes() == before


def test_more_runs_are_a_small_change(file: Path, more: Compiled) -> None:
    """Twice the runs: new counts, and few changes node by node."""
    kept = keep(file, more.text)
    assert kept.state == "merged"
    assert len(kept.changes) <= 4
    assert file.read_text("utf-8") == more.text


def test_edits_and_comments_are_kept(file: Path, more: Compiled) -> None:
    """A person's node and comment stay beside the new counts."""
    edited(file, "                move_on:\n", "                # the heavy ones last\n                move_on:\n")
    edited(file, "          - set: {given_up: false", "          - log: at work\n          - set: {given_up: false")
    assert keep(file, more.text).state == "merged"
    text = file.read_text("utf-8")
    assert "# the heavy ones last" in text
    assert "- log: at work" in text
    assert "# 24 times in 24 runs" in text
    bt.load(str(file))


def test_a_conflict_is_shown_and_nothing_is_written(file: Path, more: Compiled) -> None:
    """Both have changed the order of places: neither side is taken unseen."""
    edited(file, "order: [box, shelf]", "order: [shelf]")
    before = file.read_bytes()
    told = more.text.replace("order: [box, shelf]", "order: [cupboard, shelf]")
    told = told.replace("order: [shelf, box]", "order: [cupboard, shelf]")
    kept = keep(file, told)
    assert kept.state == "conflict"
    assert "order: [shelf]" in kept.conflicts[0].mine
    assert "cupboard" in kept.conflicts[0].new
    assert file.read_bytes() == before
    assert keep(file, told, "mine").state == "merged"
    assert "order: [shelf]" in file.read_text("utf-8")


def test_a_removed_case_stays_removed(file: Path, more: Compiled) -> None:
    """What a person took out does not come back while the runs say the same of it."""
    text = file.read_text("utf-8")
    start = text.index("                move_on:\n")
    end = text.index("    - agent:")
    text = text[:start] + text[end:]
    line = next(line for line in text.splitlines() if "move_on:" in line)
    file.write_text(text.replace(line + "\n", ""), "utf-8")
    assert keep(file, more.text).state == "merged"
    assert "move_on" not in file.read_text("utf-8")


def test_a_file_of_somebody_else_is_refused(tmp_path: Path, tidy_up: Compiled) -> None:
    """A tree that was not compiled is never written over."""
    file = tmp_path / "mine.yaml"
    file.write_text("version: 1\ntree: mine\nroot: {succeed: {}}\n", "utf-8")
    with pytest.raises(BtError, match="is not of `btr runs compile`"):
        keep(file, tidy_up.text)
    assert "tree: mine" in file.read_text("utf-8")
    assert not base_of(file).exists()

"""The five ways in and the patterns are run as they stand: their files, their commands, and what they show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.page_reader import ROOT, Reader, blocks

NAMES = ("author", "model", "robot", "research", "operator")
PAGES = {name: (ROOT / "docs" / f"start-{name}.md").read_text("utf-8") for name in NAMES}
MOST_WORDS = 1500


@pytest.mark.parametrize("name", PAGES)
def test_a_way_in_is_short(name: str) -> None:
    assert len(PAGES[name].split()) <= MOST_WORDS


def test_the_author_gets_from_an_empty_folder_to_a_tested_fuzzed_and_checked_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Reader(capfd, monkeypatch).read(PAGES["author"])


def test_the_embedder_gets_from_an_empty_folder_to_a_run_that_survives_a_power_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Reader(capfd, monkeypatch).read(PAGES["robot"])


def test_the_user_of_a_local_model_gets_from_a_check_to_an_agent_with_skills_of_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("llama_cpp")
    pytest.importorskip("llguidance")
    monkeypatch.chdir(tmp_path)
    Reader(capfd, monkeypatch).read(PAGES["model"])


def test_the_researcher_gets_from_a_strategy_to_a_comparison_in_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("llama_cpp")
    monkeypatch.chdir(tmp_path)
    Reader(capfd, monkeypatch).read(PAGES["research"])


def test_the_operator_gets_from_a_failed_run_to_its_reason_and_its_seal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Reader(capfd, monkeypatch).read(PAGES["operator"])


def test_a_command_that_is_only_shown_is_one_of_ours() -> None:
    """Blocks that need a download, a GPU or a person are not run; their commands and options still parse."""
    from bt_runtime.cli import joined, parser

    lines = [
        line
        for page in PAGES.values()
        for block in blocks(page)
        if block.kind == "console"
        for line in block.text.splitlines()
    ]
    shown = [line.removeprefix("$ btr ").partition("  #")[0] for line in lines if line.startswith("$ btr ")]
    assert shown
    for line in shown:
        import shlex

        parser(shlex.split(line)).parse_args(joined(shlex.split(line)))


def test_what_the_ways_in_install_is_an_extra_of_this_project() -> None:
    import tomllib

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    named = [
        name
        for page in PAGES.values()
        for found in re.findall(r"bt_runtime\[([^\]]+)\]", page)
        for name in found.split(",")
    ]
    assert named and set(named) <= set(extras)


def test_each_pattern_does_what_its_test_on_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    page = (ROOT / "docs" / "patterns.md").read_text("utf-8")
    Reader(capfd, monkeypatch).read(page)
    assert len(list(tmp_path.glob("trees/*.yaml"))) == page.count("\n## ") - 1

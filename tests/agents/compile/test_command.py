"""`btr runs compile` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bt_runtime.cli import main


def test_a_tree_goes_to_standard_output(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The report goes to standard error, so that the tree can be piped."""
    assert main(["runs", "compile", str(project / "runs"), "--name", "tidy_up"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("# yaml-language-server")
    assert "tidy_up: " in err
    assert "replayed: " in err


def test_out_writes_once_and_merges_then(project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The second time nothing has changed; --dry writes nothing at all."""
    file = tmp_path / "trees" / "tidy.yaml"
    assert main(["runs", "compile", str(project / "runs"), "--out", str(file), "--dry"]) == 0
    assert not file.exists()
    assert main(["runs", "compile", str(project / "runs"), "--out", str(file)]) == 0
    assert main(["runs", "compile", str(project / "runs"), "--out", str(file)]) == 0
    assert "unchanged" in capsys.readouterr().err


def test_json_is_the_whole_report(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For programs: cases, rehearsal, what was never compiled."""
    assert main(["runs", "compile", str(project / "runs"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["runs"] == 12
    assert {"cases", "rehearsal", "never compiled", "fuzz"} <= told.keys()


def test_nothing_to_compile_is_said_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder without runs is no traceback."""
    assert main(["runs", "compile", str(tmp_path)]) == 2
    assert "there are no runs to compile" in capsys.readouterr().err


def test_a_folder_of_links_to_folders_of_runs_is_read(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Links to journals, to folders of journals, and to an evaluation with its runs."""
    for name, target in (("runs", project / "runs"), ("evaluation", project)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "link").symlink_to(target)
        assert main(["runs", "compile", str(folder), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["runs"] == 12

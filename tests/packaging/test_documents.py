"""What the documents show is what happens."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from bt_runtime.cli import COMMANDS, call, joined, parser

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [(language, body) for language, body in BLOCK.findall(README)]


def _blocks(language: str) -> list[str]:
    return [body for name, body in BLOCKS if name == language]


@pytest.fixture
def fetch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "fetch.yaml"
    path.write_text(_blocks("yaml")[0])
    return path


def test_the_tree_of_the_readme_has_15_lines_and_runs_as_shown(fetch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(fetch.read_text().splitlines()) <= 15
    assert call(["run", "fetch.yaml", "--set", "room=hall", "--strict"]) == 0
    said = capsys.readouterr()
    shown = _blocks("console")[0].splitlines()
    times = re.compile(r"^ *\d+\.\d\d")
    assert [times.sub("", line) for line in said.err.splitlines()] == [times.sub("", line) for line in shown[1:3]]
    assert said.out.splitlines() == shown[3:]


def test_the_fault_of_the_readme_is_shown_to_the_letter(fetch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fetch.write_text(fetch.read_text().replace("set: {battery: 1.0}", "st: {battery: 1.0}"))
    assert call(["validate", "fetch.yaml"]) == 1
    said = capsys.readouterr()
    assert (said.out + said.err).splitlines() == _blocks("console")[1].splitlines()[1:]


def test_the_program_of_the_readme_prints_what_it_shows(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", _blocks("python")[0]], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == _blocks("text")[0]


COMMAND_LINES = [
    line.partition(" #")[0].split("|")[-1].split(">")[0].strip()
    for text in (README, (ROOT / "docs" / "cli.md").read_text("utf-8"))
    for line in re.findall(r"^(?:\S+ \S+ \| |BTR_\w+=\S+ )?btr .*$", text, re.MULTILINE)
]


@pytest.mark.parametrize("line", COMMAND_LINES)
def test_every_command_line_that_is_shown_is_one(line: str) -> None:
    words = shlex.split(line)[1:]
    assert joined(words)[0] in COMMANDS
    parser(words).parse_args(joined(words))


def test_every_command_is_in_its_document() -> None:
    text = (ROOT / "docs" / "cli.md").read_text("utf-8")
    assert [name for name in COMMANDS if f"`btr {name}" not in text] == []


def test_every_link_of_the_documents_leads_somewhere() -> None:
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "docs" / "cli.md"):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text("utf-8")):
            assert (path.parent / target).exists(), f"{path.name}: {target}"


@pytest.mark.parametrize("path", sorted((ROOT / "trees").glob("*.yaml")), ids=lambda p: p.stem)
def test_every_worked_example_says_what_it_adds_names_its_schema_and_has_no_warning(path: Path) -> None:
    first, second = path.read_text("utf-8").splitlines()[:2]
    assert first == "# yaml-language-server: $schema=../schemas/tree.schema.json"
    assert second.startswith("# ")
    assert call(["validate", str(path), "--strict"]) == 0


RUNS = [
    (path.name, line[1])
    for path in sorted((ROOT / "trees").glob("*.yaml"))
    if (line := re.search(r"Try: (btr run .*)$", path.read_text("utf-8"), re.MULTILINE))
]


@pytest.mark.parametrize(("name", "line"), RUNS)
def test_what_a_worked_example_says_to_try_ends_as_it_should(
    name: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All succeed but the locked door, which is there to fail."""
    monkeypatch.chdir(ROOT)
    assert call([*shlex.split(line)[1:], "--seconds", "30"]) == (1 if "locked=true" in line else 0)

"""`btr new` and `btr explain KIND`: what is written is valid and passes as it is; what is asked about is told."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Btr, tree


@pytest.fixture
def project(here: Path) -> Path:
    (here / "btr.yaml").write_text("version: 1\n")
    return here


def test_what_is_written_is_valid_and_its_test_passes(btr: Btr, project: Path) -> None:
    for words in (["skill", "open_door"], ["tree", "parts/door"], ["test", "parts/door"]):
        assert btr("new", *words).code == 0, words
    uses = tree("open_door: {times: 2, done: '{n}'}", head="skills: [open_door]\noutputs: {n: integer}")
    (project / "trees" / "uses.yaml").write_text(uses.replace("tree: t", "tree: uses"))
    assert btr("new", "test", "uses").code == 0
    assert btr("validate", "--strict").err == "4 files checked, no faults\n"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
        cwd=project, capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout


def test_nothing_is_written_over(btr: Btr, project: Path) -> None:
    btr("new", "skill", "wave")
    before = {path: path.read_text() for path in project.rglob("*") if path.is_file()}
    for words in (["skill", "wave"], ["tree", "t"], ["tree", "t"]):
        said = btr("new", *words)
    assert said.code == 2 and "already there: trees/t.yaml" in said.err
    assert {path: path.read_text() for path in before} == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["skill", "retry"], "`retry` is a kind of node already"),
        (["skill", "class"], "`class` is a word of Python"),
        (["skill", "Open Door"], "`Open Door` is no name of a skill"),
        (["tree", "../door"], "`../door` is no name of a tree"),
        (["test", "nowhere"], "this project has no tree `nowhere`"),
        (["test", "greet"], "this project has no tree `greet`"),
    ],
)
def test_what_cannot_be_made_is_said_with_a_way_out(btr: Btr, project: Path, words: list[str], message: str) -> None:
    said = btr("new", *words)
    assert said.code == 2 and message in said.err and "help:" in said.err
    assert [path.name for path in project.iterdir()] == ["btr.yaml"]


def test_a_kind_is_explained_with_fields_rules_and_example(btr: Btr, project: Path) -> None:
    said = btr("explain", "retry")
    assert said.code == 0
    for part in ("Runs its child again", "times", "1 or more, or -1", "## Rules", "```yaml\nretry:"):
        assert part in said.out
    (row,) = json.loads(btr("explain", "timeout", "--json").out)
    assert (row["kind"], row["fields"][0]["name"]) == ("timeout", "seconds")
    assert "for_each" in btr("explain", "kinds").out


def test_a_projects_own_skill_is_explained_too(btr: Btr, project: Path) -> None:
    btr("new", "skill", "wave")
    assert "It does what the sentence says: wave {times} times." in btr("explain", "wave").out


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("Selector", "did you mean `fallback`?"),
        ("retri", "did you mean `retry`?"),
        ("zzz", "`btr explain kinds` lists"),
    ],
)
def test_a_name_that_is_none_leads_on(btr: Btr, word: str, hint: str) -> None:
    said = btr("explain", word)
    assert said.code == 2 and hint in said.err


def test_codes_are_explained_as_before(btr: Btr) -> None:
    assert btr("explain", "bt6").out.startswith("# BT006: ")
    assert "did you mean `BT0" in btr("explain", "BTO06").err

"""A tree is tried without a robot: what is clicked decides, and what was clicked can be kept as a test."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bt_author.edit.rehearsal import Rehearsal
from bt_runtime import BtError

SKILLS = """\
version: 1
skills: arm
kinds:
  pick: {sentence: pick it, impl: "arm.py:pick", takes: 1}
  place: {sentence: place it, impl: "arm.py:place", takes: 1}
"""
CODE = "def pick(): ...\n\n\ndef place(): ...\n\n\nraise SystemExit('this must never be imported')\n"
TREE = """\
version: 1
tree: work
skills: [arm]
root:
  sequence:
    - retry: {times: 2, child: {pick: {}}}
    - wait: 1
    - place: {}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for folder in ("trees", "skills"):
        (tmp_path / folder).mkdir()
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    (tmp_path / "skills" / "arm.yaml").write_text(SKILLS)
    (tmp_path / "skills" / "arm.py").write_text(CODE)
    (tmp_path / "trees" / "work.yaml").write_text(TREE)
    return tmp_path


@pytest.fixture
def played(project: Path) -> Rehearsal:
    return Rehearsal(TREE, project / "trees" / "work.yaml", project)


def test_clicks_decide_and_no_skill_is_imported(played: Rehearsal) -> None:
    """A skill runs until it is answered; a failure is retried; time passes by itself."""
    played.tick()
    assert [path.rpartition("/")[2] for path in played.asking()] == [played.asking()[0].rpartition("/")[2]]
    played.answer(played.asking()[0], "failure")
    played.tick()
    played.answer(played.asking()[0], "success")
    played.tick(4)
    assert played.now >= 1
    played.answer(played.asking()[0], "success")
    assert played.over and played.told()["status"] == "success"


def test_the_story_is_a_test_that_pytest_runs(played: Rehearsal, project: Path) -> None:
    played.tick()
    played.answer(played.asking()[0], "success")
    played.tick(3)
    played.answer(played.asking()[0], "failure")
    assert played.told()["status"] == "failure"
    file = project / "test_story.py"
    file.write_text(played.as_test())
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)],
        capture_output=True,
        text=True,
        cwd=project,
    )
    assert done.returncode == 0, done.stdout
    file.write_text(played.as_test().replace("is FAILURE", "is SUCCESS"))
    assert (
        subprocess.run([sys.executable, "-m", "pytest", "-q", str(file)], capture_output=True, cwd=project).returncode
        == 1
    )


def test_chance_is_the_same_by_the_same_seed(project: Path) -> None:
    ends = []
    for _ in range(2):
        played = Rehearsal(TREE, project / "trees" / "work.yaml", project)
        played.chance(7)
        ends.append(played.told())
    assert ends[0] == ends[1] and ends[0]["moves"] > 2


def test_a_move_can_be_taken_back(played: Rehearsal) -> None:
    played.tick()
    before = played.told()
    played.answer(played.asking()[0], "failure")
    played.back()
    assert played.told() == before


def test_what_does_not_run_cannot_be_answered(played: Rehearsal) -> None:
    with pytest.raises(BtError, match="does not run"):
        played.answer("/work/2", "success")

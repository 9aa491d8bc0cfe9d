"""A tree is tried without a robot: what is clicked decides, and what was clicked can be kept as a test."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

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


def kept_passes(played: Rehearsal, project: Path) -> Path:
    """The story as a test, which pytest passes."""
    file = project / "test_story.py"
    file.write_text(played.as_test())
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=project)
    assert done.returncode == 0, done.stdout
    return file


def test_the_story_is_a_test_that_pytest_runs(played: Rehearsal, project: Path) -> None:
    played.tick()
    played.answer(played.asking()[0], "success")
    played.tick(3)
    played.answer(played.asking()[0], "failure")
    assert played.told()["status"] == "failure"
    file = kept_passes(played, project)
    file.write_text(played.as_test().replace("is FAILURE", "is SUCCESS"))
    assert (
        subprocess.run([sys.executable, "-m", "pytest", "-q", str(file)], capture_output=True, cwd=project).returncode
        == 1
    )


def test_an_answer_with_outputs_writes_them_also_in_the_kept_test(project: Path) -> None:
    (project / "skills/arm.yaml").write_text(SKILLS + "  weigh: {sentence: weigh, outputs: {grams: integer}}\n")
    text = TREE.replace("    - place: {}\n", '    - weigh: {grams: "{g}"}\n    - check: g == 40\n')
    played = Rehearsal(text, project / "trees/work.yaml", project)
    (project / "trees/work.yaml").write_text(text)
    with pytest.raises(BtError, match="takes an integer"):
        played.next("/work/2", "success", 0, {"grams": "heavy"})
    with pytest.raises(BtError, match="not the outputs"):
        played.next("/work/2", "success", 0, {"pounds": 2})
    played.next("/work/0/0", "success")
    played.next("/work/2", "success", 2, {"grams": 40})
    assert played.told()["stands"][1][1:] == ["success", 2, [["grams", "integer", None, None, [], False, "", "40"]]]
    played.tick(8)
    assert played.told()["status"] == "success" and played.told()["board"]["g"] == "40"
    kept_passes(played, project)


def test_chance_is_the_same_by_the_same_seed(project: Path) -> None:
    ends = []
    for _ in range(2):
        played = Rehearsal(TREE, project / "trees" / "work.yaml", project)
        played.chance(7)
        ends.append(played.told())
    assert ends[0] == ends[1] and ends[0]["moves"] > 2


def state(played: Rehearsal) -> dict[str, Any]:
    """What stands at this step, without the line of steps."""
    return {name: value for name, value in played.told().items() if name not in ("line", "beside")}


def test_each_step_of_the_time_line_shows_the_state_that_was(played: Rehearsal) -> None:
    """There and back, by one step or by many, at random; the line keeps all steps."""
    states = [state(played)]
    for n, move in enumerate((played.tick, lambda: played.answer("/work/0/0", "failure"), played.tick, played.halt)):
        move()
        states.append(state(played))
        assert played.told()["line"]["at"] == n + 1
    for at in (0, 4, 2, 3, 1, 1, 4, 0, 3):
        played.go(at)
        assert state(played) == states[at]
    played.back()
    assert state(played) == states[2] and len(played.told()["line"]["steps"]) == 4


def test_a_change_in_the_past_begins_a_branch_and_the_left_one_stays(played: Rehearsal) -> None:
    """The same tick again goes along the branch; another answer leaves it; both can be seen, with what differs."""
    pick = "/work/0/0"
    played.tick()
    played.answer(pick, "success")
    played.tick()
    after_success = state(played)
    played.go(0)
    played.tick()
    assert len(played.branches) == 1 and played.at == 1
    played.answer(pick, "failure")
    told = played.told()
    assert (told["line"]["branch"], told["line"]["branches"]) == (1, [3, 2])
    beside = told["beside"]
    assert (beside["branch"], beside["at"], beside["board"]) == (0, 2, [])
    assert [row[2:] for row in beside["nodes"]] != [] and all(here != there for *_, here, there in beside["nodes"])
    played.go(3, 0)
    assert state(played) == after_success
    played.beside(None)
    assert played.told()["beside"] is None
    for _ in range(10):
        played.go(0, 0)
        played.set("count", len(played.branches))
    assert len(played.branches) <= 6


def test_a_skill_answers_next_as_it_was_told(played: Rehearsal, project: Path) -> None:
    """After so many ticks, by itself; *To the next change* stops where it has; the kept test plays the same."""
    pick = "/work/0/0"
    played.next(pick, "failure", 3)
    assert played.told()["stands"][0] == [pick, "failure", 3, []]
    played.tick(3)
    assert played.asking() == [pick] and played.told()["stands"][0] == [pick, "", 0, []]
    played.on()
    assert "FAILURE" in {node.status for node in played.shown.values()}
    played.on()
    played.answer(pick, "success")
    played.on()
    kept_passes(played, project)


def test_a_start_that_was_halted_has_no_answer_in_the_kept_test(project: Path) -> None:
    """The answer of the second start is not given to the first."""
    text = (
        TREE.partition("root:")[0]
        + "blackboard: {stop: {type: boolean, default: false}}\nroot:\n  reactive_fallback:\n"
    )
    text += "    - wait: {seconds: 9, when: stop}\n    - pick: {}\n"
    played = Rehearsal(text, project / "trees" / "work.yaml", project)
    played.tick()
    played.set("stop", True)
    assert played.asking() == []
    played.set("stop", False)
    played.answer("/work/1", "success")
    assert played.told()["status"] == "success"
    kept_passes(played, project)


def test_what_does_not_run_cannot_be_answered(played: Rehearsal) -> None:
    with pytest.raises(BtError, match="does not run"):
        played.answer("/work/2", "success")

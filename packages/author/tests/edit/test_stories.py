"""A counterexample of `btr fuzz` or `btr check` is played step by step in the editor."""

from __future__ import annotations

from pathlib import Path

import pytest

from bt_author.edit.story_play import StoryPlay
from bt_runtime.cli import main
from bt_runtime.run.debug.script import LaterResult
from bt_runtime.testing import FAILURE, RUNNING, SUCCESS
from bt_runtime.testing.case import Case, Subject
from bt_runtime.testing.story_file import of_finding, parse, read

DOOR = """\
version: 1
tree: door
skills: [hands]
blackboard:
  open: {type: boolean, default: false}
  locked: {type: boolean, default: false}
root:
  sequence:
    - push: {}
    - set: {open: true}   # it opens
    - wait: 1
    - set: {locked: true}
"""
HANDS = 'version: 1\nskills: hands\nkinds:\n  push: {sentence: push, impl: "hands.py:push", takes: 1}\n'
CODE = "def push(): ...\n\n\nraise SystemExit('this must never be imported')\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for folder in ("trees", "skills"):
        (tmp_path / folder).mkdir()
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    (tmp_path / "trees/door.yaml").write_text(DOOR)
    (tmp_path / "skills/hands.yaml").write_text(HANDS)
    (tmp_path / "skills/hands.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", ["fuzz", "check"])
def test_a_counterexample_is_played_to_its_end_and_a_mended_tree_keeps_the_promise(project: Path, command: str) -> None:
    """The last tick breaks the promise; on a mended text the same story breaks nothing."""
    if command == "fuzz":
        pytest.importorskip("hypothesis", reason="btr fuzz needs the extra `fuzz`")
    assert main([command, "door", "--never", "open and locked", "--stories", "stories"]) == 1
    [file] = (project / "stories").iterdir()
    story, tree = read(file), project / "trees/door.yaml"
    assert (file.parent / story.file).resolve() == tree and story.found_by.startswith(f"btr {command} door")
    played = StoryPlay(DOOR, tree, project, story)
    states = []
    while not played.told()["story"]["state"]:
        states.append(played.told()["status"])
        played.go(played.at + 1)
    told = played.told()["story"]
    assert told["state"] == "broken" and told["at"] == told["of"] == len(states) > 2 and told["words"]
    assert "open and locked" in told["broken"] and "test_door" in played.as_test()
    played.go(1)
    assert played.told()["story"]["state"] == "" and played.told()["status"] == states[1]
    mended = StoryPlay(DOOR.replace("{locked: true}", "{locked: true, open: false}"), tree, project, story)
    mended.go(len(mended.steps))
    assert mended.told()["story"]["state"] == "kept"
    for each in (played, mended):
        each.close()


def test_a_case_of_fuzz_is_the_same_story_tick_by_tick(project: Path) -> None:
    """Doubles, outputs, exceptions, halts and writes from outside stand in the file, and lead to the same end."""
    subject = Subject("door", never="open and locked")
    acts = [LaterResult(5, FAILURE), LaterResult(40, FAILURE), RuntimeError("it broke")]
    moves = (("step", 2), ("set", "open", False), ("halt",), ("step", 30), ("halt",), ("step", 30))
    finding = subject.finding(
        Case({}, {"push": acts}, {"**/3": [FAILURE, LaterResult(1, SUCCESS)]}, moves, None, 60.0), "me"
    )
    story = of_finding(subject, finding)
    again = parse(story.text())
    assert again.text() == story.text() and ("halt",) in again.case.moves
    played = StoryPlay(DOOR, project / "trees/door.yaml", project, again)
    played.go(len(played.steps))
    assert bool(played.broken) == bool(finding.why) and played.now == subject.last.clock.now()
    played.close()


def test_a_tree_that_does_not_end_in_time_is_a_story_too(project: Path) -> None:
    subject = Subject("door")
    finding = subject.finding(Case({}, {"push": [RUNNING]}, {}, (), 5.0, 0.0), "me")
    played = StoryPlay(DOOR, project / "trees/door.yaml", project, parse(of_finding(subject, finding).text()))
    played.go(len(played.steps))
    assert "push: scripted to run for ever" in played.broken
    played.close()

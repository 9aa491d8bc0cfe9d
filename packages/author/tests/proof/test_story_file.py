"""A counterexample is kept as a file, which the engine plays tick by tick."""

from __future__ import annotations

from pathlib import Path

import pytest

from bt_author.proof.check import check
from bt_runtime import BtError, load
from bt_runtime.cli import main
from bt_runtime.testing import RUNNING
from bt_runtime.testing.case import moved
from bt_runtime.testing.story_file import parse, read
from tests.support.random_trees import SKILLS

TREE = """\
version: 1
tree: t
blackboard:
  a: {type: boolean, default: false}
properties:
  calm: {never: a and grab is running and seen == true}
  comes: {eventually: grab is success, assuming: skills_end}
root:
  sequence:
    - look: {seen: "{seen}"}
    - wait: 1.5
    - retry: {times: 2, child: {go: {}}}
    - grab: {}
"""


def test_a_story_is_read_back_as_it_was_written() -> None:
    """Its text holds the inputs, every start of every skill, the moves and the words of each tick."""
    calm, comes = check(load(TREE, skills=SKILLS))
    for result in (calm, comes):
        story = result.played
        assert story is not None
        again = parse(story.text())
        assert again.text() == story.text() and again.case.moves == story.case.moves
        assert [tick.words for tick in again.ticks] == list(result.story[: len(again.ticks)])


def test_a_story_is_played_by_the_engine_up_to_what_breaks() -> None:
    """After its last tick the run is where the property is broken."""
    tree = load(TREE, skills=SKILLS)
    [result] = check(tree, properties=["calm"])
    story = parse(result.played.text())
    with story.trial(tree) as trial:
        for move in story.case.moves:
            moved(trial, move)
        assert trial.board["a"] and trial.board["seen"] and trial.run.parts.engine.find("/t/3").status is RUNNING
    assert list(story.play(tree)) == [tick.words for tick in story.ticks]


def test_the_command_writes_stories(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "t.yaml"
    file.write_text(
        "version: 1\ntree: t\nblackboard: {a: {type: boolean}}\nproperties: {calm: {never: a}}\nroot: {succeed: {}}\n"
    )
    assert main(["check", str(file), "--stories", str(tmp_path / "stories")]) == 1
    story = read(tmp_path / "stories" / "t.calm.json")
    assert story.tree == "t" and story.property == "calm: never `a`" and "broken" in story.why
    assert "t.calm.json" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"version": 1}', '{"version": 2}', '{"version": 1, "tree": 1, "property": "", "why": "", '
             '"inputs": {}, "skills": {}, "ticks": [{"words": "", "moves": [["jump"]]}], "repeats": null}']
)  # fmt: skip
def test_what_is_no_story_is_refused(text: str) -> None:
    with pytest.raises(BtError):
        parse(text)

"""A draft that breaks a property of the project goes back to the model; the person sees what was not decided."""

from __future__ import annotations

from pathlib import Path

import pytest

from bt_author.sentence.drafting import Author, Refused
from bt_runtime.agents import ScriptedModel

MANIFEST = """\
version: 1
skills: rover
impl: world
kinds:
  drive: {params: {place: string}, on_resume: repeat}
  charge: {on_resume: repeat}
properties:
  plugged_in: {about: Driving tears the plug off., never: drive is running and charge is running}
"""
HEAD = "version: 1\ntree: draft\nskills: [rover]\nroot:\n"
WRONG = f"{HEAD}  parallel:\n    - drive: hall\n    - charge: {{}}\n"
RIGHT = f"{HEAD}  sequence:\n    - drive: hall\n    - charge: {{}}\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for folder in ("trees", "skills"):
        (tmp_path / folder).mkdir()
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    (tmp_path / "skills" / "rover.yaml").write_text(MANIFEST)
    return tmp_path


def test_a_broken_property_goes_back_to_the_model_with_its_story(root: Path) -> None:
    model = ScriptedModel([WRONG, RIGHT])
    draft = Author(model, root).draft("drive and charge")
    assert draft.rounds == 2 and "parallel" not in draft.text
    asked = model.asked[1].prompt
    assert "plugged_in" in asked and "tick 1 at 0 s: drive (/draft/0) goes on, charge (/draft/1) goes on" in asked


def test_a_draft_that_never_keeps_it_is_refused_with_the_story(root: Path) -> None:
    with pytest.raises(Refused, match="plugged_in") as refused:
        Author(ScriptedModel([WRONG, WRONG]), root).draft("drive and charge", rounds=2)
    assert "tick 1" in str(refused.value)


def test_properties_of_the_whole_project_are_asked_too(root: Path) -> None:
    (root / "skills" / "rover.yaml").write_text(MANIFEST.partition("properties:")[0])
    (root / "btr.yaml").write_text("version: 1\nproperties:\n  stays: {never: drive is running}\n")
    with pytest.raises(Refused, match="stays"):
        Author(ScriptedModel([RIGHT]), root).draft("drive", rounds=1)


def test_what_is_not_decided_is_a_question(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bt_author.sentence.proving.STATES", 1)
    draft = Author(ScriptedModel([RIGHT]), root).draft("drive and charge")
    assert any("plugged_in" in question and "not decided" in question for question in draft.questions)

"""docs/proofs.md is true: its draft is refuted as it shows, its mended tree is proved, and its limits are told."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bt_author.proof.chance import Chances, Record
from bt_runtime import Run, Skill, load
from bt_runtime.agents import ScriptedModel
from bt_runtime.cli import main
from bt_runtime.events import Line
from bt_runtime.run.monitoring.watch import Watch
from bt_runtime.testing import FAILURE, RUNNING
from tests.support.random_trees import SKILLS

PAGE = (Path(__file__).parents[4] / "docs" / "proofs.md").read_text("utf-8")
BLOCKS = dict(re.findall(r"^```\w+ (\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project that the page shows."""
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    for name, text in BLOCKS.items():
        if "/" in name:
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
    (tmp_path / "skills" / "base.py").write_text("def drive(place): ...\ndef charge(): ...\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def mend(project: Path) -> None:
    tree = project / "trees" / "rover.yaml"
    tree.write_text(tree.read_text().replace("        when: low\n", BLOCKS["mended"]))


def test_the_draft_is_refuted_by_the_story_that_is_shown(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "rover", "--test", "found.py"]) == 1
    shown = capsys.readouterr().err
    first, *story = BLOCKS["refuted"].splitlines()
    assert first in shown and all(line in shown for line in story)
    found = (project / "found.py").read_text()
    assert 'properties=["plugged_in"]' in found and "def test_rover_keeps_plugged_in()" in found


def test_the_mended_tree_is_proved_and_its_test_is_green(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", "rover", "--test", "found.py"])
    mend(project)
    capsys.readouterr()
    assert main(["check", "rover"]) == 0
    assert "plugged_in: never `charging and drive is running`: proved" in capsys.readouterr().err
    space: dict[str, object] = {}
    exec(compile((project / "found.py").read_text(), "found", "exec"), space)
    space["test_rover_keeps_plugged_in"]()  # type: ignore[operator]


def test_a_proof_is_kept_until_the_text_changes(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mend(project)
    assert main(["check", "rover"]) == 0
    capsys.readouterr()
    assert main(["check", "rover"]) == 0
    assert capsys.readouterr().err.count("known from before") == 2
    tree = project / "trees" / "rover.yaml"
    tree.write_text(tree.read_text().replace("place: yard", "place: lawn"))
    assert main(["check", "rover"]) == 0
    assert "known from before" not in capsys.readouterr().err


def test_a_plan_is_refused_as_the_page_says(project: Path) -> None:
    model = ScriptedModel(["Expand:\nsequence: [{act: drive hall}]", "Act: failure"])
    with Run(load("tidy"), services={"model": model, "scripted_skills": Still()}, recall=False) as run:
        run.parts.extensions[Watch].grafts.seconds = 10.0
        run.spin(ticks=100)
    read = " ".join("".join(question.prompt for question in model.asked).split())
    assert " ".join(BLOCKS["refusal"].split()) in read


class Still:
    """Skills that run for ever."""

    def get(self, name: str) -> type[Skill]:
        class One(Skill):
            def start(self, **params: object) -> None: ...

            def poll(self) -> object:
                return RUNNING

        return One


def test_a_run_is_halted_by_what_it_breaks(project: Path) -> None:
    """The draft's story, in a run: the charger fails, the rover drives, and the run is halted."""
    told: list[str] = []
    with Run(load("rover"), inputs={"low": True}, services={"scripted_skills": Failing()}) as run:
        run.listen(lambda line: told.append(line.text), Line)
        run.spin(ticks=20)
        assert run.parts.extensions[Watch].violations
    assert BLOCKS["violation"].strip() in told


class Failing(Still):
    def get(self, name: str) -> type[Skill]:
        class Fails(Skill):
            def start(self, **params: object) -> None: ...

            def poll(self) -> object:
                return FAILURE

        return Fails if name == "charge" else super().get(name)


def test_the_chance_of_the_page_is_what_its_records_give() -> None:
    text = "version: 1\ntree: coin\nskills: []\nroot: {fallback: [go: {}, go: {}]}\n"
    found = Chances(load(text, skills=SKILLS).spec, {"go": Record(4, 4, 0.16)}).chance()
    assert f"succeeds: {found.success:.1%} (between {found.low:.1%} and {found.high:.1%}" in BLOCKS["chance"]

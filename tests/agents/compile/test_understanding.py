"""Goals in people's words are understood by `infer`, and done by what was compiled."""

from __future__ import annotations

from pathlib import Path

import pytest

from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.compile.compiling import Compiled, compiled
from bt_runtime.agents.compile.fuzzing import fuzzed
from bt_runtime.cli import main
from bt_runtime.cli.recorded import compile
from bt_runtime.types import Question
from tests.agents.compile.pantry import Pantry, played, task


@pytest.fixture(scope="module")
def other_words(journals: list[Path]) -> Compiled:
    return compiled(journals, "tidy_up", infer=True)


def _asked(goal: str, kind: str, tmp_path: Path, text: str) -> tuple[Pantry, list[Question]]:
    """Plays a goal; the model understands `kind`, and reads the thing and the place off the goal."""
    todo = task(3)
    world = Pantry(todo._replace(goal=goal))

    def decide(question: Question) -> str:
        if question.kind == "decide":
            return "Act: failure"
        return next(
            (each for each in question.options if each.strip() == kind or each.strip() in goal), question.options[-1]
        )

    file = tmp_path / "tidy_up.yaml"
    file.write_text(text, "utf-8")
    model = ScriptedModel(decide)
    played(file, world, model)
    return world, model.asked


def test_a_goal_in_other_words_is_done_by_the_compiled_case(tmp_path: Path, other_words: Compiled) -> None:
    """The model chooses which goal is meant, the thing and the place, and decides nothing else."""
    todo = task(3)
    thing, place = todo.data["thing"], todo.data["place"]
    kind = next(case.name for case in other_words.cases if case.forms[0].startswith("move"))
    world, asked = _asked(f"I want to have my {thing} over at that {place}!", kind, tmp_path, other_words.text)
    assert world.verdict().reached
    assert [question.kind for question in asked] == ["choose"] * 3


def test_what_is_none_of_the_known_goals_is_the_agents(tmp_path: Path, other_words: Compiled) -> None:
    """`none of these` is one of the choices."""
    _, asked = _asked("sing a song", "none of these", tmp_path, other_words.text)
    assert [question.kind for question in asked] == ["choose", "decide"]


def test_only_values_of_the_runs_are_chosen(other_words: Compiled, tidy_up: Compiled) -> None:
    """A slot's choices stand in the tree; without --infer nothing of this does."""
    assert "choices: [desk, table]" in other_words.text
    assert "infer" not in tidy_up.text
    assert "it ended in each" in fuzzed(other_words, 4)


def test_a_tree_that_calls_itself_is_compiled_within_a_project(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its trial runs lie inside the project, and nothing is left of them."""
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(compile, "FUZZED", 3)
    words = ["runs", "compile", str(project / "runs"), "--out", "trees/known.yaml", "--infer"]
    assert main(words) == 0, capsys.readouterr().err
    assert "file: known" in (tmp_path / "trees/known.yaml").read_text("utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["btr.yaml", "trees"]

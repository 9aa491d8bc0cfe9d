"""Skills that a program gives as Python objects need no manifest."""

from __future__ import annotations

from pathlib import Path

import pytest

import bt_runtime as bt
from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.compile.compiling import Compiled, compiled
from bt_runtime.agents.compile.fuzzing import fuzzed
from bt_runtime.agents.compile.keeping import keep
from bt_runtime.types import Question
from tests.agents.compile.pantry import Nobody

HOST = """version: 1
tree: host
inputs: {goal: {type: string}}
root:
  agent: {goal: "{goal}", moves: [think, act], recall: false}
"""
DONE: list[str] = []


@bt.skill("greet {person}")
def greet(person: str) -> bool:
    DONE.append(f"greet {person}")
    return True


@bt.skill("show {person} to a table")
def seat(person: str) -> bool:
    DONE.append(f"seat {person}")
    return True


def _record(runs: Path, person: str) -> None:
    steps = [f"greet {person}", f"show {person} to a table", "done"]

    def decide(question: Question) -> str:
        return "Act: " + steps[question.prompt.rpartition("Your task is to: ")[2].count("Act: ")]

    tree = bt.load(HOST, skills=[greet, seat])
    with bt.Run(tree, inputs={"goal": f"welcome {person}"}, model=ScriptedModel(decide), journal=runs) as run:
        run.spin()


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    runs = tmp_path_factory.mktemp("runs")
    for person in ("Ada", "Bob", "Eve", "Ida"):
        _record(runs, person)
    return compiled(sorted(runs.glob("*.btr")), "known_host")


def test_a_tree_of_given_skills_is_loaded_with_them(host: Compiled, tmp_path: Path) -> None:
    """The comment in its head says which; a new person is welcomed without a model."""
    assert "skills=[greet, seat]" in host.text
    assert "skills: " not in host.text
    tree = bt.load(host.text, skills=[greet, seat])
    DONE.clear()
    with bt.Run(tree, inputs={"goal": "welcome Zoe"}, model=Nobody()) as run:
        assert run.spin() is bt.Status.SUCCESS
    assert DONE == ["greet Zoe", "seat Zoe"]


def test_fuzzing_starts_none_of_them(host: Compiled) -> None:
    """A program's skill does real work: in random worlds it has a double."""
    DONE.clear()
    assert "it ended in each" in fuzzed(host, 10)
    assert DONE == []


def test_edits_of_such_a_tree_are_kept(host: Compiled, tmp_path: Path) -> None:
    """The merged tree is checked with the same skills."""
    file = tmp_path / "known_host.yaml"
    given = host.lexicon.given.values()
    keep(file, host.text, skills=given)
    file.write_text(file.read_text("utf-8").replace("# 4 times in 4 runs", "# as at the door"), "utf-8")
    more = host.text.replace("seat:", "greet:")
    kept = keep(file, more, skills=given)
    assert (kept.state, "as at the door" in file.read_text("utf-8")) == ("merged", True)

"""What travels to another machine is all that an episode needs there; what has to be there already is asked for."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bt_lab.cluster import bundle as bundle
from bt_lab.cluster.bundle import Named, named, pack, unpack
from bt_lab.cluster.node_runner import NodeRunner
from bt_lab.run.case import Setup, Strategy, cases
from bt_runtime import BtError
from bt_runtime.agents import ScriptedModel
from bt_runtime.memory import Episodes
from bt_runtime.memory.experience import Experience
from bt_runtime.types import Job, Question, Wake
from packages.lab.tests.bench.conftest import tasks_of

TREE = "version: 1\ntree: mine\ninputs: {goal: string}\nroot: {agent: {goal: '{goal}', moves: [act], prompt: terse}}\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a tree and a prompt of its own."""
    root = tmp_path / "project"
    (root / "trees" / "prompts").mkdir(parents=True)
    (root / "btr.yaml").touch()
    (root / "trees" / "mine.yaml").write_text(TREE)
    (root / "trees" / "prompts" / "terse.md").write_text("Say what you do.\n")
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Another machine: nothing of the project is there."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "unpacked").mkdir()
    monkeypatch.setenv("BTR_PROJECT", "")  # a site sets it; put back afterwards
    monkeypatch.chdir(tmp_path / "elsewhere")
    return tmp_path / "unpacked"


class Patient(ScriptedModel):
    """Answers when it is let."""

    def __init__(self) -> None:
        super().__init__(lambda ask: "Act: done")
        self.let = threading.Event()
        self.waiting: list[Late] = []

    def ask(self, question: Question) -> Any:
        self.waiting.append(Late(self, super().ask(question).answer, question.wake))
        return self.waiting[-1]


class Late(Job[Any]):
    wakes = True

    def __init__(self, model: Patient, answer: Any, wake: Wake | None) -> None:
        self.model, self.answer, self.wake = model, answer, wake

    def poll(self) -> Any:
        return self.answer if self.model.let.is_set() else None

    def cancel(self, reason: str) -> None:
        """Nothing is held."""


def test_a_project_arrives_with_its_trees_and_prompts(project: Path, elsewhere: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(project)
    sent = pack(Setup("textcraft"), [Strategy("mine", "mine")], 2)
    monkeypatch.chdir(elsewhere)
    for file in project.rglob("*.*"):
        file.unlink()
    site = NodeRunner(sent, {"default": ScriptedModel(lambda ask: "Act: done")})
    try:
        todo = cases([Strategy("mine", "mine")], tasks_of("textcraft", 3))
        found = [site.run(case).result(60) for case in todo]
    finally:
        site.close()
    assert [(o.task, o.error, o.decisions) for o in found] == [(case.task.id, "", 1) for case in todo]


def test_a_tree_that_arrives_as_another_one_is_refused(project: Path, elsewhere: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(project)
    sent = pack(Setup("textcraft"), [Strategy("mine", "mine")], 1)
    changed = {**sent.content, "trees/mine.yaml": TREE.replace("act", "act, think").encode()}
    with pytest.raises(BtError, match="did not arrive as it was sent"):
        unpack(sent._replace(content=changed), elsewhere)


def test_two_trees_that_would_lie_in_one_place_are_refused_before_anything_is_sent(tmp_path: Path) -> None:
    for folder, most in (("a", 1), ("b", 2)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same.yaml").write_text(TREE.replace("prompt: terse", f"max_decisions: {most}"))
    with pytest.raises(BtError, match="two different files"):
        pack(Setup("textcraft"), [Strategy(f, str(tmp_path / f / "same.yaml")) for f in "ab"], 1)


def test_python_nodes_travel_with_the_tree_that_names_them(tmp_path: Path, elsewhere: Path) -> None:
    source = "from py_trees.behaviours import Success\n\nclass Nod(Success):\n    pass\n"
    (tmp_path / "nodes.py").write_text(source)
    (tmp_path / "mine.yaml").write_text("version: 1\ntree: mine\nroot: {py: {class: 'nodes.py:Nod'}}\n")
    unpack(pack(Setup("textcraft"), [Strategy("mine", str(tmp_path / "mine.yaml"))], 1), elsewhere)
    assert (elsewhere / "trees" / "nodes.py").read_text() == source


def test_what_the_project_allows_is_allowed_where_its_trees_arrive(
    tmp_path: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "btr.yaml").write_text("version: 1\nmodel: mine.gguf\nallow: {python: [email, ../shared]}\n")
    (tmp_path / "mine.yaml").write_text("version: 1\ntree: mine\nroot: {py: {class: 'email.charset:Charset'}}\n")
    unpack(pack(Setup("textcraft"), [Strategy("mine", str(tmp_path / "mine.yaml"))], 1), elsewhere)
    assert (elsewhere / "btr.yaml").read_text() == '{"version": 1, "allow": {"python": ["email"]}}'


def test_a_memory_travels_and_is_read_where_it_arrived(tmp_path: Path, elsewhere: Path) -> None:
    file = tmp_path / "react.db"
    with Episodes.open(file) as episodes:
        episodes.add([Experience("find an apple", "Act: go to fridge 1", "success")])
    sent = pack(Setup("textcraft"), [Strategy("react", "react", memory=str(file))], 1)
    file.unlink()
    arrived = unpack(sent, elsewhere).memories[str(file)]
    with Episodes.open(arrived, readonly=True) as episodes:
        assert [e.goal for e in episodes.store.each()] == ["find an apple"]


def test_another_version_and_data_that_are_not_there_are_told(elsewhere: Path) -> None:
    sent = pack(Setup("textcraft", {"data": str(elsewhere / "none")}), [Strategy("react", "react")], 1)
    with pytest.raises(BtError, match="no data set"):
        unpack(sent, elsewhere)
    with pytest.raises(BtError, match=r"0\.0\.1 where the evaluation was started"):
        unpack(sent._replace(versions={"bt_runtime": "0.0.1"}), elsewhere)


def test_a_model_has_to_be_there_and_be_the_same_one(tmp_path: Path) -> None:
    file = tmp_path / "m.gguf"
    file.write_bytes(b"GGUF of one")
    sent = named(str(file))
    file.write_bytes(b"GGUF of another")
    with pytest.raises(BtError, match="is another model"):
        sent.opened()
    file.unlink()
    with pytest.raises(BtError, match="there is no model"):
        sent.opened()
    with pytest.raises(BtError, match="there is no model"):
        named(str(file))
    assert named("http://host:8080/v1/") == Named("http://host:8080")


def test_a_case_that_is_asked_for_again_while_it_runs_is_not_begun_again(elsewhere: Path) -> None:
    model = Patient()
    site = NodeRunner(pack(Setup("textcraft"), [Strategy("react", "react")], 2), {"default": model})
    try:
        (case,) = cases([Strategy("react", "react")], tasks_of("textcraft", 1))
        first, second = site.run(case), site.run(case)
        model.let.set()
        site.intake.alarm.set()
        assert first is second and first.result(60).task == case.task.id
    finally:
        site.close()
    assert len(model.waiting) == 1


def test_closing_ends_what_runs_and_says_so_to_who_waits(elsewhere: Path) -> None:
    site = NodeRunner(pack(Setup("textcraft"), [Strategy("react", "react")], 1), {"default": Patient()})
    waiting = [site.run(case) for case in cases([Strategy("react", "react")], tasks_of("textcraft", 3))]
    folder = os.environ["BTR_PROJECT"]
    site.close()
    for each in waiting:
        with pytest.raises(BtError, match="was stopped"):
            each.result(60)
    assert not Path(folder).exists()


def test_what_is_shipped_travels_too_and_the_projects_own_comes_before_it(project: Path) -> None:
    (project / "trees" / "react.yaml").write_text(TREE)
    content = bundle.pack(Setup("textcraft"), [], 1).content
    assert content["trees/react.yaml"] == TREE.encode()
    assert {"trees/adapt.yaml", "trees/prompts/agent.md", "skills/house.yaml"} <= content.keys()

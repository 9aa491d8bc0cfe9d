"""Uses of the agent become a proposal; nobody's tree changes without a yes."""

from __future__ import annotations

import re
import shutil
import threading
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

import bt_runtime as bt
from bt_runtime import BtError, View
from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.compile.compiling import Compiled, compiled
from bt_runtime.agents.compile.keeping import keep
from bt_runtime.agents.compile.learning import proposal
from bt_runtime.cli import main
from bt_runtime.cli.running import learning
from bt_runtime.language.settings import Settings
from bt_runtime.run.view.feed import Latest
from bt_runtime.types import Question, Task
from tests.agents.compile.pantry import Nobody, Pantry, played, task


@pytest.fixture
def home(project: Path, tmp_path: Path, tidy_up: Compiled) -> Path:
    """A project with twelve runs, and the tree that was compiled from them."""
    shutil.copytree(project / "runs", tmp_path / "runs")
    shutil.copytree(project / "trees", tmp_path / "trees")
    keep(tmp_path / "trees" / "tidy_up.yaml", tidy_up.text)
    return tmp_path


def _unknown(home: Path, number: int) -> None:
    """A run of the compiled tree with a goal that it has no case for: the agent does it."""
    place = f"box {number % 2 + 1}"
    data = {"thing": "cup", "place": "table", "where": {"cup": "table 1"}}
    world = Pantry(Task(f"look-{number}", "look", f"look into {place}", data))

    def decide(question: Question) -> str:
        done = re.findall(r"^Act: (.+)$", question.prompt.rpartition("Your task is to: ")[2], re.MULTILINE)
        return "Act: " + [f"go to {place}", f"open {place}", "done"][len(done)]

    played(home / "trees" / "tidy_up.yaml", world, ScriptedModel(decide), home / "runs")


def test_what_the_agent_did_is_proposed_and_written_only_when_accepted(home: Path) -> None:
    """Three uses of the agent for one kind of goal make a case. The file stays until the proposal is accepted."""
    tree = home / "trees" / "tidy_up.yaml"
    before = tree.read_bytes()
    for number in range(3):
        _unknown(home, number)
    made = proposal(tree, home / "runs", 3)
    assert made is not None
    assert (made.runs, made.asked) == (3, 3)
    assert any('look_into: "look into <place>"' in line for line in made.difference)
    assert not any(line.startswith("-  ") and "find" in line for line in made.difference)
    assert tree.read_bytes() == before
    assert made.accept().state == "merged"
    world = Pantry(Task("look", "look", "look into box 1", {"thing": "cup", "place": "table", "where": {"cup": ""}}))
    played(tree, world, Nobody())
    assert "box 1" not in world.closed


def test_known_runs_teach_nothing(home: Path, journals: list[Path], tidy_up: Compiled) -> None:
    """A run that the tree does alone is no evidence: compiled again, the tree has the same bytes."""
    for seed in range(20, 23):
        played(home / "trees" / "tidy_up.yaml", Pantry(task(seed)), Nobody(), home / "runs")
    again = compiled(sorted((home / "runs").glob("*.btr")), "tidy_up")
    assert (again.text, again.alone) == (tidy_up.text, 3)
    made = proposal(home / "trees" / "tidy_up.yaml", home / "runs", 3)
    assert made is not None
    assert made.difference == []


def test_it_waits_for_enough_runs(home: Path) -> None:
    """Two runs are no three."""
    for number in range(2):
        _unknown(home, number)
    assert proposal(home / "trees" / "tidy_up.yaml", home / "runs", 3) is None


def test_cases_are_not_lost_with_their_runs(home: Path) -> None:
    """Without the runs that the tree was compiled from nothing is proposed."""
    for journal in (home / "runs").glob("*.btr"):
        journal.unlink()
    for number in range(3):
        _unknown(home, number)
    with pytest.raises(BtError, match="its cases would be lost"):
        proposal(home / "trees" / "tidy_up.yaml", home / "runs", 3)


def test_a_tree_of_a_person_is_refused_before_the_run(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only a compiled tree learns."""
    tree = home / "trees" / "own.yaml"
    tree.write_text("version: 1\ntree: own\nroot:\n  succeed: {}\n")
    assert main(["run", str(tree), "--learn", "--runs", str(home / "runs")]) == 2
    assert "it is not of `btr runs compile`" in capsys.readouterr().err


@pytest.mark.parametrize(("said", "written"), [("y\n", True), ("n\n", False), ("\n", False), (None, False)])
def test_the_command_asks(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], said: str | None, written: bool
) -> None:
    """A yes writes; a no, an empty line, and a terminal that is not there do not."""
    tree = home / "trees" / "tidy_up.yaml"
    before = tree.read_bytes()
    for number in range(3):
        _unknown(home, number)
    monkeypatch.setattr(learning, "_answer", lambda question: said)
    args = Namespace(tree=str(tree), learn=3)
    learning.propose(args, Settings({"runs": str(home / "runs")}))
    err = capsys.readouterr().err
    assert "its agent was asked in 3" in err
    assert '+                look_into: "look into <place>"' in err
    assert (tree.read_bytes() != before) is written
    assert ("there is nobody to ask" in err) is (said is None)


def _open(reader: Latest, wait: float = 0.0) -> Any:
    return reader.now(wait).latest.get("asks", {"open": []})["open"]


@pytest.mark.parametrize(("said", "written"), [("yes", True), ("no", False)])
def test_the_page_asks_when_the_run_is_over(home: Path, said: str, written: bool) -> None:
    """The question holds the whole change, and the answer is a command of the page; the run is closed by then, so that
    its own journal counts."""
    tree = home / "trees" / "tidy_up.yaml"
    before = tree.read_bytes()
    for number in range(2):
        _unknown(home, number)
    data = {"thing": "cup", "place": "table", "where": {"cup": "table 1"}}
    world: Any = Pantry(Task("look-2", "look", "look into box 1", data))
    steps = iter(["go to box 1", "open box 1", "done"])
    model = ScriptedModel(lambda question: f"Act: {next(steps)}")
    args, settings = Namespace(tree=str(tree), learn=3), Settings({"runs": str(home / "runs")})
    with bt.Run(
        bt.load(str(tree)), inputs={"goal": world.task.goal}, world=world, task=world.task, model=model,
        journal=home / "runs",
    ) as run, View(run) as view:  # fmt: skip
        assert run.spin() is bt.Status.SUCCESS
        view.finish()
        reader = Latest(view.feed)
        asking = threading.Thread(target=learning.on_page, args=(run, args, settings, view), daemon=True)
        asking.start()
        text = next(told for _ in range(60) if (told := "".join(each["text"] for each in _open(reader, 1.0))))
        assert text.endswith("(yes or no)")
        assert '+                look_into: "look into <place>"' in text
        assert tree.read_bytes() == before
        view.command("answer", {"id": 0, "text": said})
        asking.join(60)
        assert not _open(reader)
        with pytest.raises(BtError):
            view.command("answer", {"id": 0, "text": "yes"})
    assert args.learn is None
    assert (tree.read_bytes() != before) is written

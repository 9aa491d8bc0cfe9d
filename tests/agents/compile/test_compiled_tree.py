"""A tree of recorded runs is valid, says only what the runs show, and does known work without a model."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import bt_runtime as bt
from bt_runtime import BtError
from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.compile import report
from bt_runtime.agents.compile.compiling import Compiled, compiled
from bt_runtime.agents.compile.emit import MOST_NODES
from bt_runtime.agents.compile.form import form
from bt_runtime.agents.compile.fuzzing import fuzzed
from bt_runtime.agents.compile.trace import of_recording
from bt_runtime.journal import Recording, replay
from bt_runtime.language.tidy import tidy
from bt_runtime.types import Question, Task
from tests.agents.compile.pantry import Nobody, Pantry, decide, played, recorded, task


def test_it_is_valid_small_and_laid_out_as_fmt_does(tree: Path, tidy_up: Compiled) -> None:
    """The loader takes it, `btr fmt` leaves it, and it has at most 80 nodes."""
    spec = bt.load(str(tree)).spec
    assert tidy(tidy_up.text) == tidy_up.text
    assert sum(not node.kind.transparent for node in spec.root.walk()) == tidy_up.nodes <= MOST_NODES


def test_the_same_runs_give_the_same_bytes(journals: list[Path], tidy_up: Compiled) -> None:
    """In whatever order they are named."""
    assert compiled(reversed(journals), "tidy_up").text == tidy_up.text


@pytest.mark.parametrize("seed", range(100, 112))
def test_known_work_is_done_without_a_model(tree: Path, seed: int) -> None:
    """On tasks that no run had, with a model that nobody may ask."""
    world = Pantry(task(seed))
    assert played(tree, world, Nobody()) is bt.Status.SUCCESS
    assert world.verdict().reached


def test_unknown_work_is_the_agents(tree: Path) -> None:
    """A goal of another form goes to the agent, whole, and to nobody else."""
    world = Pantry(Task("x", "", "whistle a tune", task(1).data))
    goals: list[str] = []

    def whistle(question: Question) -> str:
        goals.append(question.prompt.rpartition("Your task is to: ")[2].partition("\n")[0])
        return "Act: done"

    assert played(tree, world, ScriptedModel(whistle)) is bt.Status.SUCCESS
    assert set(goals) == {"whistle a tune"}


def test_parts_of_an_agents_plan_come_back_to_the_tree(tree: Path) -> None:
    """The agent is asked for a plan, and for nothing else: the parts are known."""
    todo = task(3)
    world = Pantry(todo._replace(goal="please " + todo.goal))
    plan = f"Expand: sequence:\n- find and pick up the {todo.data['thing']}\n- go to the {todo.data['place']}"
    plan += f" and put down the {todo.data['thing']} on it\n"
    model = ScriptedModel([plan])
    assert played(tree, world, model) is bt.Status.SUCCESS
    assert world.verdict().reached
    assert not model.lines


def test_what_cannot_be_found_is_given_to_the_agent(tree: Path) -> None:
    """A search in vain is no success: where no run had one, the agent is asked."""
    todo = task(5)
    where = {**todo.data["where"], str(todo.data["thing"]): "nowhere"}  # type: ignore[dict-item]
    world = Pantry(todo._replace(data={**todo.data, "where": where}))
    model = ScriptedModel(lambda question: "Act: failure")
    assert played(tree, world, model) is bt.Status.FAILURE
    assert model.asked


def test_its_evidence_is_what_the_journals_hold(journals: list[Path], tidy_up: Compiled) -> None:
    """Every count in a comment, counted once more from the journals, in another way."""
    lives = [life for path in journals for life in of_recording(Recording(path)).every()]
    for case in tidy_up.cases:
        shapes = [re.sub(r"<\w+>", r"\\w+", form) for form in case.forms]
        mine = [life for life in lives if any(re.fullmatch(shape, life.goal) for shape in shapes)]
        assert f"sequence:  # {len(mine)} times in {len(journals)} runs" in tidy_up.text
    picks = sum(act.sentence.startswith("pick up") for life in lives for act in life.acts if hasattr(act, "sentence"))
    assert f'pick_up: "{{it.thing}} {{the_thing.number}}"  # {picks} times' in tidy_up.text
    tried = sum(act.sentence.startswith("go to box") for life in lives for act in life.acts if hasattr(act, "sentence"))
    assert re.search(rf"untried:.*# .*box \d+ of {tried}\b", tidy_up.text)


def test_failed_runs_teach_nothing(tmp_path: Path) -> None:
    """A run that did not reach its goal changes no byte of the tree but the account of failures."""
    good = recorded(tmp_path / "good", range(6))
    bad = recorded(tmp_path / "bad", range(20, 22), lambda world: lambda question: "Act: done")
    both = compiled([*good, *bad], "tidy_up")
    assert both.failed == 2
    assert both.text == compiled(good, "tidy_up").text


def test_a_tree_of_nothing_but_its_agent_is_not_made(tmp_path: Path) -> None:
    """Runs without anything in common are refused in words: such a tree would only work by its agent."""
    paths = recorded(tmp_path, range(2))
    with pytest.raises(BtError, match="nothing in common"):
        compiled(paths, "tidy_up")


def test_a_case_that_would_succeed_without_the_work_is_left_out(tmp_path: Path) -> None:
    """Acts that the goal does not explain at the end of what succeeded: the agent keeps such goals."""

    def wanders(world: Pantry) -> object:
        script = decide(world)

        def decided(question: Question) -> str:
            line = script(question)
            story = question.prompt.rpartition("Your task is to: ")[2]
            shelf = f"Act: go to shelf {int(world.task.id[-1]) % 2 + 1}"
            return shelf if line == "Act: done" and "put down" in story and shelf not in story else line

        return decided

    found = compiled(recorded(tmp_path, range(8), wanders), "tidy_up")
    assert not any("put down" in form for case in found.cases for form in case.forms)


def test_what_is_done_whatever_the_goal_stays_as_it_is(tmp_path: Path) -> None:
    """A place that no goal names and that all runs go to in the same order is no search: it is a value of the tree."""

    def tidies(world: Pantry) -> object:
        script = decide(world)

        def decided(question: Question) -> str:
            line = script(question)
            story = question.prompt.rpartition("Your task is to: ")[2]
            away = line == "Act: done" and "put down" in story and "Act: go to shelf 2" not in story
            return "Act: go to shelf 2" if away else line

        return decided

    found = compiled(recorded(tmp_path, range(8), tidies), "tidy_up")
    assert re.search(r'- go_to: "?shelf 2"?  # 8 times', found.text)


def test_a_run_of_it_is_replayed_without_world_or_model(tree: Path, tmp_path: Path) -> None:
    """What it asks the world is on the record as everything else is."""
    played(tree, Pantry(task(7)), Nobody(), tmp_path / "runs")
    journal = next((tmp_path / "runs").glob("*.btr"))
    assert not replay(journal).difference


def test_it_ends_in_worlds_that_answer_at_random(tidy_up: Compiled) -> None:
    """No node breaks, and nothing runs for ever."""
    assert "it ended in each" in fuzzed(tidy_up, 10)


def test_the_report_says_what_it_would_do_and_what_it_never_saw(tidy_up: Compiled) -> None:
    """All recorded steps are the tree's here, and each goal has its case."""
    told = report.account(tidy_up)
    assert told["rehearsal"]["share"] == 1.0
    assert told["goals"] == {"all": 36, "known": 36}
    assert told["never compiled"] == []
    assert any("replayed" in line for line in report.lines(told))


@pytest.mark.parametrize(
    ("text", "thing"),
    [("2 wine glasses", "wine glass"), ("2 plates", "plate"), ("2 boxes", "box"), ("2 juices", "juice")],
)
def test_a_plural_is_read_as_its_thing(text: str, thing: str) -> None:
    """`<thing>s` stands for either ending."""
    assert form("2 <thing>s").read(text) == {"thing": thing}
    assert form("2 <thing>s").read("2 sheep") is None

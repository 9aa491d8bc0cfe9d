"""`btr plan`: the page's example, its faults and its exits."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from bt_runtime.agents.backchain.offered import costed
from bt_runtime.agents.backchain.operator import Operator
from bt_runtime.agents.backchain.record import Record

PAGE = (Path(__file__).parents[2] / "docs" / "plan.md").read_text("utf-8")


def block(head: str, after: str = "") -> str:
    return re.findall(rf"```{re.escape(head)}\n(.*?)```", PAGE.partition(after)[2] if after else PAGE, re.DOTALL)[0]


@pytest.fixture
def kitchen(here: Path) -> Path:
    (here / "btr.yaml").write_text("version: 1\n")
    for name, head in (("tea.yaml", "yaml skills/tea.yaml"), ("tea.py", "python skills/tea.py")):
        (here / "skills").mkdir(exist_ok=True)
        (here / "skills" / name).write_text(block(head))
    (here / "trees").mkdir()
    return here


GOAL = "the water in kettle boils"


def test_the_page_shows_the_tree_and_the_reasons_that_the_command_gives(kitchen, btr) -> None:
    done = btr("plan", GOAL, "--skills", "tea", "--given", "hand free", "--out", "trees/tea_time.yaml")
    assert done.code == 0, done.err
    assert done.err == block("text")
    assert Path("trees/tea_time.yaml").read_text() == block("yaml trees/tea_time.yaml")
    assert btr("fmt", "--check", "trees/tea_time.yaml").code == 0
    assert btr("validate", "trees/tea_time.yaml", "--strict").code == 0


def test_the_planned_tree_runs_without_a_world(kitchen, btr) -> None:
    btr("plan", GOAL, "--skills", "tea", "--given", "hand free", "--out", "trees/tea_time.yaml")
    done = btr("run", "tea_time")
    assert done.code == 0, done.err


def lines(head: str) -> list[list[str]]:
    return [shlex.split(line)[1:] for line in block(f"sh {head}").splitlines()]


def test_each_further_step_of_the_page_does_what_it_says(kitchen, btr) -> None:
    """The tree for tea, a plan made while the tree runs, and a plan from what the house tells, each run."""
    btr("plan", GOAL, "--skills", "tea", "--given", "hand free", "--out", "trees/tea_time.yaml")
    Path("trees/store.yaml").write_text(block("yaml trees/store.yaml"))
    plan, run = lines("house")
    for words in (*lines("run"), *lines("store"), plan, run):
        done = btr(*words)
        assert done.code == 0, (words, done.err)
        if words is plan:
            assert done.err == block("text house")


def test_json_has_steps_reasons_and_the_tree(kitchen, btr) -> None:
    done = btr("plan", GOAL, "--skills", "tea", "--given", "hand free", "--json")
    told = json.loads(done.out)
    assert [step["skill"] for step in told["steps"]] == ["fill", "put_on", "boil"]
    assert told["seconds"] == 205 and len(told["reasons"]) == 3 and "put_on: kettle" in told["tree"]


TWO_WAYS = """
version: 1
skills: door
impl: door.py:act
kinds:
  push:
    sentence: push {door}
    params: {door: string}
    brings: ["{door} is open"]
    takes: 1
  pull:
    sentence: pull {door}
    params: {door: string}
    brings: ["{door} is open"]
    takes: 2
"""


def test_recorded_runs_tell_how_long_skills_took_and_how_often_they_succeeded(kitchen, btr) -> None:
    """Of four recorded pushes none succeeded; the one pull did."""
    Path("skills/door.yaml").write_text(TWO_WAYS)
    Path("skills/door.py").write_text("def act(door: str) -> bool:\n    return door == 'b'\n")
    Path("trees/push.yaml").write_text("version: 1\ntree: push\nskills: [door]\nroot: {push: a}\n")
    Path("trees/pull.yaml").write_text("version: 1\ntree: pull\nskills: [door]\nroot: {pull: b}\n")
    words = ("plan", "c is open", "--skills", "door")
    for name in ("pull", *["push"] * 4):
        btr("run", name)
    told = json.loads(btr(*words, "--recorded", "--json").out)
    push, pull = told["recorded"]["push"], told["recorded"]["pull"]
    assert [(push["ended"], push["succeeded"]), (pull["ended"], pull["succeeded"])] == [(4, 0), (1, 1)]
    assert re.search(r"recorded: pu(sh|ll): \d of \d succeeded, ", btr(*words, "--recorded").err)


@pytest.mark.parametrize(
    ("record", "cost"), [(Record(), 20), (Record(20, 1, 1), 20), (Record(60, 3, 0), 80), (Record(40, 4, 3), 15)]
)
def test_a_skill_costs_its_recorded_seconds_over_its_successes(record, cost) -> None:
    """What the manifest says counts as one more success."""
    assert record.cost(20) == cost
    push, pull = Operator("push", {}, cost=1), Operator("pull", {}, cost=2)
    assert [o.cost for o in costed([push, pull], {"push": Record(8, 4, 0)})] == [9, 2]


def test_a_goal_without_a_plan_exits_1_and_names_the_fact_that_is_missing(kitchen, btr) -> None:
    done = btr("plan", GOAL, "--skills", "tea")
    assert done.code == 1
    assert "no skill brings `hand free`: if it holds now, --given 'hand free'" in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [(["--skills", "tee"], "did you mean `tea`?"),
     (["--skills", "tea", "--values", "pot"], "write SLOT=A,B"),
     (["--skills", "tea", "--name", "a b"], "no name of a tree")],
)  # fmt: skip
def test_what_cannot_be_understood_is_told_with_the_way_out(kitchen, btr, words, said) -> None:
    done = btr("plan", GOAL, *words)
    assert done.code == 2 and said in done.err


def test_a_file_that_is_there_is_not_overwritten(kitchen, btr) -> None:
    Path("trees/mine.yaml").write_text("mine")
    done = btr("plan", GOAL, "--skills", "tea", "--given", "hand free", "--out", "trees/mine.yaml")
    assert done.code == 2 and Path("trees/mine.yaml").read_text() == "mine"

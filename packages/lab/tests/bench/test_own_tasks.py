"""Tasks of one's own: a tree with skills and no world, judged by an expression, by Python, or by the tree itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bt_lab.run.backend import Local
from bt_lab.run.case import Setup, Strategy, cases
from bt_lab.run.own_tasks import refuse_unknown
from bt_lab.run.source import find
from bt_runtime import BtError, load
from bt_runtime.agents import ScriptedModel
from bt_runtime.cli import main
from bt_runtime.clock import Manual
from bt_runtime.plugins import Wanted

FILES = {
    "btr.yaml": "version: 1\n",
    "skills/shelf.yaml": "version: 1\nskills: shelf\nimpl: shelf.py:put\nkinds:\n  put:\n    sentence: put {thing} up\n"
    "    instant: true\n    params: {thing: {type: string, from: things}}\n    outputs: {count: integer}\n",
    "skills/shelf.py": "up = []\n\ndef put(thing):\n    up.append(thing)\n    return {'count': len(up)}\n\n"
    "def fresh(task):\n    up.clear()\n\ndef wanted(task):\n    return up == task.data['up']\n",
    "trees/shelve.yaml": "version: 1\ntree: shelve\nskills: [shelf]\ninputs:\n  goal: {type: string}\nblackboard:\n"
    "  things: {type: list, default: [cup]}\n  tries: {type: integer, default: 0}\nroot:\n  sequence:\n"
    "    - set: {tries: '{tries + 1}'}\n    - agent: {goal: '{goal}', moves: [act]}\n",
    "tasks.yaml": """version: 1
before: skills/shelf.py:fresh
tasks:
  - {goal: put cup up, data: {up: [cup]}, check: 'skills/shelf.py:wanted'}
  - {goal: put ball up, id: ball, kind: other, set: {things: [ball], tries: 4}, check: tries == 5 and 'ball' in things}
  - {goal: put mug up, set: {things: [mug]}, data: {up: [cup]}, check: 'skills/shelf.py:wanted'}
  - {goal: put pan up, set: {things: [pan]}}
""",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def model_of(case: Any) -> dict[str, Any]:
    gives_up = case.task.goal == "put pan up"
    return {"default": ScriptedModel([f"Act: {case.task.goal}", "Act: failure" if gives_up else "Act: done"])}


def test_each_task_is_set_up_and_judged_by_what_it_names(project: Path) -> None:
    source = find("tasks.yaml", Wanted())
    assert [task.id for task in source.tasks] == ["1", "ball", "3", "4"]
    setup = Setup(source.suite, before=source.before, journals=str(project / "runs"))
    todo = cases([Strategy("shelve", "shelve")], source.tasks)
    came = {outcome.task: outcome for outcome in Local(model_of, 1, Manual).outcomes(setup, todo)}
    assert {name: (o.success, o.met, o.total, o.error) for name, o in came.items()} == {
        "1": (True, 1, 1, ""), "ball": (True, 1, 1, ""), "3": (False, 0, 1, ""), "4": (False, 0, 1, ""),
    }  # fmt: skip
    assert came["3"].status == "SUCCESS", "the tree says so; the task's check does not"
    assert all(outcome.steps == 1 and outcome.invalid == 0 for outcome in came.values())
    assert len(list((project / "runs").glob("*.btr"))) == 4


def test_kinds_and_how_many_choose_among_them(project: Path) -> None:
    assert [task.id for task in find("tasks.yaml", Wanted(kinds=("other",))).tasks] == ["ball"]
    assert [task.id for task in find("tasks.yaml", Wanted(episodes=2)).tasks] == ["1", "ball"]


@pytest.mark.parametrize(
    "text, said",
    [
        ("version: 1\ntasks:\n  - {gaol: x}\n", "tasks.yaml:3:"),
        ("version: 1\ntasks: []\n", "tasks.yaml:2:"),
        ("version: 1\ntasks: [{goal: x, check: 'a =='}]\n", "the check of task 1"),
        ("version: 1\ntasks: [{goal: x, id: a}, {goal: y, id: a}]\n", "two tasks `a`"),
        ("version: 1\nbefore: fresh\ntasks: [{goal: x}]\n", "`before` is 'fresh'"),
        ("version: 1\ntasks: [\n", "tasks.yaml"),
        ("- 1\n", "tasks.yaml"),
    ],
)
def test_what_is_wrong_in_the_file_is_told_in_words(project: Path, text: str, said: str) -> None:
    (project / "tasks.yaml").write_text(text)
    with pytest.raises(BtError) as caught:
        find("tasks.yaml", Wanted())
    assert said in str(caught.value)


def test_what_is_for_worlds_is_refused(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "eval", "tasks.yaml", "--strategy", "shelve", "--split", "train"]) != 0
    assert "not divided" in capsys.readouterr().err
    assert main(["lab", "eval", "tasks.yaml", "--strategy", "shelve", "--memory", "build"]) != 0
    assert "tasks of your own run here" in capsys.readouterr().err


def test_a_check_of_an_entry_that_no_tree_names_is_refused_before_the_first_episode(project: Path) -> None:
    path = project / "tasks.yaml"
    path.write_text("version: 1\ntasks:\n  - {goal: put cup up, check: tires == 1}\n")
    with pytest.raises(BtError, match="nothing in its tree names the entry `tires`") as told:
        refuse_unknown(find("tasks.yaml", Wanted()).tasks, [load("shelve").spec])
    assert told.value.hint == "did you mean `tries`?"
    assert main(["lab", "eval", "tasks.yaml", "--strategy", "shelve", "--model", "none.gguf"]) == 2

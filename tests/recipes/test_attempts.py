"""What ADaPT's executors did before they failed, counted while a task is played."""

from __future__ import annotations

import json

from bt_envs.alfworld.world import AlfWorld
from bt_runtime import load
from bt_runtime.agents import ScriptedModel
from recipes.starter.alfworld.homes import lesson_task
from recipes.starter.alfworld.rules import Rules
from recipes.starter.alfworld.teacher import teacher
from recipes.starter.attempts import attempted, report
from recipes.starter.lesson import sentences
from recipes.starter.seen import read
from recipes.starter.steps import ORDER


def went(gives_up: bool):
    """A task of two things by the teacher, whose first executor gives up at once or begins."""
    asked: list[str] = []

    def said(question) -> str:
        asked.append(question.prompt)
        if gives_up and len(asked) == 1:
            return "Act: failure"
        answer = teacher(read(question.prompt), sentences(question))
        return answer.removeprefix("# Think:") if ORDER in question.prompt else answer

    task = next(task for task in (lesson_task(9, n) for n in range(40)) if task.kind == "pick_two_obj_and_place")
    return attempted(load("adapt"), AlfWorld(Rules()), task, ScriptedModel(said), {})


def test_an_executor_that_failed_without_an_act_is_told_from_one_that_began() -> None:
    """Both reach the goal by a plan; only the one that gave up at once counts as idle."""
    began, idle = went(False), went(True)
    assert began.reached and idle.reached
    assert (began.failed, began.idle) == (1, 0) and (idle.failed, idle.idle) == (1, 1)


def test_a_report_tells_shares_and_pairs(tmp_path, capsys) -> None:
    row = {"goal": "g", "kind": "k", "ended": "SUCCESS", "decisions": 4, "failed": 2, "idle": 1}
    for name, reached in (("a", [True, False]), ("b", [True, True])):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps({**row, "reached": r}) + "\n" for r in reached))
    report([tmp_path / "a.jsonl", tmp_path / "b.jsonl"])
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("a: 50% of 2") and "4 executors failed, 2 without an act" in first
    assert second.startswith("b: 100% of 2") and "1 more, 0 fewer" in second and second.endswith("k 2/2")

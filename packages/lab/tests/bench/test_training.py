"""ReAcTree's protocol: a memory of what succeeded in training, that tests read and never change."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from bt_lab.run import evaluation
from bt_lab.run import results_file as ledger
from bt_lab.run.backend import Local
from bt_lab.run.case import Case, Setup, Strategy, cases
from bt_lab.run.evaluation import Again
from bt_lab.run.provenance import file_digest
from bt_lab.run.results_file import RESULTS, TRAINED
from bt_lab.run.training import train
from bt_runtime.agents import ScriptedModel
from bt_runtime.clock import Manual
from bt_runtime.memory import Episodes
from bt_runtime.plugins import open_suite
from bt_runtime.types import Question
from packages.lab.tests.bench.conftest import knowing, named, tasks_of

pytest.importorskip("numpy")


def words(text: str) -> int:
    return len(text.split())


def quiet(outcome: Any, left: int) -> None:
    """Nobody looks on."""


def lessons(suite: str, count: int = 3, kinds: Any = None) -> Any:
    return open_suite(suite).tasks(0, count, "train", kinds)


def remembered(strategy: Strategy) -> list[Any]:
    with Episodes.open(strategy.memory, readonly=True) as episodes:
        return list(episodes.store.each())


def learnt(
    folder: Path, suite: str, *names: str, jobs: int = 2, tasks: Any = None, models: Any = None
) -> list[Strategy]:
    backend = Local(models or knowing(suite, 1), jobs, Manual)
    todo = tasks if tasks is not None else lessons(suite)
    return train(folder, Setup(suite), named(*names), todo, backend, Again(), quiet, words)


def test_every_strategy_remembers_the_agents_of_its_own_successes(tmp_path: Path) -> None:
    react, tree = learnt(tmp_path, "textcraft", "react", "reactree")
    flat, grown = remembered(react), remembered(tree)
    assert len(flat) == 3 and all(e.end == "success" and e.verdict is True for e in flat)
    assert {e.task for e in grown} == {t.id for t in lessons("textcraft")}
    assert "expand" in {e.end for e in grown} and len(grown) > 3
    assert not {e.uid for e in flat} & {e.uid for e in grown}


def test_what_failed_is_not_remembered(doors: str, tmp_path: Path) -> None:
    def models(case: Case) -> dict[str, Any]:
        return {"default": ScriptedModel(["Act: failure"])} if case.number == 1 else knowing(doors)(case)

    (react,) = learnt(tmp_path, doors, "react", models=models)
    failed = lessons(doors)[1]
    assert len(remembered(react)) == 2 and failed.id not in {e.task for e in remembered(react)}
    told = {o.task: o for o in ledger.read(tmp_path / TRAINED)}
    assert told[failed.id].experiences and not told[failed.id].success  # it is known all the same


def test_the_same_training_gives_the_same_memory_however_many_ran_at_once(doors: str, tmp_path: Path) -> None:
    found = []
    for jobs in (1, 3):
        folder = tmp_path / str(jobs)
        folder.mkdir()
        (react,) = learnt(folder, doors, "react", jobs=jobs)
        found.append([(e.uid, e.text) for e in remembered(react)])
    assert found[0] == found[1]


def test_training_that_was_cut_off_goes_on_and_is_not_done_again_once_a_test_has_ended(
    doors: str, tmp_path: Path
) -> None:
    class Cut(Exception):
        pass

    def cut(outcome: Any, left: int) -> None:
        if left == 1:
            raise Cut

    broken = lessons(doors, 3, ["none", "act"])
    backend, asked = Local(knowing(doors, 1), 1, Manual), []
    with pytest.raises(Cut):
        train(tmp_path, Setup(doors), named("react"), broken, backend, Again(), cut, words)
    train(
        tmp_path,
        Setup(doors),
        named("react"),
        broken,
        backend,
        Again(resume=True),
        lambda o, n: asked.append(o.task),
        words,
    )
    assert asked == [broken[2].id]
    (tmp_path / RESULTS).write_text("")
    train(
        tmp_path,
        Setup(doors),
        named("react"),
        broken,
        backend,
        Again(retry=True),
        lambda o, n: asked.append(o.task),
        words,
    )
    assert len(asked) == 1  # the error among them stays one: the memory is that of the tests


@pytest.mark.parametrize("level", ["", "task"])
def test_tests_are_shown_what_was_learnt_at_the_level_that_was_asked_for_and_change_nothing(
    tmp_path: Path, level: str
) -> None:
    strategies = learnt(tmp_path, "textcraft", "reactree")
    before = file_digest(Path(strategies[0].memory))
    prompts: list[str] = []

    def models(case: Case) -> dict[str, Any]:
        inner = knowing("textcraft")(case)["default"]

        def script(ask: Question) -> str:
            prompts.append(ask.prompt)
            return str(inner.script(ask))

        return {"default": ScriptedModel(script)}

    tests = cases(strategies, tasks_of("textcraft", 2))
    found = evaluation.run(tmp_path, Setup("textcraft", level=level), tests, Local(models, 2), Again(), quiet)
    assert all(outcome.success and not outcome.experiences for outcome in found)
    shown = prompts[0].partition("Now the task at hand.")[0]
    goals = re.findall(r"^Your task is to: (.*)$", shown, re.MULTILINE)
    assert "craft " in goals[0]  # the nearest is a whole task's
    assert ("do part" in goals[1]) is (level == "task")  # … and its own agents come with it, or other whole tasks next
    assert file_digest(Path(strategies[0].memory)) == before


def test_an_empty_memory_shows_nothing_while_it_is_being_made(doors: str, tmp_path: Path) -> None:
    prompts: list[str] = []

    def models(case: Case) -> dict[str, Any]:
        inner = knowing(doors)(case)["default"]

        def script(ask: Question) -> str:
            prompts.append(ask.prompt)
            return str(inner.script(ask))

        return {"default": ScriptedModel(script)}

    learnt(tmp_path, doors, "react", models=models, jobs=1)
    assert prompts and not any("Earlier tasks" in prompt for prompt in prompts)

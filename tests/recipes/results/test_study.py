"""Evaluations of claims with oracles for models: what is run, what is not run again, and what is left out."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from bt_lab.optimise.setup import OptimiseSetup as Optimised
from bt_lab.optimise.setup import draw
from bt_lab.run.backend import Local
from bt_lab.run.case import Strategy
from bt_lab.run.outcome import Outcome
from bt_lab.run.source import find
from bt_runtime.agents import ScriptedModel
from bt_runtime.clock import Manual
from bt_runtime.plugins import open_suite
from packages.lab.tests.bench.conftest import knowing
from packages.lab.tests.bench.optimise.learner import Learner
from recipes.results.claims import Claim, Claims, Evaluation, Figure, Lessons, Plan, Recording, read_claims
from recipes.results.study import NO_DATA, Study

REACT = Strategy("react", "react")
DOORS = Evaluation("doors", (REACT,), 50)


class Seen:
    """Who is told of every episode that was run."""

    def __init__(self) -> None:
        self.told_of: list[tuple[str, str]] = []
        self.name = ""

    def open(self, name: str) -> AbstractContextManager[Seen]:
        self.name = name
        return nullcontext(self)

    def told(self, outcome: Outcome, left: int) -> None:
        self.told_of.append((self.name, outcome.task))


def study(tmp_path: Path, seen: Seen, *, suite: str = "doors", **evaluations: Any) -> Study:
    lessons = {"some": Lessons(suite, REACT, 3, 50)}
    claim = Claim("it", "It works.", "yes", "", tuple(Figure(n, (n, "react"), "goal") for n in evaluations))
    backend = Local(knowing(suite), 2, Manual)
    return Study(Claims(lessons, evaluations, {"it": claim}), tmp_path, {}, backend, len, seen.open, episodes=4)


def test_what_has_ended_is_not_run_again_and_what_is_missing_is(doors: str, tmp_path: Path) -> None:
    seen = Seen()
    first = study(tmp_path, seen, plain=DOORS).measure("plain")
    assert [o.success for o in first.outcomes] == [True] * 4
    assert len(seen.told_of) == 4
    results = first.folder / "results.jsonl"
    results.write_text("".join(results.read_text("utf-8").splitlines(True)[:3]), encoding="utf-8")  # cut off
    again = study(tmp_path, seen, plain=DOORS).measure("plain")
    assert len(seen.told_of) == 5
    assert (again.outcomes, again.digest) == (first.outcomes, first.digest)


def test_another_budget_is_another_evaluation_in_a_folder_of_its_own(doors: str, tmp_path: Path) -> None:
    one = study(tmp_path, Seen(), plain=DOORS).measure("plain")
    two = study(tmp_path, Seen(), plain=DOORS._replace(budget=1)).measure("plain")
    assert one.folder != two.folder
    assert sum(o.success for o in two.outcomes) < sum(o.success for o in one.outcomes)


def test_where_journals_are_asked_for_every_episode_keeps_one_and_the_evaluation_is_the_same(
    doors: str, tmp_path: Path
) -> None:
    kept = study(tmp_path, Seen(), plain=DOORS)._replace(journals=True).measure("plain")
    assert len(list((kept.folder / "runs").glob("*.btr"))) == 4
    assert study(tmp_path, Seen(), plain=DOORS).measure("plain").digest == kept.digest


def test_a_share_of_the_tasks_is_the_first_of_them(doors: str, tmp_path: Path) -> None:
    both = study(tmp_path, Seen(), plain=DOORS, part=DOORS._replace(share=0.5))
    whole, part = both.measure("plain"), both.measure("part")
    assert [o.task for o in part.outcomes] == [o.task for o in whole.outcomes][:2]


def test_without_its_data_an_evaluation_is_left_out_and_says_so(
    doors: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BTR_DATA", raising=False)
    some = study(tmp_path, Seen(), plain=DOORS, outside=DOORS._replace(data="wah"))
    assert (some.able("plain"), some.able("outside")) == ("", NO_DATA)
    (tmp_path / "wah").mkdir()
    monkeypatch.setenv("BTR_DATA", str(tmp_path))
    assert some.able("outside") == ""


def test_a_strategy_is_guided_by_the_best_plan_that_was_written_on_train_tasks(tmp_path: Path) -> None:
    """It is written once, kept in a folder of its own, and stands in every prompt of the evaluation."""
    plan = Plan("textcraft", 2, 1, 2, 12)
    setup = Optimised("textcraft", batch=2, validation=2, steps=12)
    aside, batches = draw(setup, 1)
    tests = open_suite("textcraft").tasks(0, 2, "eval")
    learner = Learner([*aside, *batches[0], *tests])
    models = {"default": ScriptedModel(learner)}
    guided = Evaluation("textcraft", (REACT,), 50, plan="some")
    claims = Claims({}, {"guided": guided}, {}, {"some": plan})
    made = Study(claims, tmp_path, models, Local(models, 2, Manual), len, Seen().open, episodes=2)
    assert [o.success for o in made.measure("guided").outcomes] == [True, True]
    asked, folders = len(learner.asked), {path.name for path in tmp_path.iterdir()}
    assert made.measure("guided").tasks == 2 and len(learner.asked) == asked
    assert {name.rpartition("-")[0] for name in folders} == {"plan-some", "guided"}


def test_baselines_are_made_of_runs_that_are_recorded_once(tmp_path: Path) -> None:
    """The nearest run and a decision tree choose among what is offered; no model is asked for them."""
    seen = Seen()
    runs = {"runs": Recording("house", REACT, 4, 100, seed=3)}
    made = {how: Evaluation("house", (REACT,), 100, recording="runs", learnt=how) for how in ("nearest", "decisions")}
    claims = Claims({}, made, {}, {}, runs)
    some = Study(claims, tmp_path, {}, Local(knowing("house"), 2, Manual), len, seen.open, episodes=4)
    for how in made:
        outcomes = some.measure(how).outcomes
        assert not any(o.error for o in outcomes)
        assert all(o.decisions for o in outcomes)
        assert not any(o.written for o in outcomes)
    assert [name for name, _ in seen.told_of].count("runs") == 4
    assert some.measure("nearest").digest != some.measure("decisions").digest


def test_an_evaluation_whose_extra_is_missing_is_left_out_and_says_which(
    doors: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = study(tmp_path, Seen(), plain=DOORS._replace(extra="alfworld"))
    monkeypatch.setattr("recipes.results.study.find_spec", lambda name: None)
    assert some.able("plain") == "the extra `alfworld` is not installed: pip install 'bt_runtime[alfworld]'"


@pytest.mark.memory
def test_lessons_are_learnt_once_for_all_who_show_them(tmp_path: Path) -> None:
    seen = Seen()
    taught = Evaluation("textcraft", (REACT,), 80, lessons="some", level="agent", example_tokens=300)
    both = study(tmp_path, seen, suite="textcraft", agents=taught, tasks=taught._replace(level="task"))
    agents, tasks = both.measure("agents"), both.measure("tasks")
    assert [name for name, _ in seen.told_of] == ["some lessons"] * 3 + ["agents"] * 4 + ["tasks"] * 4
    trained = {task for name, task in seen.told_of if name == "some lessons"}
    assert not trained & {o.task for o in agents.outcomes}
    setups = [json.loads((each.folder / "setup.json").read_text("utf-8"))["depends"] for each in (agents, tasks)]
    assert [each["level"] for each in setups] == ["agent", "task"]
    assert setups[0]["lessons"] == setups[1]["lessons"] != ""
    folder = next(tmp_path.glob("some-*"))
    assert (folder / "memory" / "react.db").is_file()


@pytest.mark.data
def test_of_the_game_s_own_recipe_files_the_goals_set_aside_are_measured(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BTR_DATA is enough to have them, and none of the paper's own goals is among them."""
    monkeypatch.setenv("BTR_DATA", str(data))
    wanted = read_claims().evaluations["craft_set_aside"]
    some = study(tmp_path, Seen(), plain=wanted)
    assert some.able("plain") == ""
    tasks = find(wanted.suite, some._replace(episodes=100)._wanted(wanted)).tasks
    aside = {each["goal"] for each in json.loads((data / "textcraft" / "dev_goals.json").read_text("utf-8"))}
    assert len({task.data["goal"] for task in tasks}) == 100 and {task.data["goal"] for task in tasks} <= aside

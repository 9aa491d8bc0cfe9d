"""The arm's row of the claims: which goals were recorded, and that the table judges what the oracle does."""

from __future__ import annotations

from pathlib import Path

import pytest

from bt_lab.run.backend import Local
from bt_runtime.language.project import trust
from recipes.results import arm
from recipes.results.claims import read_claims
from recipes.results.study import Study
from tests.recipes.results.test_study import Seen


def test_goals_of_each_kind_are_in_no_recorded_run(tmp_path: Path) -> None:
    """Nothing but what was recorded can be compiled: the others are of the same kinds, and tried too."""
    every, recorded = arm.source(tmp_path, "eval", 99).tasks, arm.source(tmp_path, "train", 99).tasks
    unseen = [task for task in every if task.goal not in {each.goal for each in recorded}]
    assert len(every) == 13 and len(unseen) == 4
    assert {task.kind for task in unseen} <= {task.kind for task in recorded}
    assert len({task.id for task in recorded}) == len(recorded)


def test_the_arm_is_measured_in_a_project_of_its_own_on_a_simulated_clock(tmp_path: Path) -> None:
    """The oracle needs no model, and the table judges it."""
    pytest.importorskip("mujoco")
    study = Study(read_claims(), tmp_path, {}, Local({}, 1), len, Seen().open, episodes=1)
    (outcome,) = study.measure("arm_known").outcomes
    assert (outcome.success, outcome.met, outcome.error) == (True, 1, "")
    assert (tmp_path / "arm" / "skills" / "arm.py").is_file()


def test_an_agent_s_row_is_decided_by_the_model_that_is_measured(tmp_path: Path) -> None:
    """The oracle takes no model's place there."""
    study = Study(read_claims(), tmp_path, {"default": "a model"}, Local({}, 1), len, Seen().open)
    for name, own in (("arm", True), ("arm_known", False)):
        backend = study._backend(study.claims.evaluations[name])
        assert (backend.models == {"default": "a model"}) is own


def test_a_command_runs_the_arms_python_only_where_it_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is left out with the way out; nothing is measured, and nothing is kept as a failure."""
    pytest.importorskip("mujoco")
    study = Study(read_claims(), tmp_path, {}, Local({}, 1), len, Seen().open, episodes=1)
    monkeypatch.setattr(trust, "guard", lambda what, folder, sends=False: None)
    monkeypatch.setenv("BTR_TRUST", "")
    assert f"btr trust {tmp_path / 'arm'}" in study.able("arm_known")
    monkeypatch.setenv("BTR_TRUST", str(tmp_path / "arm"))
    assert study.able("arm_known") == ""

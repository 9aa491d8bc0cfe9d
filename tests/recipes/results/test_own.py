"""Projects with skills of their own: every goal can be reached, and nothing was changed after the first measurement."""

from __future__ import annotations

from pathlib import Path

import pytest

from bt_lab.run.backend import Local
from bt_lab.run.outcome import Outcome
from bt_runtime.language.project import trust
from recipes.results import own
from recipes.results.claims import Figure, read_claims
from recipes.results.finding import find
from recipes.results.study import Study
from tests.recipes.results.test_study import Seen

PROJECTS = sorted(own.digests())


def _study(tmp_path: Path) -> Study:
    """A study in which only the oracle is run."""
    claims = read_claims()
    only = {
        name: found._replace(strategies=tuple(s for s in found.strategies if s.oracle))
        for name, found in claims.evaluations.items()
        if own.is_own(found.suite)
    }
    return Study(claims._replace(evaluations=only), tmp_path, {}, Local({}, 1), len, Seen().open, episodes=10)


@pytest.mark.parametrize("name", PROJECTS)
def test_every_goal_is_reached_by_the_acts_of_the_oracle(name: str, tmp_path: Path) -> None:
    """Also shows that the project judges each episode by itself: its facts are put back before each."""
    outcomes = _study(tmp_path).measure(f"own_{name}").outcomes
    assert [(o.task, o.success, o.error) for o in outcomes] == [(o.task, True, "") for o in outcomes]
    assert len(outcomes) == 10


@pytest.mark.parametrize("name", PROJECTS)
def test_no_goal_is_reached_by_doing_nothing(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own, "_oracle", lambda acts, real=own._oracle: real([]))
    assert not any(o.success for o in _study(tmp_path).measure(f"own_{name}").outcomes)


def test_tasks_and_skills_are_those_that_were_committed_before_the_first_measurement() -> None:
    """Who changes a project after it was measured measures something else, and gives it another name."""
    folders = sorted(each.parent.name for each in own.FOLDER.glob("*/tasks.yaml"))
    assert folders == PROJECTS
    assert {name: own.digest(own.FOLDER / name) for name in folders} == own.digests()


def test_evaluations_that_are_counted_together_make_one_rate() -> None:
    def outcome(success: bool) -> Outcome:
        return Outcome("react", "1", 0, "", "a goal", success=success)

    figure = Figure("both", ("one", "react"), "goal", also=(("two", "react"),))
    sides = {("one", "react"): [outcome(True)], ("two", "react"): [outcome(False), outcome(True), outcome(True)]}
    found = find(figure, sides, 0)
    assert (found.n, found.value) == ("4", 0.75)


def test_a_command_runs_a_projects_python_only_where_it_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = own.FOLDER / "library"
    monkeypatch.setattr(trust, "guard", lambda what, folder, sends=False: None)
    monkeypatch.setenv("BTR_TRUST", "")
    assert f"btr trust {place}" in _study(tmp_path).able("own_library")
    monkeypatch.setenv("BTR_TRUST", str(place))
    assert _study(tmp_path).able("own_library") == ""

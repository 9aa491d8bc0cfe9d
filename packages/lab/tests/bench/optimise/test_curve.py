"""Versions on held-out tasks, and the curves of several optimisations together."""

from __future__ import annotations

from pathlib import Path

import pytest

from bt_lab.optimise import plan_versions
from bt_lab.optimise.curve import Point, curves, table
from bt_lab.optimise.held_out import measure
from bt_lab.optimise.loop import optimise
from bt_lab.optimise.page import page
from bt_lab.optimise.setup import OptimiseSetup, draw
from bt_lab.run import results_file as ledger
from bt_runtime import BtError
from bt_runtime.agents import ScriptedModel
from bt_runtime.language.guide import Guide
from bt_runtime.plugins import open_suite
from packages.lab.tests.bench.optimise.learner import Learner

SETUP = OptimiseSetup("textcraft", "depth 2", batch=2, validation=2, seed=1)


def keep(folder: Path, rates: list[int], score: str = "validation", **header) -> Path:
    for n, reached in enumerate(rates):
        said = {"version": 1, "batch": 4, **header, score: {"reached": reached, "of": 4}}
        plan_versions.keep(folder, n, Guide("" if n == 0 else f"{n}. Go.", said))
    return folder


def test_a_page_shows_the_curves_the_gain_and_each_plan_beside_the_rules_of_its_house(tmp_path):
    told = {"world": "house", "kind": "clean", "tasks": "hint=yes, rules=eval 1", "batch": 2}
    folders = [keep(tmp_path / name, rates, "test", **told) for name, rates in (("a", [1, 3]), ("b", [0, 4]))]
    text = page(folders)
    assert "(world house, kind clean, batch 2)" in text
    assert "| plans | 2 | 12 ± 18 % | 88 ± 18 % | +75 points (-243 to +393) |" in text
    assert "| a | 1 of 4 | 3 of 4 | 1 |" in text
    assert "The washing machine cleans what you hold, when it is closed and turned on." in text
    assert "### b\n" in text and text.count("```\n1. Go.\n```") == 2


def test_a_page_tells_the_gain_over_runs_and_over_houses_where_several_runs_had_one_house(tmp_path):
    """Five seeds in two houses are not ten houses."""
    told = {"world": "house", "kind": "clean"}
    gains = {"rules=eval 0": ([0, 4], [0, 4], [1, 4]), "rules=eval 1": ([2, 2], [2, 2], [2, 3])}
    folders = [keep(tmp_path / f"{house}-{n}", run, "test", **told, tasks=house)
               for house, runs in gains.items() for n, run in enumerate(runs)]  # fmt: skip
    (curve,) = curves(folders)[1]
    assert (curve.runs, curve.tasks, curve.gain.value) == (6, 2, curve.of_tasks.value)
    assert curve.of_tasks.low < curve.gain.low and curve.of_tasks.high > curve.gain.high
    assert "points (+0 to +100 over runs, -479 to +579 over 2 houses) |" in page(folders)


def test_every_version_is_tried_on_tasks_of_the_other_split_and_its_header_says_how_it_went(tmp_path):
    aside, batches = draw(SETUP, 2)
    tests = open_suite("textcraft").tasks(0, 3, "eval", ["depth 2"])
    learner = Learner([*aside, *batches[0], *batches[1], *tests])
    folder, told = tmp_path / "p", []
    model = ScriptedModel(learner)
    optimise(SETUP, folder, 2, model=model)
    kept = measure(SETUP, folder, 3, {"default": model}, 2, lambda outcome, left: told.append(left))
    assert [(v.rate("validation"), v.rate("test")) for v in kept] == [(0.0, 0.0), (1.0, 1.0)]
    assert len(told) == 6 and {o.task for o in ledger.outcomes(folder / "test")} == {t.id for t in tests}
    asked = len(learner.asked)
    assert measure(SETUP, folder, 3, {"default": model}, 2, lambda outcome, left: told.append(left)) == kept
    assert (len(learner.asked), len(told)) == (asked, 6)  # nothing is measured twice


def test_runs_that_differ_only_in_their_seed_make_one_curve_with_mean_and_deviation(tmp_path):
    one = keep(tmp_path / "a", [0, 2, 4], seed=0, tasks="rules=eval 0")
    other = keep(tmp_path / "b", [0, 4, 4], seed=1, tasks="rules=eval 1")
    small = keep(tmp_path / "c", [0, 1, 1], batch=2)
    score, found = curves([one, other, small])
    assert score == "validation"
    assert [(c.name, c.runs) for c in found] == [("batch 4", 2), ("batch 2", 1)]
    assert found[0].points[1] == Point(0.75, pytest.approx(0.35355, abs=1e-4))
    assert found[1].points == (Point(0.0, 0.0), Point(0.25, 0.0), Point(0.25, 0.0))


def test_the_plan_of_an_iteration_is_the_best_so_far_by_validation(tmp_path):
    """One that got worse is kept and told, but not what one would take; of equals the earliest."""
    folder = tmp_path / "a"
    for n, (validation, test) in enumerate([(1, 2), (0, 4), (3, 3), (3, 1)]):
        scores = {"validation": {"reached": validation, "of": 4}, "test": {"reached": test, "of": 4}}
        plan_versions.keep(folder, n, Guide("" if n == 0 else f"{n}. Go.", {"version": 1, **scores}))
    (curve,) = curves([folder])[1]
    assert [point.mean for point in curve.points] == [0.5, 0.5, 0.75, 0.75] and curve.gain.value == 0.25
    assert "| a | 2 of 4 (1 of 4) | 4 of 4 (0 of 4) | 3 of 4 (3 of 4) | 1 of 4 (3 of 4) | 2 |" in page([folder])
    assert "```\n2. Go.\n```" in page([folder])


def test_a_run_that_stopped_early_goes_on_with_its_last_plan(tmp_path):
    short, long = keep(tmp_path / "a", [0, 4]), keep(tmp_path / "b", [0, 2, 2, 2])
    (curve,) = curves([short, long])[1]
    assert [point.mean for point in curve.points] == [0.0, 0.75, 0.75, 0.75]


def test_the_test_is_shown_where_every_version_has_one(tmp_path):
    tested = keep(tmp_path / "a", [1, 3], score="test")
    assert curves([tested])[0] == "test"
    assert curves([tested, keep(tmp_path / "b", [1, 3])])[0] == "validation"


def test_the_table_has_a_line_a_curve_and_a_column_an_iteration(tmp_path):
    runs = [keep(tmp_path / "a", [0, 2]), keep(tmp_path / "b", [0, 1], batch=2)]
    assert table(*curves(runs)).splitlines() == [
        "validation  runs           0           1",
        "batch 4        1     0 ± 0 %    50 ± 0 %",
        "batch 2        1     0 ± 0 %    25 ± 0 %",
    ]


def test_a_folder_without_versions_is_said_to_have_none(tmp_path):
    with pytest.raises(BtError, match="holds no versions"):
        curves([tmp_path])

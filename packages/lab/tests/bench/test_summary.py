"""What is added up is what a person would count, and two evaluations are compared task by task."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from bt_lab.report.comparison import compare, side
from bt_lab.report.summary import groups
from bt_lab.report.table import as_csv, in_words, table
from bt_lab.run.evaluation import Again, open_folder, write_up
from bt_lab.run.outcome import Outcome
from bt_lab.run.results_file import RESULTS, ResultsFile
from bt_runtime import BtError


def told(strategy: str, number: int, success: bool, **more: object) -> Outcome:
    found = Outcome(strategy, f"t{number}", number, "fetch", f"goal {number}", depth=2 + number % 2, success=success)
    found.met, found.total, found.decisions = (2 if success else 1), 2, 10 + number
    for name, value in more.items():
        setattr(found, name, value)
    return found


REACT = [told("react", n, n % 4 == 0, label="" if n % 4 == 0 else "max step", prompt=100, reused=75) for n in range(8)]
TREE = [told("tree", n, n != 3, k=2, error="RuntimeError: oh" if n == 3 else "") for n in range(8)]


def test_rates_shares_and_means_are_those_of_the_outcomes() -> None:
    found = {(g.strategy, g.by, g.name): g for g in groups([*REACT, *TREE], 0)}
    react = found["react", "all", ""]
    assert (react.episodes, react.goals, react.errors) == (8, 2, 0)
    assert react.goal.value == 0.25 and react.subgoals.value == pytest.approx((2 * 1 + 6 * 0.5) / 8)
    assert react.means["decisions"].value == 13.5 and react.decisions_reached == 12.0
    assert react.saved == 0.75 and react.failures == {"max step": 6}
    assert [found["react", "depth", d].goals for d in ("2", "3")] == [2, 0]
    tree = found["tree", "all", ""]
    assert (tree.goals, tree.errors, tree.k_reached, tree.k_most) == (7, 1, 2.0, 2)  # what broke was not reached
    assert tree.goal.value == 7 / 8


def test_the_table_says_it_all_to_a_person() -> None:
    text = table(groups([*REACT, *TREE], 0))
    rows = {line.split("  ")[0]: line for line in text.splitlines() if line}
    assert "2/8" in text and "25 %" in text and "(7–59)" in text
    assert "goals by depth" in rows and "goals by kind" not in rows  # there is one kind
    assert rows["max step"].split()[-2:] == ["6", "-"] and rows["error"].split()[-2:] == ["-", "1"]
    lines = text.splitlines()
    grown = lines.index(rows["k_max where reached"])
    assert lines[grown].split()[3:] == ["all", "depth", "2", "depth", "3", "most"]
    assert lines[grown + 1].split() == ["tree", "2.00", "2.00", "2.00", "2"]  # react never grew
    assert lines[grown + 2] == ""


def test_a_summary_is_json_even_where_there_is_nothing_to_take_a_mean_of() -> None:
    plain = [g.to_json() for g in groups([told("react", 1, False)], 0)]
    assert plain[0]["decisions_reached"] is None
    assert "NaN" not in json.dumps(plain)


def test_csv_has_a_line_an_outcome_that_reads_back() -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv([*REACT, TREE[3]]))))
    assert len(rows) == 9
    assert (rows[1]["task"], rows[1]["label"], rows[8]["error"]) == ("t1", "max step", "RuntimeError: oh")
    assert "ends" not in rows[0]


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    for name, outcomes in (("a", REACT), ("b", TREE), ("both", [*REACT, *TREE])):
        open_folder(tmp_path / name, {"seed": 5, "name": name}, {}, Again())
        ledger = ResultsFile(tmp_path / name / RESULTS)
        for outcome in outcomes:
            ledger.add(outcome)
        write_up(tmp_path / name, ledger.sort(), 5)
    return tmp_path


def test_two_strategies_are_compared_on_the_tasks_that_both_have(folders: Path) -> None:
    apart = compare(side(str(folders / "a")), side(str(folders / "b")), 5)
    assert (apart.first, apart.second, apart.pairs, apart.left_out) == ("react", "tree", 8, 0)
    assert (apart.both, apart.neither) == (2, 1)
    assert (apart.first_only, apart.second_only) == ([], ["t1", "t2", "t5", "t6", "t7"])
    assert apart.p == 2 / 2**5
    assert apart.goal.value == 5 / 8 and 0 < apart.goal.low < apart.goal.high
    assert apart.means["decisions"].value == 0  # where both reached it
    together = compare(side(f"{folders / 'both'}:react"), side(f"{folders / 'both'}:tree"), 5)
    assert together == apart
    said = in_words(apart)
    assert "+62.5 points" in said and "only tree: t1, t2, t5, t6, t7" in said and "p = 0.0625" in said
    assert json.loads(json.dumps(apart.to_json()))["goal"]["value"] == 0.625


def test_the_same_strategy_of_two_evaluations_goes_by_their_folders(folders: Path) -> None:
    found = compare(side(str(folders / "a")), side(f"{folders / 'both'}:react"), 0)
    assert (found.first, found.second, found.p) == ("a", "both", 1.0)


def test_a_task_that_only_shares_its_id_is_another_task(folders: Path) -> None:
    other = [told("react", n, True, goal="something else") for n in range(7)] + [told("react", 7, True)]
    open_folder(folders / "other", {"seed": 6}, {}, Again())
    ledger = ResultsFile(folders / "other" / RESULTS)
    for outcome in other:
        ledger.add(outcome)
    found = compare(side(str(folders / "a")), side(str(folders / "other")), 0)
    assert (found.pairs, found.left_out) == (1, 14)


@pytest.mark.parametrize(("named", "message"), [("none", "holds no evaluation"), ("both", "several strategies"),
                                                ("both:lota", "no strategy `lota`")])  # fmt: skip
def test_what_cannot_be_compared_is_said(folders: Path, named: str, message: str) -> None:
    with pytest.raises(BtError, match=message):
        side(str(folders / named))


def test_plots_are_drawn_and_the_same_outcomes_give_the_same_files(folders: Path) -> None:
    pytest.importorskip("matplotlib")
    from bt_lab.report.plots import draw

    found = groups([*REACT, *TREE], 0)
    first = draw(folders / "a", found)
    assert [p.name for p in first] == ["success_by_depth.png", "decisions_by_success.png"]
    assert all(p.read_bytes().startswith(b"\x89PNG") for p in first)
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in draw(folders / "b", found)]

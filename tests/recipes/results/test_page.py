"""The page and its summary, from made-up outcomes: it prints what is true, also where a target is missed."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pytest

from bt_lab.run.case import Strategy
from bt_lab.run.outcome import Outcome
from bt_runtime import BtError
from recipes.results import record
from recipes.results.claims import Claim, Claims, Evaluation, Figure
from recipes.results.finding import Finding
from recipes.results.page import page, target
from recipes.results.rows import Row, first_ended, only, row
from recipes.results.study import Measured

MADE = {
    "date": "2030-01-02",
    "command": "python -m recipes.results --model m.gguf", "model": {"file": "m.gguf", "digest": "d" * 32},
    "seed": 0, "episodes": 10, "jobs": 2, "cores": 2, "versions": {"bt_runtime": "1"},
}  # fmt: skip
ONE, TWO = ("house", "one"), ("house", "two")
CLAIMS = Claims(
    {},
    {
        "house": Evaluation("house", (Strategy("one", "react"), Strategy("two", "reactree", {"depth": 4})), 200),
        "outside": Evaluation("house", (Strategy("one", "react"),), 200, data="wah"),
    },
    {
        "better": Claim("better", "Two is better than one.", "by far", "On made-up tasks.", (
            Figure("one", ONE, "goal"),
            Figure("two", TWO, "goal", target={"at_least": 85}),
            Figure("two over one", TWO, "goal", ONE, target={"at_least": 25}),
            Figure("steps, two less one", TWO, "steps", ONE, among="reached"),
        )),
        "abroad": Claim("abroad", "It holds abroad.", "so they say", "In flats.", (
            Figure("abroad", ("outside", "one"), "goal", target={"at_least": 60}),
        )),
    },
)  # fmt: skip


def measured(two: int, one: int = 4) -> dict[str, Measured]:
    """Ten tasks; so many of them are reached."""
    outcomes = [
        Outcome(name, f"task {i}", i, depth=2, success=i < reached, steps=i + reached, total=1,
                label="" if i < reached else "max step")
        for name, reached in (("one", one), ("two", two)) for i in range(10)
    ]  # fmt: skip
    return {"house": Measured(Path("gone"), "e" * 32, 10, outcomes)}


def made(two: int, before: dict[str, Any] | None = None, **more: Any) -> record.Record:
    return record.make(CLAIMS, measured(two), {"outside": "there is no data"}, {**MADE, **more}, before or {})


def line(text: str, beginning: str) -> str:
    return next(each for each in text.splitlines() if each.startswith(beginning))


def test_a_target_that_is_missed_is_said_to_be_missed_by_its_number() -> None:
    text = page(CLAIMS, made(8), {})
    assert "| 80.0 % |" in line(text, "| two |")
    assert "at least 85 %: **missed**" in line(text, "| two |")
    assert "at least 25 points: met" in line(text, "| two over one |")
    assert "+40.0 points" in line(text, "| two over one |")
    assert "(McNemar)" in line(text, "| two over one |")
    assert "at least 85 %: met" in line(page(CLAIMS, made(9), {}), "| two |")


def test_a_share_of_misses_is_not_missed_where_nothing_was_missed() -> None:
    nothing = Finding("wrongly done", "mistaken", False, "0", *[math.nan] * 3, target={"at_most": 25}, met=False)
    assert target(nothing) == "at most 25 %: none to count"


def test_what_a_claim_hangs_on_stands_in_the_first_table() -> None:
    row = line(page(CLAIMS, made(8), {}), "| [Two is better than one.](#better)")
    assert "two: **80.0 %**" in row
    assert "two over one: **+40.0 points**" in row
    assert "steps" not in row


def test_a_papers_figure_says_whether_ours_is_of_the_same_tasks() -> None:
    """In the first table, in the section, and in the head of its column; another claim's row stands where it is."""
    better = CLAIMS.claims["better"]
    figures = (better.figures[0], better.figures[1]._replace(paper=63.0))
    other = better._replace(name="other", figures=figures, beside="not comparable: made-up homes", comparable="better")
    claims = CLAIMS._replace(claims={**CLAIMS.claims, "other": other._replace(chose=True)})
    text = page(claims, record.make(claims, measured(8), {"outside": "there is no data"}, MADE, {}), {})
    row = line(text, "| [Two is better than one.](#other)")
    assert "by far<br>**not comparable: made-up homes**" in row
    assert "comparable, [better](#better): two: **80.0 %**" in row
    assert "In the paper: by far. **Not comparable: made-up homes.**" in text
    assert "|  | paper, not comparable | here |" in text
    assert "The shipped weights were chosen by tasks of these rows, among" in text


def test_the_head_says_what_the_compared_models_are() -> None:
    """The shipped model's tokens are those of its card; of another model nothing is claimed."""
    starter = page(CLAIMS, made(8, model={"file": "starter.gguf", "digest": "d" * 32}), {})
    assert "**Our model is trained on these worlds**: `starter.gguf` has read 231 million tokens of lessons" in starter
    other = page(CLAIMS, made(8), {})
    assert "million tokens" not in other
    assert "**The papers' models are general ones, hundreds of times as large, and prompted.**" in other


def test_why_goals_were_missed_is_counted_for_each_strategy() -> None:
    text = page(CLAIMS, made(8), {})
    assert "| evaluation | reached | max step | error |" in text
    assert "| house/two | 8/10 | 2 |  |" in text


def test_a_world_has_a_table_of_its_strategies_before_the_claims_and_no_row_among_them() -> None:
    tables = CLAIMS._replace(claims={
        "abroad": CLAIMS.claims["abroad"]._replace(world="Flats"),
        "better": CLAIMS.claims["better"],
        "at_home": CLAIMS.claims["better"]._replace(name="at_home", world="The house"),
    })  # fmt: skip
    found = record.make(tables, measured(8), {"outside": "the extra `flats` is not installed"}, MADE, {})
    text = page(tables, found, {})
    parts = ["## In short", "## Seven strategies", "### Flats", "### The house", "## Claim: Two is better than one."]
    assert [text.index(part) for part in parts] == sorted(text.index(part) for part in parts)
    table = text.partition("### The house")[2].partition("## Claim")[0]
    assert "| two | 80.0 % | (49.0 to 94.3) | 10 |" in table and "(McNemar)" in table
    assert "**Not measured**: the extra `flats` is not installed." in text
    assert "#abroad" not in text and "#at_home" not in text


def test_a_target_names_the_p_that_it_asks_for() -> None:
    figure = Figure("two over one", TWO, "goal", ONE, target={"at_least": 25, "p_below": 0.01})
    claims = CLAIMS._replace(claims={"better": CLAIMS.claims["better"]._replace(figures=(figure,))})
    text = page(claims, record.make(claims, measured(8), {}, MADE, {}), {})
    assert "at least 25 points and p below 0.01: **missed**" in line(text, "| two over one |")


def test_a_claim_that_was_never_measured_says_why() -> None:
    text = page(CLAIMS, made(8), {})
    assert "**Not measured**: there is no data." in text
    assert "not measured" in line(text, "| [It holds abroad.](#abroad)")


def test_a_claim_that_cannot_be_measured_now_keeps_the_figures_of_then_with_their_date() -> None:
    outside = Measured(Path("gone"), "f" * 32, 4, [Outcome("one", f"t{i}", i, success=i < 3) for i in range(4)])
    then = {**MADE, "date": "2029-12-31"}
    before = record.make(CLAIMS, {**measured(8), "outside": outside}, {}, then, {})
    found = made(9, before)
    text = page(CLAIMS, found, {})
    assert "**Not part of this run**: there is no data. The figures are of 2029-12-31" in text
    assert "| 75.0 % |" in line(text, "| abroad |")
    assert found["evaluations"]["outside"]["made"]["date"] == "2029-12-31"
    assert found["evaluations"]["house"]["made"]["date"] == "2030-01-02"
    assert made(9, found)["claims"]["abroad"] == found["claims"]["abroad"]  # and so on, from run to run


def test_pictures_are_shown_where_they_are() -> None:
    assert "![Two is better than one.](results/better.png)" in page(CLAIMS, made(8), {"better": "results/better.png"})


def test_the_same_outcomes_give_the_same_page_in_whatever_order_they_came() -> None:
    """Cases of several processes end in any order; the text of the page is compared from run to run."""
    house = measured(8)["house"]
    mixed = house._replace(outcomes=random.Random(3).sample(list(house.outcomes), len(house.outcomes)))
    assert mixed.outcomes != house.outcomes
    other = record.make(CLAIMS, {"house": mixed}, {"outside": "there is no data"}, MADE, {})
    assert page(CLAIMS, other, {}) == page(CLAIMS, made(8), {})
    assert page(CLAIMS, made(7), {}) != page(CLAIMS, made(8), {})


def test_a_run_comes_back_when_its_numbers_lie_in_the_first_ones_intervals() -> None:
    told = record.returns(made(8), made(9))
    assert {each.name: each.within for each in told} == {
        "one": True, "two": True, "two over one": True, "steps, two less one": False,
    }  # fmt: skip
    assert not record.returns(made(8), made(1))[1].within


def test_what_was_only_kept_from_an_earlier_run_is_not_held_against_it() -> None:
    outside = Measured(Path("gone"), "f" * 32, 4, [Outcome("one", f"t{i}", i, success=i < 3) for i in range(4)])
    first = record.make(CLAIMS, {**measured(8), "outside": outside}, {}, MADE, {})
    assert {each.claim for each in record.returns(first, made(8, first))} == {"better"}


def test_runs_of_other_seeds_are_told_apart() -> None:
    assert record.unlike(made(8), made(8, seed=1), ("model", "seed")) == ["seed"]


def test_a_summary_that_is_none_is_refused_and_none_yet_is_empty(tmp_path: Path) -> None:
    assert record.read(tmp_path / "none.json") == {}
    for text in ("{", '{"groups": []}', "[]"):
        (tmp_path / "summary.json").write_text(text, encoding="utf-8")
        with pytest.raises(BtError):
            record.read(tmp_path / "summary.json")


def test_another_model_stands_beside_the_first_one_where_both_were_measured() -> None:
    """Each row of a world's table that the other model has, with both numbers, intervals and n; other rows
    are not there."""
    table = Claim(
        "seven",
        "Two reaches most.",
        "",
        "All.",
        (Figure("one", ONE, "goal"), Figure("two", TWO, "goal")),
        world="House",
    )
    claims = CLAIMS._replace(claims={"seven": table})
    first = record.make(claims, measured(9), {}, MADE, {})
    rows = only(claims, [Row("house", "two", 5)], 10)
    assert rows.evaluations["house-two"].share * 10 == 4.5
    outcomes = [Outcome("two", f"task {i}", i, success=i < 2, total=1) for i in range(5)]
    model = {"file": "b.gguf", "digest": "e" * 32, "lora": [["l.gguf", "f" * 32, 1.0]]}
    other = record.make(
        rows, {"house-two": Measured(Path("gone"), "e" * 32, 5, outcomes)}, {}, {**MADE, "model": model}, {}
    )
    text = page(claims, first, {}, {"tuned": other})
    assert "## Both models: `m` and `tuned`" in text and "adapter `l.gguf` (sha256 ffffffffffff…)" in text
    assert "| House | two | 90.0 % (59.6 to 98.2) | 10 | **40.0 %** (11.8 to 76.9) | 5 |" in text
    assert "| House | one |" not in text
    assert "Both models" not in page(claims, first, {})
    with pytest.raises(BtError, match="there is no row house/three"):
        only(claims, [Row("house", "three")], 10)


def test_a_cut_off_row_counts_up_to_its_first_task_without_an_end() -> None:
    """Tasks that ended while an earlier one was at work are not counted: those would be the quick ones."""
    ended = [Outcome("one", f"task {i}", i) for i in (4, 1, 0, 2, 6)]
    assert [o.number for o in first_ended(ended)] == [0, 1, 2]
    assert row("house/react:20") == Row("house", "react", 20) and row("house/react") == Row("house", "react")
    for wrong in ("house", "/react", "house/react:0", "house/react:x"):
        with pytest.raises(ValueError):
            row(wrong)

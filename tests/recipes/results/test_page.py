"""The page and its summary, from made-up outcomes: it prints what is true, also where a target is missed."""

from __future__ import annotations

import math
import random
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from bt_lab.run.case import Strategy
from bt_lab.run.outcome import Outcome
from bt_runtime import BtError
from recipes.results import record
from recipes.results.__main__ import rewrite
from recipes.results.claims import Claim, Claims, Evaluation, Figure, read_claims
from recipes.results.finding import Finding
from recipes.results.page import page, target, whole
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
    row = line(page(CLAIMS, made(8), {}), '| <a id="better"></a>Two is better than one.')
    assert "two: **80.0 %** (49.0 to 94.3), n 10" in row
    assert "at least 85 %: **missed**<br>at least 25 points: met" in row
    assert "two over one: **+40.0 points**" in row and "p = 0.125" in row
    assert "steps" not in row
    assert "at least 85 %: met" in line(page(CLAIMS, made(9), {}), '| <a id="better"></a>')


def test_a_share_of_misses_is_not_missed_where_nothing_was_missed() -> None:
    nothing = Finding("wrongly done", "mistaken", False, "0", *[math.nan] * 3, target={"at_most": 25}, met=False)
    assert target(nothing) == "at most 25 %: none to count"


def test_a_papers_figure_says_whether_ours_is_of_the_same_tasks() -> None:
    other = CLAIMS.claims["better"]._replace(name="other", beside="not comparable: made-up homes")
    claims = CLAIMS._replace(claims={**CLAIMS.claims, "other": other})
    text = page(claims, record.make(claims, measured(8), {"outside": "there is no data"}, MADE, {}), {})
    assert "by far<br>**not comparable: made-up homes**" in line(text, '| <a id="other"></a>')


def test_the_head_says_what_the_compared_models_are() -> None:
    """The shipped model's tokens are those of its card; of another model nothing is claimed."""
    starter = page(CLAIMS, made(8, model={"file": "starter.gguf", "digest": "d" * 32}), {})
    assert "**Our model is trained on these worlds**: `starter.gguf` has read 273 million tokens of lessons" in starter
    other = page(CLAIMS, made(8), {})
    assert "million tokens" not in other
    assert "**The papers' models are general ones, hundreds of times as large, and prompted.**" in other


def test_all_that_the_record_holds_of_a_claim_can_be_printed() -> None:
    text = "\n".join(whole(CLAIMS.claims["better"], CLAIMS, made(8)))
    assert text.startswith("On made-up tasks.\nbetter: Two is better than one.")
    assert re.search(r"two +80.0 % +\(49.0 to 94.3\)", text)
    assert "house/two: 8 of 10 reached; max step 2" in text
    assert "means: steps 12.5" in text and "house, 200 decisions; set-up eeeeeeeeeeee, 2030-01-02" in text


def test_the_worlds_stand_in_one_table_with_a_column_for_each_strategy() -> None:
    """A world that was not measured says why; a target that was missed is listed below."""
    figures = (Figure("ReAct", ONE, "goal"), Figure("ReAcTree", TWO, "goal", target={"at_least": 85}))
    tables = CLAIMS._replace(claims={
        "abroad": CLAIMS.claims["abroad"]._replace(world="Flats"),
        "at_home": CLAIMS.claims["better"]._replace(name="at_home", world="The house", figures=figures),
    })  # fmt: skip
    text = page(tables, record.make(tables, measured(8), {"outside": "the extra `flats` is absent"}, MADE, {}), {})
    assert "Flats (not measured: the extra `flats` is absent)" in text
    assert line(text, '| <a id="at_home"></a>The house').startswith(
        '| <a id="at_home"></a>The house | 10 | 40 (17–69) | 80 (49–94) |'
    )
    assert "- The house: ReAcTree 80.0 %; at least 85 %: **missed**" in text


def test_other_studies_stand_at_the_end_as_their_files_have_them() -> None:
    assert page(CLAIMS, made(8), {}, studies=["## Forks\n\nNone.\n"]).endswith("\n\n## Forks\n\nNone.\n")


def test_a_target_names_the_p_that_it_asks_for() -> None:
    figure = Figure("two over one", TWO, "goal", ONE, target={"at_least": 25, "p_below": 0.01})
    claims = CLAIMS._replace(claims={"better": CLAIMS.claims["better"]._replace(figures=(figure,))})
    text = page(claims, record.make(claims, measured(8), {}, MADE, {}), {})
    assert "at least 25 points and p below 0.01: **missed**" in line(text, '| <a id="better"></a>')


def test_a_claim_that_was_never_measured_says_why() -> None:
    assert "Not measured in this run: `abroad`: there is no data." in page(CLAIMS, made(8), {})


def test_a_claim_that_cannot_be_measured_now_keeps_the_figures_of_then_with_their_date() -> None:
    outside = Measured(Path("gone"), "f" * 32, 4, [Outcome("one", f"t{i}", i, success=i < 3) for i in range(4)])
    then = {**MADE, "date": "2029-12-31"}
    before = record.make(CLAIMS, {**measured(8), "outside": outside}, {}, then, {})
    found = made(9, before)
    text = page(CLAIMS, found, {})
    row = line(text, '| <a id="abroad"></a>')
    assert "abroad: **75.0 %**" in row and "of 2029-12-31, not part of this run: there is no data" in row
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


def test_the_page_in_docs_is_what_its_data_print(tmp_path: Path) -> None:
    """`python -m recipes.results --rewrite --page docs/results.md` prints it: an edit by hand would be lost."""
    docs = Path(__file__).parents[3] / "docs"
    shutil.copytree(docs / "results", tmp_path / "results")
    rewrite(tmp_path / "results.md", read_claims())
    assert (tmp_path / "results.md").read_text("utf-8") == (docs / "results.md").read_text("utf-8")

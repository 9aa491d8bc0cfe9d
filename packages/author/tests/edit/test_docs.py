"""The docs' table of gestures is the page's own."""

from __future__ import annotations

from pathlib import Path

from bt_author.edit.table import END, gestures, written

PAGE = Path(__file__).parents[4] / "docs" / "editing.md"


def test_the_table_of_gestures_is_made_of_the_code() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == written(text), "run: make generated"
    assert len(list(gestures())) == len({g.key for g in gestures()}) == text.partition(END)[0].count("\n| ") - 1

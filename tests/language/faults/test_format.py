"""Faults as they are shown: nothing of a hostile file reaches the terminal, every caret stands below its place."""

from __future__ import annotations

import json
import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bt_runtime import Diagnostic, Faults
from bt_runtime.language.faults.diagnostic import SHOWN, Edit, Fix
from bt_runtime.language.faults.format import FORMATS, render, summary, visible
from bt_runtime.language.source import parse
from bt_runtime.types import Span

if TYPE_CHECKING:
    from bt_runtime.language.faults.format import Format

SEQENCE = Diagnostic(
    "BT012",
    "unknown node kind `seqence`",
    "trees/tidy.yaml",
    Span(9, 7, 9, 14),
    "did you mean `sequence`?",
    "kinds here: control, decorators, the skills of house, tree, agent, plan",
)
TIDY = "#\n" * 8 + "      seqence:\n"


def shown(text: str, span: Span, **given: str) -> list[str]:
    return render([Diagnostic("BT000", "x", "f", span, **given)], {"f": text}).splitlines()


def marked(text: str, span: Span) -> str:
    """What stands above the carets."""
    above, below = shown(text, span)[3:5]
    return above[below.index("^") : below.rindex("^") + 1]


def test_full_is_as_the_language_page_shows_it() -> None:
    expected = """\
error[BT012]: unknown node kind `seqence`
  --> trees/tidy.yaml:9:7
   |
 9 |       seqence:
   |       ^^^^^^^ did you mean `sequence`?
   = help: kinds here: control, decorators, the skills of house, tree, agent, plan"""
    assert render([SEQENCE], {"trees/tidy.yaml": TIDY}) == expected


def test_the_frame_is_as_wide_as_the_number_of_the_line() -> None:
    assert shown("x\n" * 1234, Span(1234, 1, 1234, 2), help="h") == [
        "error[BT000]: x",
        "     --> f:1234:1",
        "      |",
        " 1234 | x",
        "      | ^",
        "      = help: h",
    ]


def test_concise_is_one_line_that_editors_can_follow() -> None:
    line = "trees/tidy.yaml:9:7: error[BT012]: unknown node kind `seqence` (did you mean `sequence`?)"
    assert render([SEQENCE], {}, "concise") == line


def test_json_gives_back_every_field() -> None:
    (row,) = json.loads(render([SEQENCE], {}, "json"))
    assert Diagnostic(**{**row, "span": Span(**row["span"]), "fixes": ()}) == SEQENCE
    fix = Fix("write `sequence`", (Edit(Span(4, 3, 4, 10), "sequence"),), sure=True)
    (row,) = json.loads(render([SEQENCE._replace(fixes=(fix,))], {}, "json"))
    edits = tuple(Edit(Span(**edit["span"]), edit["text"]) for edit in row["fixes"][0]["edits"])
    assert Fix(**{**row["fixes"][0], "edits": edits}) == fix
    assert json.loads(render([SEQENCE._replace(span=None)], {}, "json"))[0]["span"] is None
    assert json.loads(render([], {}, "json")) == []


def test_github_escapes_what_would_end_the_command() -> None:
    fault = Diagnostic("BT001", "100% a\nb", "a,b:c.yaml", Span(1, 2, 1, 4), severity="warning")
    assert render([fault], {}, "github") == (
        "::warning file=a%2Cb%3Ac.yaml,title=BT001,line=1,endLine=1,col=2,endColumn=4::100%25 a%0Ab"
    )


@pytest.mark.parametrize("form", FORMATS)
def test_a_fault_without_a_place_or_source_is_shown_all_the_same(form: Format) -> None:
    for fault in (Diagnostic("BT001", "gone", "f"), Diagnostic("BT001", "gone"), SEQENCE._replace(file="other")):
        assert fault.message in render([fault], {}, form)
        assert fault.code in render([fault], {}, form)


def test_faults_without_a_place_keep_their_label_and_help() -> None:
    lines = render([Diagnostic("BT001", "gone", "f", label="a label", help="a help")], {}).splitlines()
    assert lines == ["error[BT001]: gone", "  --> f", "   = help: a label", "   = help: a help"]


def test_colour_only_when_asked() -> None:
    sources = {"trees/tidy.yaml": TIDY}
    plain, coloured = (render([SEQENCE], sources, color=wanted) for wanted in (False, True))
    assert "\x1b" not in plain
    assert "\x1b[1;31m" in coloured
    for tone in ("\x1b[1;31m", "\x1b[1;34m", "\x1b[1m", "\x1b[0m"):
        coloured = coloured.replace(tone, "")
    assert coloured == plain


def test_a_warning_says_so_in_another_colour() -> None:
    assert render([SEQENCE._replace(severity="warning")], {}, color=True).startswith("\x1b[1;33mwarning[BT012]")


@pytest.mark.parametrize(
    ("text", "span", "under"),
    [
        ("abc: def", (1, 6, 1, 9), "def"),
        ("\tabc", (1, 2, 1, 5), "abc"),
        ("a\tbc", (1, 2, 1, 3), "    "),
        ("x: \u202eabc", (1, 4, 1, 5), "<U+202E>"),
        ("x: a\x1b[31m", (1, 5, 1, 6), "<U+001B>"),
        ("x: a\xa0b", (1, 5, 1, 6), "<U+00A0>"),
        ("one\r\ntwo: x\r\n", (2, 6, 2, 7), "x"),
    ],
)
def test_the_carets_stand_below_the_place(text: str, span: tuple[int, int, int, int], under: str) -> None:
    assert marked(text, Span(*span)) == under


def test_wide_characters_take_two_columns() -> None:
    above, below = shown("漢字: ab", Span(1, 5, 1, 7))[3:5]
    assert columns(above[: above.index("ab")]) == below.index("^")
    assert shown("漢字: ab", Span(1, 1, 1, 3))[4].count("^") == 4


def test_a_combining_accent_takes_none() -> None:
    above, below = shown("e\u0301a: x", Span(1, 6, 1, 7))[3:5]
    assert columns(above[: above.index("x")]) == below.index("^")


def columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 0 if unicodedata.combining(c) else 1 for c in text)


def test_a_fault_that_goes_on_below_is_marked_to_the_end_of_its_line() -> None:
    assert shown("a: [1,\n2\n", Span(1, 4, 2, 2))[4] == "   |    ^^^"


def test_a_fault_at_the_end_of_a_line_or_file_has_one_caret() -> None:
    assert shown("ab\n", Span(1, 3, 1, 4))[4] == "   |   ^"
    assert shown("ab\n", Span(2, 1, 2, 2))[3:5] == [" 2 |", "   | ^"]
    assert shown("ab\n", Span(1, 2, 1, 2))[4] == "   |  ^"


@pytest.mark.parametrize("at", [1, 30, 90, 500, 4990])
def test_of_a_long_line_the_part_around_the_fault_is_shown(at: int) -> None:
    line = "x" * (at - 1) + "FAULT" + "y" * 5000
    lines = shown(line, Span(1, at, 1, at + 5))
    assert marked(line, Span(1, at, 1, at + 5)) == "FAULT"
    assert max(map(len, lines)) < 120
    assert lines[3].endswith("...")


def test_a_line_of_four_million_characters_is_cut_before_it_is_looked_at() -> None:
    line = "漢" * 2_000_000 + "FAULT" + "\x1b" * 2_000_000
    lines = shown(line, Span(1, 2_000_001, 1, 2_000_006))
    assert "FAULT" in lines[3]
    assert len(lines[3]) < 200


def test_a_message_of_several_lines_stays_one_and_a_help_is_indented() -> None:
    lines = render([Diagnostic("BT000", "a\nb", "f", Span(1, 1, 1, 2), help="one\ntwo")], {"f": "x"}).splitlines()
    assert lines[0] == "error[BT000]: a b"
    assert lines[-2:] == ["   = help: one", "           two"]


def test_the_summary_counts_errors_and_warnings() -> None:
    warning = SEQENCE._replace(severity="warning")
    assert summary([]) == ""
    assert summary([SEQENCE, SEQENCE, warning]) == "2 errors, 1 warning"
    assert summary([warning, warning]) == "2 warnings"


@settings(max_examples=300, derandomize=True)
@given(st.text(max_size=60), st.text(max_size=20), st.integers(1, 5), st.integers(1, 70), st.integers(0, 70))
def test_nothing_shown_can_move_a_cursor(text: str, message: str, line: int, start: int, width: int) -> None:
    fault = Diagnostic("BT000", message, message, Span(line, start, line, start + width), message, message)
    for form in FORMATS:
        printed = render([fault], {message: text}, form)
        assert all(c.isprintable() or c == "\n" for c in printed)
        if form in ("concise", "github"):
            assert "\n" not in printed


@settings(max_examples=200, derandomize=True)
@given(st.text(alphabet="ab:- \n\t'[]{}漢\x00\u2028\r", max_size=40))
def test_the_place_of_every_fault_of_a_text_is_inside_it(text: str) -> None:
    document = parse(text, "f")
    lines = render(document.diagnostics, {"f": document.text}).splitlines() if document.diagnostics else []
    assert sum(line.lstrip(" |").startswith("^") for line in lines) == len(document.diagnostics)


def test_visible_keeps_what_can_be_printed() -> None:
    assert visible("größe 漢 😀\u200b\n") == "größe 漢 😀<U+200B> "


@pytest.mark.parametrize(("count", "lines"), [(1, 2), (SHOWN, SHOWN + 1), (SHOWN + 1, SHOWN + 2), (400, SHOWN + 2)])
def test_an_exception_prints_ten_of_its_faults_and_says_how_many_more_there_are(count: int, lines: int) -> None:
    said = str(Faults([SEQENCE] * count))
    assert len(said.splitlines()) == lines
    assert said.startswith(f"{count} fault{'s' if count > 1 else ''}\n")
    assert (f"and {count - SHOWN} more" in said) == (count > SHOWN)
    assert len(Faults([SEQENCE] * count).diagnostics) == count

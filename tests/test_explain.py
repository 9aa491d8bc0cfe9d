"""The pages of the codes: complete, true (their examples are run), and found however a code is written."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from bt_runtime import explain, expression, source
from bt_runtime.config import read_project
from bt_runtime.diagnose import BtError
from bt_runtime.project import PROJECT_FILE
from bt_runtime.tree.loader import Loader

ROOT = Path(__file__).parents[1]
EXAMPLE = re.compile(
    r"^```(yaml|python|expression|settings) (wrong|right)( bytes)?\n(.*?)^```$", re.MULTILINE | re.DOTALL
)


def examples(kind: str) -> list[tuple[str, str, str | bytes]]:
    found: list[tuple[str, str, str | bytes]] = []
    for code in explain.codes():
        for language, which, as_bytes, body in EXAMPLE.findall(explain.page(code)):
            if which == kind:
                text = eval(body, {"__builtins__": {}}) if language == "python" else body
                found.append((code, language, _bytes(text) if as_bytes else text))
    return found


def _bytes(text: str) -> bytes:
    return text.encode().decode("unicode_escape").encode("latin-1")


def found(code: str, language: str, text: str | bytes) -> set[str]:
    if language == "expression":
        try:
            expression.compile(str(text)).evaluate({"room": "kitchen"})
        except expression.ExpressionError as fault:
            return {fault.code}
        return set()
    if language == "settings":
        with TemporaryDirectory() as folder:
            Path(folder, PROJECT_FILE).write_text(str(text))
            return {d.code for d in read_project(Path(folder)).diagnostics}
    # what is wrong with the YAML often leaves no tree to speak of
    return {d.code for d in (source.parse(text) if code <= "BT011" else Loader().text(text)).diagnostics}


@pytest.mark.parametrize(("code", "language", "text"), examples("wrong"))
def test_a_wrong_example_gives_exactly_the_code_of_its_page(code: str, language: str, text: str | bytes) -> None:
    assert found(code, language, text) == {code}


@pytest.mark.parametrize(("code", "language", "text"), examples("right"))
def test_a_right_example_has_no_fault_at_all(code: str, language: str, text: str | bytes) -> None:
    if language == "yaml":
        assert [str(d) for d in Loader().text(text).diagnostics] == []
    assert found(code, language, text) == set()


def test_every_code_has_a_title_and_shows_something_right() -> None:
    shown = {code for code, _, _ in examples("right")}
    for code in explain.codes():
        first, second = explain.page(code).split("\n")[:2]
        assert re.fullmatch(rf"# {code}: [^A-Z].*[^.]", first), first
        assert second == ""
        assert code in shown or code == "BT001", f"{code} has no right example"


def test_every_code_that_is_used_has_a_page_and_every_page_a_use() -> None:
    """Of source and expressions; a code is written out wherever it is given."""
    used: set[str] = set()
    for path in [*ROOT.glob("bt_runtime/source/*.py"), *ROOT.glob("bt_runtime/expression/*.py")]:
        used |= set(re.findall(r'"(BT\d{3})"', path.read_text(encoding="utf-8")))
    ours = {code for code in explain.codes() if code <= "BT011" or "BT030" <= code <= "BT039"}
    assert used == ours


@pytest.mark.parametrize("written", ["BT006", "bt006", "bt6", " BT006 ", "6", "006", "BT-006"])
def test_a_code_is_found_however_it_is_written(written: str) -> None:
    assert explain.page(written).startswith("# BT006: ")


@pytest.mark.parametrize("written", ["BT999", "BT", "", "../diagnose", "BT006.md", "x" * 10_000, "\x1b[2J"])
def test_an_unknown_code_is_told_a_way_out(written: str) -> None:
    with pytest.raises(BtError) as raised:
        explain.page(written)
    assert raised.value.hint
    assert len(raised.value.message) < 80


def test_a_misspelt_code_is_told_the_nearest() -> None:
    with pytest.raises(BtError, match="did you mean `BT0"):
        explain.page("BTO06")


def test_the_page_of_all_faults_is_current() -> None:
    """`python -m bt_runtime.explain > docs/faults.md` makes it."""
    assert (ROOT / "docs" / "faults.md").read_text(encoding="utf-8") == explain.handbook()

"""The pages of the codes: complete, true (their examples are run), and found however a code is written."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from bt_envs.house.home_file import read_home
from bt_envs.house.suite import load_content
from bt_runtime import BtError, Faults, Run, load
from bt_runtime.language import expression, guide, manifest, source
from bt_runtime.language.checks import free_slots, plannable
from bt_runtime.language.faults import explain
from bt_runtime.language.loader import Loader
from bt_runtime.language.project import PROJECT_FILE
from bt_runtime.language.settings import read_project
from bt_runtime.memory.experience import read_jsonl

ROOT = Path(__file__).parents[3]
EXAMPLE = re.compile(
    r"^```(yaml|python|expression|settings|plan|world|experiences) (wrong|right)( bytes| skills/\S+)?\n(.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
BESIDE = re.compile(r"^```(?:yaml|python) beside (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Example(NamedTuple):
    code: str
    language: str
    note: str  # how it is read: as bytes, as a manifest
    text: str


def examples(kind: str) -> list[Example]:
    return [
        Example(code, language, note.strip(), body)
        for code in explain.codes()
        for language, which, note, body in EXAMPLE.findall(explain.page(code))
        if which == kind
    ]


def found(example: Example, root: Path) -> list[str]:
    """The codes that the example gives, in a project with the files that stand beside it."""
    if example.language == "expression":
        try:
            expression.compile(example.text).evaluate({"room": "kitchen"})
        except expression.ExpressionError as fault:
            return [fault.code]
        return []
    if example.language == "plan":
        return [d.code for d in guide.parse(example.text).diagnostics]
    if example.language == "world":
        return raised(lambda path: read_home(path, load_content().catalogue), root / "home.yaml", example.text)
    if example.language == "experiences":
        return raised(read_jsonl, root / "lines.jsonl", example.text)
    if example.language == "settings":
        root.mkdir(parents=True)
        (root / PROJECT_FILE).write_text(example.text)
        return [d.code for d in read_project(root).diagnostics]
    text = eval(example.text, {"__builtins__": {}}) if example.language == "python" else example.text
    if example.note == "bytes":
        text = text.encode().decode("unicode_escape").encode("latin-1")
    if example.note.startswith("skills/"):
        read = manifest.parse(text)
        return [d.code for d in [*read.diagnostics, *plannable.faults(read.kinds, read.text, "")]]
    for name, beside in BESIDE.findall(explain.page(example.code)):
        place = (root / name).resolve()
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(beside)
    # what is wrong with the YAML often leaves no tree to speak of
    checked = Loader(root).text(text, folder=root)
    faults = source.parse(text).diagnostics if example.code <= "BT011" else checked.diagnostics
    free = free_slots.faults(checked.tree) if checked.tree is not None else ()
    return [d.code for d in [*faults, *free]] or build_faults(text)


def raised(read: Callable[[Path], object], path: Path, text: str) -> list[str]:
    path.parent.mkdir(parents=True)
    path.write_text(text)
    try:
        read(path)
    except Faults as faults:
        return [d.code for d in faults.diagnostics]
    return []


def build_faults(text: str) -> list[str]:
    """What is found only when the nodes are made."""
    if "py:" not in text:
        return []
    try:
        Run(load(text)).close()
    except Faults as faults:
        return [d.code for d in faults.diagnostics]
    return []


@pytest.mark.parametrize("example", examples("wrong"), ids=lambda example: example.code)
def test_a_wrong_example_gives_exactly_the_code_of_its_page(example: Example, tmp_path: Path) -> None:
    assert set(found(example, tmp_path / "project")) == {example.code}


@pytest.mark.parametrize("example", examples("right"), ids=lambda example: example.code)
def test_a_right_example_has_no_fault_at_all(example: Example, tmp_path: Path) -> None:
    assert found(example, tmp_path / "project") == []


def test_every_code_has_a_title_and_shows_something_right() -> None:
    shown = {example.code for example in examples("right")}
    for code in explain.codes():
        first, second = explain.page(code).split("\n")[:2]
        assert re.fullmatch(rf"# {code}: [^A-Z].*[^.]", first), first
        assert second == ""
        assert code in shown or code == "BT001", f"{code} has no right example"


def test_every_code_that_is_used_has_a_page_and_every_page_a_use() -> None:
    """A code is written out wherever it is given."""
    folders = ("language", "tree", "skills")
    used: set[str] = set()
    places = [path for folder in folders for path in ROOT.glob(f"bt_runtime/{folder}/**/*.py")]
    for path in [*places, ROOT / "bt_runtime" / "memory" / "experience.py"]:
        used |= set(re.findall(r'"(BT\d{3})"', path.read_text(encoding="utf-8")))
    assert used == set(explain.codes())


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
    """`python -m bt_runtime.language.faults.explain > docs/faults.md` makes it."""
    assert (ROOT / "docs" / "faults.md").read_text(encoding="utf-8") == explain.handbook()

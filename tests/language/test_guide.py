"""Plans that agents follow: their files, and what is said of a file that is at fault."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from bt_runtime import BtError, Faults
from bt_runtime.language import guide, project, source
from bt_runtime.language.guide import Guide
from bt_runtime.language.guide_header import FIELDS, plan_schema

HEADER = {
    "version": 1, "kind": "heat", "world": "house", "model": "a: b #c", "strategy": "react", "seed": -3, "batch": 4,
    "steps": 12, "iteration": 2, "parent": "1.md", "training": {"reached": 0, "of": 4},
    "validation": {"reached": 3, "of": 8},
    "reflection": "summary", "options": "", "tasks": "rules=eval 3", "test": {"reached": 20, "of": 50}, "setup": "0123",
}  # fmt: skip


def test_what_is_written_is_read_again_with_every_field_of_the_header():
    assert HEADER.keys() == FIELDS.keys()
    checked = guide.parse(Guide("1. Go.\n2. Come.", HEADER).written())
    assert checked.guide == Guide("1. Go.\n2. Come.", HEADER)
    assert not checked.diagnostics


def test_an_empty_plan_is_a_plan():
    checked = guide.parse(Guide("", {"version": 1}).written())
    assert (checked.guide.text, checked.diagnostics) == ("", ())


@pytest.mark.parametrize(
    ("text", "line", "column", "said"),
    [
        ("1. Go.\n", 1, 1, "begins with a header"),
        ("---\nversion: 1\n1. Go.\n", 1, 1, "not closed"),
        ("---\nversion: 1\nbacth: 4\n---\n", 3, 1, "no `bacth`"),
        ("---\nversion: 2\n---\n", 2, 10, "reads version 1"),
        ("---\nkind: heat\n---\n", 2, 1, "lacks its field `version`"),
        ("---\nversion: 1\nbatch: four\n---\n", 3, 8, "whole number from 0"),
        ("---\nversion: 1\nbatch: -1\n---\n", 3, 8, "whole number from 0"),
        ("---\nversion: 1\nseed: true\n---\n", 3, 7, "whole number"),
        ("---\nversion: 1\nkind: 3\n---\n", 3, 7, "a text"),
        ("---\nversion: 1\nvalidation: {reached: 3}\n---\n", 3, 13, "`validation` is a score: `{reached: 3, of: 8}`"),
        ("---\nversion: 1\nvalidation: {reached: 3, of: 0}\n---\n", 3, 30, "`of` is a whole number from 1"),
        ("---\nversion: 1\nvalidation: {reached: 3, off: 8, of: 8}\n---\n", 3, 26, "no `off`"),
        ("---\nversion: true\n---\n", 2, 10, "reads version 1"),
        ("---\nversion: 1\nseed: 4.0\n---\n", 3, 7, "whole number"),
        ("---\nversion: 1\nsteps: .inf\n---\n", 3, 8, "whole number from 0"),
        ("---\n- version\n---\n", 2, 1, "a mapping"),
        ("---\nversion: 1\nkind: [heat\n---\n", 3, 7, ""),
    ],
)
def test_a_fault_of_the_header_has_its_line_and_column(text, line, column, said):
    fault = guide.parse(text).diagnostics[0]
    assert (fault.span.line, fault.span.column) == (line, column)
    assert said in fault.message


def test_all_faults_of_a_header_are_told_in_the_order_of_the_text_each_with_a_way_out():
    text = "---\nverison: 1\nbatch: four\nkind:\ntest: {of: 2}\nseed: 7\n---\n"
    checked = guide.parse(text)
    assert [d.span.line for d in checked.diagnostics] == [2, 3, 5]
    assert checked.diagnostics[0].label == "did you mean `version`?" and all(d.help for d in checked.diagnostics)
    assert checked.guide.header == {"seed": 7}


def test_nothing_of_the_validator_is_loaded_before_a_header_is_looked_at():
    program = "import sys, bt_runtime.language.guide; print('jsonschema' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=900)
    assert done.stdout == "False\n"


@pytest.mark.parametrize("name", [n for n, f in FIELDS.items() if n != "version"])
def test_the_editors_schema_and_the_check_agree_on_every_field(name):
    schema = jsonschema.Draft7Validator(plan_schema())
    for value in ("a", 1, -1, True, 1.5, [1], {"reached": 1, "of": 2}, {"reached": 1}, {"reached": 1, "of": 2, "x": 3}):
        text = Guide("", {"version": 1, name: value}).written()
        header = source.parse(text.split("---\n")[1]).sound().data()
        assert schema.is_valid(header) == (not guide.parse(text).diagnostics), (name, value)


def test_a_guide_is_a_text_or_the_name_of_a_file_of_plans(tmp_path, monkeypatch):
    monkeypatch.setenv("BTR_PROJECT", str(tmp_path))
    (tmp_path / "guides" / "heat").mkdir(parents=True)
    (tmp_path / "guides" / "heat" / "2.md").write_text(Guide("1. Go.", {"version": 1}).written())
    assert guide.text_of("heat/2.md") == "1. Go."
    assert guide.text_of(str(tmp_path / "guides" / "heat" / "2.md")) == "1. Go."
    assert guide.text_of("1. Go.\n2. Read notes.md") == "1. Go.\n2. Read notes.md"
    assert guide.text_of(" keep to the left ") == "keep to the left"
    with pytest.raises(BtError, match=r"did you mean `heat/2\.md`"):
        guide.text_of("heat/3.md")


def test_a_plan_at_fault_is_not_followed(tmp_path):
    path = tmp_path / "bad.md"
    path.write_text("1. Go.\n")
    with pytest.raises(Faults):
        guide.text_of(str(path))
    assert "cannot be read" in guide.read(Path(tmp_path)).diagnostics[0].message


def test_every_shipped_plan_is_sound():
    names = list(project.names("guides", ".md"))
    assert names
    for name in names:
        path = project.find("guides", name, ".md")
        assert path is not None and guide.sound(path).text

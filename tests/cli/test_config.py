from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bt_runtime import BtError
from bt_runtime.language.project_file import SETTINGS
from bt_runtime.language.settings import Settings, read_project
from tests.cli.conftest import Btr


def test_flag_over_environment_over_project_over_default(here: Path) -> None:
    """Each source wins over those after it, and is named."""
    (here / "btr.yaml").write_text("# mine\nhz: 10\n")
    for flags, environ, root, value, source in [
        ({"hz": 30}, {"BTR_HZ": "20"}, here, 30, "--hz"),
        ({"hz": None}, {"BTR_HZ": "20"}, here, 20.0, "BTR_HZ"),
        ({}, {"BTR_HZ": ""}, here, 10, "btr.yaml:2"),
        ({}, {}, here / "elsewhere", None, "default"),
    ]:
        found = Settings(flags, environ, root).value("hz")
        assert (found.value, found.source) == (value, source)


@pytest.mark.parametrize(
    ("text", "line", "column", "said"),
    [
        ("hz: 10\nhzz: 5\n", 2, 1, "a project file has no `hzz`"), ("hz: fast\n", 1, 5, "a number above zero"),
        ("hz: -1\n", 1, 5, "a number above zero"), ("ticks: 1.5\n", 1, 8, "a whole number"),
        ("strict: on\n", 1, 9, "true or false"), ("color: blue\n", 1, 8, "one of auto, always, never"),
        ("env: [a]\n", 1, 6, "is a text"), ("[1, 2]\n", 1, 1, "a mapping of settings"),
        ("hz: 1\nhz: 2\n", 2, 1, "twice"), ("version: 2\n", 1, 10, "version 1"),
    ],
)  # fmt: skip
def test_a_fault_in_the_project_file_has_its_place(here: Path, text: str, line: int, column: int, said: str) -> None:
    (here / "btr.yaml").write_text(text)
    (fault,) = read_project(here).diagnostics
    assert said in fault.message
    assert fault.span is not None
    assert fault.span[:2] == (line, column)


@pytest.mark.parametrize("text", ["", "\n\n", "# only this\n", "version: 1\n", "hz:\n"])
def test_a_project_file_may_be_empty(here: Path, text: str) -> None:
    (here / "btr.yaml").write_text(text)
    assert read_project(here).diagnostics == ()
    assert Settings({}, {}, here)["hz"] is None


@pytest.mark.parametrize("pair", ["HZ=abc", "HZ=nan", "HZ=0", "TICKS=1.5", "STRICT=perhaps", "LOG=loud"])
def test_a_bad_variable_is_named_with_its_value(pair: str) -> None:
    name, _, value = pair.partition("=")
    with pytest.raises(BtError, match=f"BTR_{name}={value}: `{name.lower()}` is "):
        Settings({}, {f"BTR_{name}": value})[name.lower()]


@settings(max_examples=60, derandomize=True)
@given(st.sampled_from(SETTINGS), st.text(max_size=8))
def test_any_value_of_a_variable_is_taken_or_refused_in_words(setting, text: str) -> None:  # type: ignore[no-untyped-def]
    try:
        Settings({}, {setting.variable: text})[setting.name]
    except BtError as error:
        assert setting.name in error.message


def test_config_lists_every_setting_with_its_source(btr: Btr, here: Path) -> None:
    (here / "btr.yaml").write_text("log: debug\n")
    rows = json.loads(btr("config", "--json").out)
    assert set(rows) == {s.name for s in SETTINGS}
    assert rows["log"] == {"value": "debug", "source": "btr.yaml:1", "variable": "BTR_LOG"}
    assert btr("config", "log").out == "debug\n"
    assert "log " in btr("config").out
    assert "did you mean `log`?" in btr("config", "lok").err


def test_help_names_the_variable_of_every_flag_that_has_one(btr: Btr) -> None:
    text = btr("run", "--help").out
    assert all(f"BTR_{name}" in text for name in ("HZ", "SECONDS", "TICKS", "LOG", "STRICT", "ENV", "COLOR"))


def test_a_bad_project_file_stops_a_run_and_the_doctor_says_so(btr: Btr, here: Path) -> None:
    (here / "btr.yaml").write_text("hzz: 5\n")
    assert btr("run", "hello").code == 2
    rows = {row["name"]: row for row in json.loads(btr("doctor", "--json").out)}
    assert rows["project"]["state"] == "fail"
    assert "btr validate" in rows["project"]["todo"]


def test_the_doctor_is_content_here(btr: Btr) -> None:
    """Python, py_trees, PyYAML's C parser and all content folders are found; what is absent names its install line."""
    said = btr("doctor", "--json")
    rows = {row["name"]: row for row in json.loads(said.out)}
    assert said.code == 0
    assert all(rows[name]["state"] == "ok" for name in ("bt_runtime", "python", "py_trees", "PyYAML", "trees"))
    assert all(row["todo"] for row in rows.values() if row["state"] in ("absent", "warn", "fail"))

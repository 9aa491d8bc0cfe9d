"""Coverage of trees by their tests: which nodes were reached, with which results."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from bt_runtime.cli import main
from bt_runtime.language.loader import Loader
from bt_runtime.testing import FAILURE, RUNNING, SUCCESS, Trial, coverage

MAIN = """\
version: 1
tree: main
skills: [base]
blackboard:
  low: {type: boolean, default: false}
root:
  fallback:
    - sequence:
        name: charge
        when: low
        children:
          - go: dock
          - log: charged
    - sequence:
        name: work
        children:
          - go: hall
          - tree: door
          - wait: 1
    - py: {class: py_trees.behaviours:Failure}
"""
DOOR = "version: 1\ntree: door\nroot:\n  fallback:\n    - check: 1 > 2\n    - log: open\n"
BASE = "version: 1\nskills: base\nimpl: base.py:go\nkinds:\n  go: {params: {place: string}}\n"
PYTHON = "def go(place):\n    raise AssertionError(place)\n"
TESTS = """\
import pytest
from bt_runtime.testing import FAILURE, RUNNING, SUCCESS, Trial

def test_works(run_tree):
    run_tree("main", skills={"go": SUCCESS})

@pytest.mark.parametrize("act", [FAILURE, RUNNING])
def test_of_a_robot_whose_battery_is_low(run_tree, act):
    run_tree("main", seconds=0, skills={"go": act}, inputs={"low": True}).tick()
"""


@pytest.fixture
def robot(tmp_path, monkeypatch):
    files = {"trees/main.yaml": MAIN, "trees/door.yaml": DOOR, "skills/base.yaml": BASE, "skills/base.py": PYTHON}
    for name, text in {**files, "tests/test_main.py": TESTS, "btr.yaml": ""}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def collected(monkeypatch):
    found = coverage.Coverage()
    monkeypatch.setattr(coverage, "current", found)
    return found


def rows(found: coverage.Coverage, name: str = "main") -> dict[int, coverage.CoverageRow]:
    tree = Loader().file(f"trees/{name}.yaml").sound()
    return {row.place.line: row for row in coverage.covered(tree, found.seen).rows}


def test_each_result_with_which_a_node_was_seen_counts_by_its_file_and_line(robot, collected):
    with Trial("main", skills={"go": SUCCESS}) as trial:
        trial.finish()
    with Trial("main", skills={"go": [FAILURE]}, inputs={"low": True}) as trial:
        trial.finish()
    with Trial("main", skills={"go": RUNNING}, inputs={"low": True}) as trial:
        trial.tick()
        trial.board["low"] = False
        trial.tick()
    seen = {line: row.seen for line, row in rows(collected).items()}
    assert seen[8] == {"skipped", "failure", "running", "halted"}  # charge, and the guard around it
    assert seen[12] == {"failure", "running", "halted"}
    assert seen[13] == frozenset()
    assert seen[17] == {"success", "failure", "running", "halted"}
    assert seen[18] == {"success"}
    assert seen[20] == {"failure"}  # a py_trees behaviour
    assert {line: row.lacks for line, row in rows(collected, "door").items()} == {
        4: "",
        5: "never ended with success",
        6: "",
    }


def test_what_cannot_happen_is_not_missed(robot, collected):
    with Trial("main", skills={"go": SUCCESS}) as trial:
        trial.finish()
    found = rows(collected)
    assert found[19].missing == []  # time passes whatever happens
    assert found[18].missing == []  # the subtree always succeeds
    assert found[8].lacks == "always skipped"
    assert found[17].lacks == "never ended with failure"


def test_what_other_processes_saw_adds_up(robot, collected):
    with Trial("main", skills={"go": SUCCESS}) as trial:
        trial.finish()
    other = coverage.Coverage()
    other.add(json.loads(json.dumps(collected.data())))
    assert other.data() == collected.data() != []


def run_pytest(*words: str) -> subprocess.CompletedProcess[str]:
    root = str(Path(__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": root, "PYTEST_ADDOPTS": ""}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=900, env=environment, check=False)


def test_pytest_says_what_was_never_reached_and_fails_under_a_bound(robot, capsys):
    ended = run_pytest("--btr-cov", "--btr-cov-fail-under", "90", "--btr-cov-page", "cov.jsonl")
    assert ended.returncode == 1, ended.stdout
    said = ended.stdout
    assert "trees/door.yaml          3 of 3         3 of 4   75 %" in said
    assert "trees/main.yaml:13: log never reached" in said
    assert "trees/main.yaml:12: go never ended with success" in said
    assert "FAIL" in said and "% of the results were seen, and 90 % are asked for" in said
    assert main(["view", "cov.jsonl", "--html", "cov.html"]) == 0
    page = (robot / "cov.html").read_text()
    assert "never reached" in page and "line 13" in page


@pytest.mark.skipif(find_spec("xdist") is None, reason="pytest-xdist is not installed")
def test_processes_of_xdist_are_added_up(robot):
    ended = run_pytest("--btr-cov=trees/main.yaml", "-n", "2")
    assert ended.returncode == 0, ended.stdout
    assert re.search(r"^trees/main.yaml +8 of 9 +\d+ of \d+", ended.stdout, re.MULTILINE)
    assert "trees/main.yaml:13: log never reached" in ended.stdout and "trees/door.yaml" not in ended.stdout


def test_the_page_shows_each_tree_with_a_colour_for_each_node(robot, collected):
    with Trial("main", skills={"go": SUCCESS}) as trial:
        trial.finish()
    files = [coverage.covered(Loader().file(f"trees/{name}.yaml").sound(), collected.seen) for name in ("main", "door")]
    start, shape, tick, *lines = coverage.events(files)
    assert start["k"] == "start" and lines[-1]["k"] == "over"
    by_line = {(row[6], row[3]): row[0] for row in shape["add"]}
    colours = {number: tuple(told) for number, *told in tick["s"]}
    assert start["is"] == "coverage" and [file["name"] for file in start["files"]] == [each.tree.name for each in files]
    roots = [row[0] for row in shape["add"] if row[1] == 0]
    assert [file["id"] for file in start["files"]] == roots and start["percent"] == coverage.percent(files)
    assert colours[by_line["line 13", "log"]] == ("F", "never reached")
    assert colours[by_line["line 19", "wait"]] == ("S", "success, running")
    assert colours[by_line["line 17", "go"]] == ("R", "success; never ended with failure")

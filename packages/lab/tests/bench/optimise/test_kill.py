"""SIGKILL at any moment: no version is lost, none is half written, and the same command goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bt_lab.optimise import plan_versions
from bt_runtime.language.guide import Guide

ROOT = Path(__file__).parents[5]


def go(folder: Path, what: str = "", number: int = 0) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "packages.lab.tests.bench.optimise.killed", str(folder), what, str(number)]
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=900)


@pytest.mark.parametrize(("what", "number"), [("question", 7), ("write", 3)])
def test_killed_again_and_again_it_ends_with_the_versions_of_a_run_that_was_not(tmp_path, what, number):
    whole = go(tmp_path / "whole")
    assert whole.stdout.split()[1:] == ["4", "True"], whole.stderr
    folder, known, kills = tmp_path / "killed", {}, 0
    while True:
        done = go(folder, what, number)
        kept = {v.iteration: v.guide for v in plan_versions.versions(folder)}  # raises for one that is half written
        assert all(kept[n].text == guide.text for n, guide in known.items())
        assert all(guide.header.items() <= kept[n].header.items() for n, guide in known.items())
        known = kept
        if done.returncode == 0:
            break
        assert done.returncode == -9 and kills < 30, done.stderr
        kills += 1
        number += what == "question"  # a round has more questions than that, and would never end
    assert kills >= 3
    assert [(v.iteration, v.guide) for v in plan_versions.versions(folder)] == [
        (v.iteration, v.guide) for v in plan_versions.versions(tmp_path / "whole")
    ]


def test_a_score_that_cannot_be_written_leaves_the_version_as_it_was(tmp_path, monkeypatch):
    path = plan_versions.keep(tmp_path, 1, Guide("1. Go.", {"version": 1}))
    before = path.read_text()

    def refused(self, target):
        raise OSError("no space left")

    monkeypatch.setattr(Path, "replace", refused)
    with pytest.raises(OSError, match="no space"):
        plan_versions.keep(tmp_path, 1, Guide("1. Go.", {"version": 1, "validation": {"reached": 1, "of": 2}}))
    assert path.read_text() == before


def test_a_draft_that_a_kill_left_is_no_version(tmp_path):
    (tmp_path / ".1.md.part").write_text("---\nver")
    assert plan_versions.versions(tmp_path) == []

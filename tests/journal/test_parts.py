"""What rooms add to a run's manifest: each registers a part, and a stranger's package as ours."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bt_runtime import BtError, Run, load
from bt_runtime.events import Line
from bt_runtime.journal import Recording, parts, resume
from bt_runtime.testing import SUCCESS
from tests.plugged import plug

PART = '''
from typing import NamedTuple

from bt_runtime.journal.parts import JournalPart, Kept


class Gust(NamedTuple):
    speed: float


class Wind(JournalPart):
    """The wind that a run began in; it blows as it did when the run goes on."""

    values = (Gust,)

    def kept(self, run, given):
        return Kept({"wind": run.context.services.given.get("wind", 0)})

    def check(self, head):
        if not isinstance(head.get("wind"), int):
            raise ValueError("no wind")

    def wrap(self, run, tape, head):
        run.context.blackboard.root["wind"] = head["wind"]
        run.context.blackboard.root["gust"] = Gust(head["wind"] * 1.5)


WIND = Wind()
'''
TREE = "version: 1\ntree: t\nblackboard: {wind: {type: integer, default: -1}}\nroot: {wait: 5}\n"
GOES_ON = """
import sys
from bt_runtime.journal import Recording
from bt_runtime.journal import resume

with resume(sys.argv[1], services={"wind": 0}, changed=True) as run:
    print(run.parts.context.blackboard.root["wind"], run.parts.context.blackboard.root["gust"])
"""


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    folder = plug(monkeypatch, tmp_path / "site", "weather-1.0", {"journal": {"wind": "weather_part:WIND"}})
    (folder / "weather_part.py").write_text(PART)
    return folder


def cut_off(folder: Path) -> Path:
    """The journal of a run that was closed before its end."""
    with Run(load(TREE), journal=folder / "runs", services={"wind": 7}) as run:
        run.tick()
    assert run.parts.journal is not None and run.parts.journal.path is not None
    return run.parts.journal.path


def test_a_stranger_s_part_is_kept_checked_and_given_back_in_a_fresh_process(site: Path, tmp_path: Path) -> None:
    """What the part kept is in the head; another process that has the package goes on with it."""
    path = cut_off(tmp_path)
    assert Recording(path).head["wind"] == 7
    script = tmp_path / "go.py"
    script.write_text(GOES_ON)
    told = subprocess.run(
        [sys.executable, script, path], capture_output=True, text=True, env={"PYTHONPATH": str(site)}, cwd=tmp_path
    )
    assert told.stdout.strip() == "7 Gust(speed=10.5)", told.stderr


def test_a_head_that_a_part_refuses_is_not_read(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A journal is untrusted: what a part finds wrong with its own fields is damage of the head."""
    path = cut_off(tmp_path)
    part = parts.registered().parts["wind"]
    monkeypatch.setattr(type(part), "check", lambda self, head: (_ for _ in ()).throw(ValueError("no wind")))
    with pytest.raises(BtError, match="no wind"):
        Recording(path)


def test_a_field_that_another_part_keeps_is_refused_before_the_run(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = parts.registered().parts["wind"]
    monkeypatch.setattr(type(part), "kept", lambda self, run, given: parts.Kept({"world": 1}))
    with pytest.raises(BtError, match="`world`"):
        Run(load(TREE), journal=tmp_path / "runs")


def test_a_part_that_cannot_be_loaded_is_told_of_and_the_run_is_recorded_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plug(monkeypatch, tmp_path / "site", "broken-1.0", {"journal": {"wind": "no_such_part:WIND"}})
    with Run(load("version: 1\ntree: t\nroot: {log: hello}\n"), journal=tmp_path / "runs") as run:
        assert any("no_such_part" in line.text for line in run._unheard if isinstance(line, Line))
        assert run.spin() is SUCCESS


def test_a_journal_of_a_machine_with_another_part_is_read_without_it(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = cut_off(tmp_path)
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each != str(site)])
    assert "wind" not in parts.registered().parts
    with resume(path, services={"wind": 0}, changed=True) as run:
        assert run.parts.context.blackboard.root["wind"] == -1

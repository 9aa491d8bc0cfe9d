"""What an earlier version has written is read by this one: a folder for each version, made once (`keep.py`)."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bt_runtime as bt
from bt_runtime._version import __version__
from bt_runtime.clock import Manual
from bt_runtime.journal import Recording, replay, resume
from bt_runtime.memory import Episodes

HERE = Path(__file__).parent
KEPT = sorted(path for path in HERE.iterdir() if path.is_dir() and path.name[0].isdigit())


def btr(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "bt_runtime.cli", *words], capture_output=True, text=True)


@pytest.fixture(params=KEPT, ids=lambda path: path.name)
def kept(request, tmp_path, monkeypatch) -> Path:
    """The files of one version, copied: what is read here is never written."""
    folder = Path(shutil.copytree(request.param, tmp_path / "kept"))
    monkeypatch.chdir(folder)
    return folder


def test_this_version_has_kept_its_files():
    assert ".".join(__version__.split(".")[:2]) in {path.name for path in KEPT}


def test_every_tree_and_manifest_is_without_fault(kept):
    trees = sorted(kept.glob("trees/*.yaml"))
    assert len([path for path in trees if path.name.startswith("kind_")]) > 40
    for path in trees:
        bt.load(path)


@pytest.mark.parametrize("name", ["finished", "grown", "stopped", "asked"])
def test_every_journal_is_replayed_as_it_was(kept, name):
    found = replay(kept / "journals" / f"{name}.btr")
    assert found.same and found.ticks, found


def test_a_run_that_was_stopped_goes_on_from_the_state_that_it_kept(kept):
    path = kept / "journals" / "stopped.btr"
    assert any(event.kind == "state" for event in Recording(path).events)
    with resume(path, clock=Manual(), changed=True) as run:
        assert run.parts.journal.recording.begins is not None
        assert run.blackboard["battery"] == 0.5
        assert run.spin() is bt.Status.SUCCESS and run.outputs == {"seen": 2}


def test_a_memory_gives_back_what_it_was_given(kept):
    with Episodes.open(kept / "memory.sqlite", "hashing") as memory:
        (found,) = memory.retrieve("find a cup", budget=800, k=1).taken
        assert "You see cup (1)" in found.text


def test_an_evaluation_is_shown_as_it_was(kept):
    done = btr("lab", "eval", "show", "evaluation", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert "oracle-react" in json.dumps(json.loads(done.stdout))

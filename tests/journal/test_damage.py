"""A damaged or truncated journal goes on from its last whole decision, or says why not."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import sqlite3
import sys
from pathlib import Path

import pytest

from bt_runtime import BtError, Run, load
from bt_runtime.agents import ScriptedModel
from bt_runtime.clock import Manual
from bt_runtime.journal import Recording, repair, replay, resume
from bt_runtime.journal.reading import DECIDED
from bt_runtime.journal.repair import rebuild
from bt_runtime.journal.store import JournalLimits
from bt_runtime.plugins import open_suite
from bt_runtime.run.replay.resume import CannotResume
from bt_runtime.testing import SUCCESS
from tests.journal import errand


@pytest.fixture
def whole(errand_of) -> Path:
    return errand_of("textcraft", 20)


def go_on(path: Path) -> Run:
    task = open_suite("textcraft").tasks(20, 1)[0]
    site = errand.Site("textcraft", path.parent, lasting=False)
    model = ScriptedModel(errand.script(site, errand.oracle("textcraft", task)), 1)
    return resume(path, world=site, model=model, clock=Manual())


def test_any_byte_changed_or_cut_off_goes_on_or_is_said(whole, tmp_path):
    """Whatever is broken: the run reaches its goal from what is whole, or one clear fault says that it cannot."""
    data, draw, outcomes = whole.read_bytes(), random.Random(5), {"went on": 0, "said why": 0}
    for number in range(40):
        path = tmp_path / f"broken{number}.btr"
        if number % 2:
            path.write_bytes(data[: draw.randrange(len(data))])
        else:
            at = draw.randrange(100, len(data) - 64)
            path.write_bytes(data[:at] + draw.randbytes(draw.choice((1, 8, 64))) + data[at + 64 :])
        try:
            with go_on(path) as run:
                status = run.status if run.status is SUCCESS else run.spin(ticks=5000)
                assert status is SUCCESS
                assert run.parts.context.services.world.inner.verdict().met == 1
            outcomes["went on"] += 1
        except BtError as error:
            assert error.message and error.hint, error
            outcomes["said why"] += 1
    assert min(outcomes.values()) >= 3, outcomes


def damaged(path: Path, change: str, *what: object) -> Recording:
    connection = sqlite3.connect(path)
    connection.execute(change, what)
    connection.commit()
    connection.close()
    return Recording(path)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_a_row_that_was_changed_ends_what_is_believed_at_the_decision_before_it(whole, share):
    seq = int(len(Recording(whole).events) * share)
    recording = damaged(whole, "UPDATE events SET body = '{}' WHERE seq = ?", seq)
    assert recording.damage == f"event {seq} is damaged"
    assert recording.events[-1].kind in DECIDED and recording.events[-1].seq < seq
    assert replay(whole).same
    with go_on(whole) as run:
        assert run.spin(ticks=5000) is SUCCESS
    assert not Recording(whole).damage and replay(whole).same


def test_a_row_that_is_missing_shows(whole):
    assert damaged(whole, "DELETE FROM events WHERE seq = 9").damage == "event 9 is damaged"


def test_a_prompt_that_was_changed_shows(whole):
    assert damaged(whole, "UPDATE texts SET rest = 'other' WHERE id = 1").damage


def test_a_file_that_is_no_journal_is_said_to_be_none(tmp_path):
    for name, data in (("a.btr", b""), ("b.btr", b"x" * 5000), ("c.btr", b"SQLite format 3\0" + b"\0" * 5000)):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(BtError, match="journal"):
            Recording(tmp_path / name)


def test_when_deeds_outlive_the_run_a_damaged_journal_is_not_gone_on_from(tmp_path):
    task = open_suite("textcraft").tasks(20, 1)[0]
    site = errand.Site("textcraft", tmp_path, lasting=True)
    site.reset(task)
    model = ScriptedModel(errand.script(site, errand.oracle("textcraft", task)))
    runs = tmp_path / "runs"
    with Run(load("reactree"), inputs={"goal": task.goal}, world=site, task=task, model=model, journal=runs) as run:
        run.spin(hz=500, ticks=5000)
    damaged(run.parts.journal.path, "UPDATE events SET body = '{}' WHERE seq = 40")
    with pytest.raises(CannotResume, match="outlive"):
        resume(run.parts.journal.path, world=site, model=model)


@pytest.mark.parametrize(
    "change",
    ["UPDATE ticks SET changes = '1F' WHERE tick = 4", "UPDATE nodes SET name = 'x' WHERE number = 2"],
)
def test_a_status_or_a_name_that_was_changed_keeps_no_lasting_world_from_going_on(tmp_path, change):
    """What was done is told by the events: while they are whole, a resume knows it to the end, and repeats nothing."""
    task = open_suite("textcraft").tasks(20, 1)[0]
    site = errand.Site("textcraft", tmp_path, lasting=True)
    site.reset(task)
    model = ScriptedModel(errand.script(site, errand.oracle("textcraft", task)), 1)
    given = {"inputs": {"goal": task.goal}, "world": site, "task": task, "model": model}
    with Run(load("reactree"), clock=Manual(), journal=tmp_path / "runs", **given) as run:
        for _ in range(14):
            run.tick()
    before = len(Recording(run.parts.journal.path).events)
    found = damaged(run.parts.journal.path, change)
    assert found.damage and not found.torn and len(found.events) == before
    with resume(run.parts.journal.path, world=site, model=model, clock=Manual()) as going:
        assert going.spin(ticks=5000) is SUCCESS
    assert not Recording(run.parts.journal.path).damage


def test_a_journal_is_whole_or_damaged_whenever_its_rebuilding_is_killed(whole):
    """At every call that changes the folder: what a resume finds then is all that was whole before."""
    with contextlib.closing(sqlite3.connect(whole)) as writing:
        writing.execute("PRAGMA journal_mode = WAL")
        writing.execute("UPDATE events SET body = '{}' WHERE seq = 40")
        writing.commit()
        source = {beside: Path(f"{whole}{beside}").read_bytes() for beside in ("", "-wal")}
    kept, steps = Recording(whole).events, 0
    assert len(source["-wal"]) and kept[-1].seq < 40
    for step in range(1, 100):
        case = whole.parent / f"case{step}"
        case.mkdir()
        path = case / whole.name
        for beside, data in source.items():
            Path(f"{path}{beside}").write_bytes(data)
        ended = killed_at(step, path)
        found = rebuilt_or_not(path)
        assert found.events == kept, step
        assert path.with_suffix(".damaged").exists() or found.damage, step
        if ended:
            left = {p.suffix for p in case.iterdir()}
            assert not found.damage and left - {".damaged-shm"} == {".btr", ".damaged", ".damaged-wal"}
            break
        steps += 1
    assert steps >= 6


def killed_at(step: int, path: Path) -> bool:
    """Rebuilds it in a process that dies before its so manieth change of the folder; has it come to its end?"""
    child = os.fork()
    if child == 0:
        left = [step]

        def before(event: str, args: object) -> None:
            if event in ("os.remove", "os.rename", "os.link"):
                left[0] -= 1
                if not left[0]:
                    os._exit(9)

        sys.addaudithook(before)
        rebuild(Recording(path), path, JournalLimits())
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def rebuilt_or_not(path: Path) -> Recording:
    """As a resume begins."""
    repair.ended(path)
    return Recording(path)


def test_a_world_that_does_not_repeat_itself_is_said_to_differ(errand_of, tmp_path):
    path = errand_of("textcraft", 20, ticks=14)
    task = open_suite("textcraft").tasks(20, 1)[0]
    site = errand.Site("textcraft", tmp_path, lasting=False)
    act = site.act
    site.act = lambda sentence: act(sentence)._replace(text="something else")  # type: ignore[method-assign]
    with pytest.raises(CannotResume, match="does not repeat itself"):
        resume(path, world=site, model=ScriptedModel(errand.script(site, errand.oracle("textcraft", task))))


def test_a_copy_of_a_running_journal_can_be_read(whole, tmp_path):
    copy = tmp_path / "copy.btr"
    shutil.copy(whole, copy)
    assert Recording(copy).result == "SUCCESS"

"""A journal that cannot be written: what may not be repeated does not begin without its record; all ends."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from bt_runtime import BtError, Run, Skill, load, skill
from bt_runtime.cli import main
from bt_runtime.clock import Manual
from bt_runtime.events import Line, Notice
from bt_runtime.journal import Recorder, Recording, folder, outage, resume
from bt_runtime.journal.outage import FailureMarker, WriteFailure
from bt_runtime.journal.store import JournalLimits, JournalStore
from bt_runtime.journal.summary import summary
from bt_runtime.language.manifest import parse
from bt_runtime.run.replay.resume import CannotResume
from bt_runtime.skills.skill import kind_of
from bt_runtime.testing import FAILURE, RUNNING, SUCCESS
from tests.journal import deeds
from tests.journal.disk import shim

ALL = [f"{deeds.KINDS[n % 3]} {n}" for n in range(deeds.COUNT)]
REAL = ("file size", "full disk", "lock")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shim(tmp_path_factory.mktemp("shim"))


@pytest.fixture
def small_disk(tmp_path: Path):
    """A file system of its own that can be filled."""
    place = tmp_path / "small"
    place.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=512k", "none", str(place)]
    if os.geteuid() != 0 or subprocess.run(words, capture_output=True, timeout=900).returncode:
        pytest.skip("needs leave to mount a file system")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True, timeout=900)


def carried_out(where: Path, cause: str, until: str, library: Path | None, policy: str = "required"):
    around = {} if library is None else {
        "LD_PRELOAD": str(library), "DISK_ROOT": str(where), "DISK_FAULT": str(where.parent / "fault"),
    }  # fmt: skip
    words = [sys.executable, deeds.__file__, str(where), policy, cause, until]
    done = subprocess.run(words, env={**os.environ, **around}, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0 and done.stdout == "SUCCESS\n", done.stderr
    (journal,) = (where / "runs").glob("*.btr")
    return journal, done.stderr


def deeds_in(where: Path) -> list[str]:
    return (where / "done").read_text().splitlines()


def gone_on(journal: Path, where: Path) -> None:
    skills = [k.data["python"] for k in deeds.tree(where / "done").kinds]
    with resume(journal, skills=skills) as run:
        assert run.status is SUCCESS or run.spin(seconds=60) is SUCCESS


@pytest.mark.parametrize("cause", [*deeds.FAULTS, *REAL])
def test_whatever_keeps_the_journal_from_being_written_nothing_careful_is_done_twice(cause, library, tmp_path, request):
    where = request.getfixturevalue("small_disk") if cause == "full disk" else tmp_path / "there"
    where.mkdir(exist_ok=True)
    journal, said = carried_out(where, cause, "lasting", library if cause in deeds.FAULTS else None)
    assert "Traceback" not in said
    if cause == "full disk" and "cannot be written" not in said:
        assert deeds_in(where) == ALL and summary(journal).state == "SUCCESS"  # its own files had room for the rest
        return
    assert "cannot be written: " in said
    first = deeds_in(where)
    careful = [deed for deed in first if not deed.startswith("again")]
    allowed = [d for d in ALL[: deeds.FROM + 1] if not d.startswith("again")]
    if cause == "full disk":  # its own files had room for some of the rest
        allowed = [d for d in ALL if not d.startswith("again")][: max(len(allowed), len(careful))]
    assert careful == allowed, "begun without a record"
    told = summary(journal)
    assert told.state == "broken" and "the run ended SUCCESS, unrecorded" in told.why
    gone_on(journal, where)
    after = deeds_in(where)
    assert set(after) == set(ALL) and all(after.count(d) == 1 for d in ALL if not d.startswith("again"))
    assert summary(journal).state == "SUCCESS" and not outage.marker_of(journal).exists()


@pytest.mark.parametrize("cause", [c for c in (*deeds.FAULTS, *REAL) if c != "no sync"])
def test_when_it_can_be_written_again_the_record_has_no_hole(cause, library, tmp_path, request):
    where = request.getfixturevalue("small_disk") if cause == "full disk" else tmp_path / "there"
    where.mkdir(exist_ok=True)
    journal, said = carried_out(where, cause, "cured", library if cause in deeds.FAULTS else None)
    assert "can be written again: nothing is missing" in said or (cause == "full disk" and not said)
    assert deeds_in(where) == ALL
    assert Recording(journal).result == "SUCCESS" and not Recording(journal).damage
    assert summary(journal).state == "SUCCESS" and not outage.marker_of(journal).exists()


def test_the_list_of_runs_says_where_a_journal_breaks_off(library, tmp_path, capsys):
    where = tmp_path / "there"
    where.mkdir()
    journal, _ = carried_out(where, "no sync", "lasting", library)
    assert main(["runs", "list", "--runs", str(where / "runs")]) == 0
    said = capsys.readouterr().out
    assert "broken" in said and f"{journal.stem}: broken at tick" in said and "ended SUCCESS, unrecorded" in said
    assert main(["runs", "list", "--json", "--runs", str(where / "runs")]) == 0
    assert json.loads(capsys.readouterr().out)[0]["state"] == "broken"
    assert main(["runs", "rm", journal.stem, "--runs", str(where / "runs")]) == 0
    assert not list((where / "runs").iterdir())


# In one process: the store says no, for as long as a test wants ---------------------------------

TREE = "version: 1\ntree: t\nroot:\n  sequence: [wait: 1, drill: 7]\n"


def drill_into(done: list[int]) -> type[Skill]:
    @skill("drill {hole}", name="drill")
    class Drill(Skill):
        def start(self, hole: int) -> None:
            done.append(hole)

        def poll(self):
            return SUCCESS

    return Drill


def refusing(run: Run, error: Exception | None = None) -> threading.Event:
    """The store refuses from now on; the event is set when it has."""
    refused = threading.Event()

    def fail(*args):
        refused.set()
        raise error or sqlite3.OperationalError("database or disk is full")

    run.parts.journal.tape.writer.store.commit = fail
    return refused


def begun(runs: Path, done: list[int], said: list[str], patience: float = 0.0, **how) -> Run:
    recorder = Recorder(runs, limits=JournalLimits(patience=patience), **how)
    tree = load(TREE, skills=[drill_into(done)])
    run = Run(tree, clock=Manual(), journal=recorder)
    run.listen(lambda line: said.append(line.text), Line, Notice)
    run.tick()
    run.parts.journal.tape.writer.durable().wait(60)
    return run


def drilled(run: Run):
    """Ticks until the skill has ended."""
    run.parts.context.clock.inner.advance(2)
    while run.tick().running:
        run.parts.journal.tape.writer.durable().wait(60)
    return run.status


def test_the_tick_never_waits_for_the_journal_and_careful_skills_fail_in_words_at_last(runs):
    done: list[int] = []
    said: list[str] = []
    run = begun(runs, done, said)
    refused = refusing(run)
    for _ in range(50):
        assert run.tick().running
    assert refused.wait(60)
    assert drilled(run) is FAILURE and not done
    assert (
        run.parts.engine.root.children[1].feedback_message
        == "not begun: the journal cannot be written: database or disk is full"
    )
    run.close()
    assert said[0].endswith("database or disk is full; skills that may not be repeated wait")
    assert outage.marked(run.parts.journal.path) == WriteFailure(1, "database or disk is full", False, "FAILURE", True)


def test_by_best_effort_the_run_goes_on_and_cannot_be_resumed(runs):
    done: list[int] = []
    said: list[str] = []
    run = begun(runs, done, said, policy="best_effort")
    refused = refusing(run)
    run.tick()
    assert refused.wait(60)
    assert drilled(run) is SUCCESS and done == [7]
    run.close()
    assert outage.marked(run.parts.journal.path).careful
    with pytest.raises(CannotResume, match=r"broken at tick 1 .*began after that, unrecorded"):
        resume(run.parts.journal.path, skills=[drill_into(done)], clock=Manual())


def test_where_not_even_the_mark_can_be_written_best_effort_begins_nothing_careful(runs):
    done: list[int] = []
    run = begun(runs, done, [], policy="best_effort")
    writer = run.parts.journal.tape.writer
    os.close(writer.mark.file)
    writer.mark.file = None
    refused = refusing(run)
    run.tick()
    assert refused.wait(60)
    assert drilled(run) is FAILURE and not done
    run.close()


def test_what_waits_is_bounded_and_beyond_that_the_record_ends(runs, monkeypatch):
    monkeypatch.setattr("bt_runtime.journal.writer.WAITING", 10_000)
    said: list[str] = []
    run = begun(runs, [], said, patience=60)
    writer = run.parts.journal.tape.writer
    refused = refusing(run)
    for _ in range(200):
        run.tick()
    assert refused.wait(60)
    while not writer.broken:
        run.tick()
        writer.durable().wait(0.01)
    assert not writer.durable().wait(60) and not writer.waiting
    run.close()
    assert "ends at tick 1" in said[-1]


def stalled(run: Run) -> threading.Event:
    """A disk that takes nothing until the event is set."""
    goes_on = threading.Event()
    commit = run.parts.journal.tape.writer.store.commit
    run.parts.journal.tape.writer.store.commit = lambda *args: goes_on.wait(60) and commit(*args)
    return goes_on


def test_a_slow_disk_slows_ticks_between_two_and_the_run_says_so(runs, monkeypatch):
    for name, value in (("ROOM", 2000), ("MOST_WAIT", 0.001), ("SLOWED", 1e-9)):
        monkeypatch.setattr(f"bt_runtime.journal.writer.{name}", value)
    said: list[str] = []
    run = begun(runs, [], said)
    goes_on = stalled(run)
    for _ in range(30):
        assert run.tick().running
    goes_on.set()
    run.close()
    assert [text for text in said if "ticks wait for the journal" in text] == said
    assert len(said) == 1 and run.parts.journal.tape.writer.slowed > 0
    found = Recording(run.parts.journal.path)
    assert not found.damage and found.last_tick == 31


def test_what_waits_for_a_disk_that_answers_nothing_is_bounded_and_beyond_that_the_record_ends(runs, monkeypatch):
    for name, value in (("ROOM", 2000), ("MOST_WAIT", 0.0), ("WAITING", 20_000)):
        monkeypatch.setattr(f"bt_runtime.journal.writer.{name}", value)
    said: list[str] = []
    run = begun(runs, [], said)
    writer, goes_on = run.parts.journal.tape.writer, stalled(run)
    for _ in range(1000):
        assert run.tick().running
    assert writer.noted - writer.taken < 21_000 and len(writer.queue) < 200
    assert not writer.durable().wait(0)
    goes_on.set()
    run.close()
    assert "wait to be written" in said[-1] and "ends at tick" in said[-1]
    found = Recording(run.parts.journal.path)
    assert 1 < found.last_tick < 200 and outage.marked(run.parts.journal.path).final


def test_a_run_whose_journal_cannot_be_begun_does_not_begin(runs, monkeypatch):
    def fail(*args):
        raise sqlite3.OperationalError("database or disk is full")

    for name in ("commit", "_create"):
        monkeypatch.setattr(JournalStore, name, fail, raising=False)
    with pytest.raises(BtError, match=r"cannot be written.*database or disk is full"):
        begun(runs, [], [])


def test_what_was_written_without_haste_is_synced_before_a_ticket_is_done(runs):
    run = begun(runs, [], [])
    writer = run.parts.journal.tape.writer
    committed, commit = threading.Event(), writer.store.commit
    writer.store.commit = lambda *args: (commit(*args), committed.set())
    run.tick()
    writer.wanted.set()
    assert committed.wait(60) and not writer.store.synced
    assert writer.durable().wait(60) and writer.store.synced
    run.close()


def test_a_mark_that_cannot_be_read_is_believed_to_say_the_worst(tmp_path):
    journal = tmp_path / "a.btr"
    one = FailureMarker(journal)
    assert outage.marked(journal) is None
    assert one.say(WriteFailure(3, "no space", ended="FAILURE")) and outage.marked(journal) == WriteFailure(
        3, "no space", ended="FAILURE"
    )
    one.close()
    text = outage.marker_of(journal).read_bytes()
    for place in range(0, len(text.rstrip()), 7):
        outage.marker_of(journal).write_bytes(text[:place] + bytes([text[place] ^ 4]) + text[place + 1 :])
        assert outage.marked(journal) == outage.UNREADABLE
    outage.marker_of(journal).write_bytes(text)
    again = FailureMarker(journal)
    assert again.said == WriteFailure(3, "no space", ended="FAILURE") and again.say(None)
    again.close()
    assert not outage.marker_of(journal).exists()


def test_a_clean_run_leaves_one_file(record, runs):
    record("version: 1\ntree: t\nroot: {succeed: {}}\n").tick()
    assert len(list(runs.glob("*.mark"))) == 1
    for path in folder.journals(runs):
        assert outage.marked(path) is None


# How a skill ends -----------------------------------------------------------------------------


@pytest.mark.parametrize("durable", [None, False])
def test_a_careful_skill_is_told_to_have_ended_once_that_is_on_the_disk(durable, runs):
    done: list[str] = []

    @skill("drill", name="drill", on_resume="fail", durable=durable)
    class Drill(Skill):
        def start(self):
            done.append("start")

        def poll(self):
            done.append("ended")
            return SUCCESS

    run = Run(load("version: 1\ntree: t\nroot:\n  drill: {}\n", skills=[Drill]), clock=Manual(), journal=runs)
    writer = run.parts.journal.tape.writer
    run.tick()
    assert writer.durable().wait(60)
    held, commit = threading.Event(), writer.store.commit
    writer.store.commit = lambda *args: (held.wait(60), commit(*args))[1]
    run.tick()
    if durable is False:
        assert run.status is SUCCESS
    else:
        for _ in range(5):
            assert run.tick().running
    held.set()
    assert writer.durable().wait(60)
    if durable is None:
        run.tick()
    assert run.status is SUCCESS and done == ["start", "ended"]
    run.close()


def test_what_had_ended_and_was_told_to_nobody_is_told_when_the_run_goes_on(runs):
    from tests.support.abandoned import abandoned

    done: list[int] = []
    run = begun(runs, done, [], patience=60)
    run.parts.context.clock.inner.advance(2)
    while not done:
        run.tick()
        run.parts.journal.tape.writer.durable().wait(60)
    assert run.status is RUNNING and run.parts.engine.root.children[1].status is RUNNING
    path = abandoned(run)
    with resume(path, skills=[drill_into(done)], clock=Manual()) as again:
        while again.status is RUNNING:
            again.tick()
            again.parts.journal.tape.writer.durable().wait(60)
        assert again.status is SUCCESS and done == [7]
    from bt_runtime.journal import replay

    assert replay(path).same


def test_an_end_that_raises_is_held_back_and_raised_again(runs):
    @skill("burst", name="burst")
    def burst() -> None:
        raise ValueError("it burst")

    tree = "version: 1\ntree: t\nroot:\n  burst: {}\n"
    with Run(load(tree, skills=[burst]), journal=runs) as run:
        assert run.spin(seconds=60) is FAILURE
    assert any(e.kind == "told" for e in Recording(run.parts.journal.path).events)
    from bt_runtime.journal import replay

    assert replay(run.parts.journal.path).same


# What holds without a word ----------------------------------------------------------------------


def test_without_a_word_nothing_is_done_twice():
    text = (
        "version: 1\nskills: s\nkinds:\n"
        "  a: {}\n  b: {brings: [it is so]}\n  c: {on_resume: repeat}\n  d: {on_resume: repeat, durable: true}\n"
        "  e: {on_resume: fail, durable: false}\n  f: {durable: 3}\n"
    )
    found = parse(text)
    held = {k.name: (k.data["entry"].on_resume, k.data["entry"].durable, k.data["entry"].said) for k in found.kinds}
    assert held == {
        "a": ("fail", True, False), "b": ("verify", True, False), "c": ("repeat", False, True),
        "d": ("repeat", True, True), "e": ("fail", False, True), "f": ("fail", True, False),
    }  # fmt: skip
    assert [d.message for d in found.diagnostics] == ["`durable` of `f` is true or false, not `3`"]

    def plain() -> None: ...

    class Blind(Skill): ...

    class Seeing(Skill):
        def verify(self) -> bool | None:
            return True

    assert [kind_of(k).data["entry"].on_resume for k in (plain, Blind, Seeing)] == ["fail", "fail", "verify"]


def test_validate_says_what_holds_for_skills_that_leave_it_open(tmp_path, capsys):
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "arm.yaml").write_text(
        "version: 1\nskills: arm\nkinds:\n  wave: {}\n  lift: {brings: [it is up]}\n"
        "  beep: {on_resume: repeat}\n  keep: {impl: memory}\n"
    )
    assert main(["validate", str(tmp_path), "--strict"]) == 0
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2 and said[0].endswith("after an interruption wave fails, lift is verified")

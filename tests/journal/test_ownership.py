"""A journal has one writer and one file, also where the file system's locks do not hold or the file is removed."""

from __future__ import annotations

import errno
import fcntl

import pytest

from bt_runtime import BtError, Run, load, skill
from bt_runtime.cli import main
from bt_runtime.clock import Manual
from bt_runtime.journal import Recorder, Recording, folder, lock, resume
from bt_runtime.journal.layout import Event
from bt_runtime.journal.lock import Lock
from bt_runtime.journal.outage import Gone, Overtaken
from bt_runtime.journal.store import JournalLimits, JournalStore, RowBatch
from bt_runtime.run.replay.resume import CannotResume
from bt_runtime.testing import FAILURE
from tests.support.abandoned import TREE, abandoned, drilling


def one(seq: int) -> RowBatch:
    return RowBatch([Event(seq, 1, 0.0, "log", "{}")])


def test_a_process_that_was_overtaken_writes_nothing_more_whatever_it_tries(tmp_path):
    """Each transaction looks whose journal it is; to close it changes nothing either."""
    first = JournalStore(tmp_path / "a.btr", head={"name": '"a"'})
    first.commit(one(1), durable=True)
    second = JournalStore(tmp_path / "a.btr")
    for attempt in (lambda: first.commit(one(2), True), lambda: first.cut(0, 0, 0), first.close):
        with pytest.raises(Overtaken, match="another process"):
            attempt()
    second.commit(one(2), durable=True)
    assert second.end.events == 2 and second._said() == second.end
    second.close()


def test_a_journal_that_was_written_since_it_was_read_is_not_gone_on_with(tmp_path):
    """Else what the other process did meanwhile would be cut off, and done again."""
    first = JournalStore(tmp_path / "a.btr", head={"name": '"a"'})
    read = first.end
    first.commit(one(1), durable=True)
    with pytest.raises(Overtaken):
        JournalStore(tmp_path / "a.btr", read=read)
    first.commit(one(2), durable=True)
    first.close()


@pytest.fixture
def no_locks(monkeypatch):
    """A file system that says yes to whoever asks for a lock."""
    monkeypatch.setattr(fcntl, "flock", lambda file, how: None)


def test_without_locks_a_resume_of_what_another_resume_goes_on_with_is_refused(tmp_path, no_locks, monkeypatch):
    """Both have read the same journal; the one that comes second stops before anything is begun."""
    done: list[str] = []
    drill = drilling("fail", done)
    run = Run(load(TREE, skills=[drill]), clock=Manual(), journal=tmp_path)
    run.tick()
    path, before = abandoned(run), len(done)
    whole = Recording._read
    other = []

    def meanwhile(self):
        whole(self)
        if not other:
            other.append(None)
            other[0] = resume(path, skills=[drill], clock=Manual())

    monkeypatch.setattr(Recording, "_read", meanwhile)
    with pytest.raises(CannotResume, match="another process has gone on") as refused:
        resume(path, skills=[drill], clock=Manual())
    assert "local disk" in refused.value.hint and done[before:].count("start 7") <= 1
    with other[0] as going:
        assert going.parts.journal is not None and not going.parts.journal.broken


def test_without_locks_a_run_that_was_overtaken_stops_in_words(tmp_path, no_locks):
    """Its runner is told to stop, and its failure marker is not written over the other's."""
    run = Run(load("version: 1\ntree: t\nroot: {wait: 1000}\n"), clock=Manual(), journal=tmp_path)
    run.tick()
    assert run.parts.journal is not None and run.parts.journal.path is not None
    assert run.parts.journal.tape.writer.durable().wait(60)
    other = JournalStore(run.parts.journal.path)
    run.parts.journal.tape.note("log", {"path": "", "level": "info", "text": "x"})
    assert not run.parts.journal.tape.writer.durable().wait(60)
    assert (
        "another process has gone on" in run.parts.journal.broken and "another process" in run.parts.runner.stopped
    ) or ("another process" in run.parts.runner.for_good)
    other.commit(RowBatch(), durable=True)
    run.close()
    other.close()
    assert not Recording(run.parts.journal.path).damage


def test_a_careful_skill_does_not_begin_once_the_journal_is_gone(tmp_path):
    """`journal: required` sees that its file was removed; the skill fails instead of going unrecorded."""
    done: list[str] = []

    @skill("drill", name="drill", on_resume="fail")
    def drill() -> bool:
        done.append("drilled")
        return True

    tree = "version: 1\ntree: t\nroot: {sequence: [{wait: 0.01}, drill: {}]}\n"
    recorder = Recorder(tmp_path, limits=JournalLimits(patience=0.0))
    with Run(load(tree, skills=[drill]), journal=recorder) as run:
        run.tick()
        for each in folder.files_of(recorder.path):
            each.unlink()
        assert run.spin(seconds=60) is FAILURE
    assert done == [] and "removed or replaced" in recorder.broken


def test_a_journal_that_comes_back_to_its_place_is_gone_on_with(tmp_path):
    """A folder that was moved away and back again has lost nothing."""
    store = JournalStore(tmp_path / "a.btr", head={"name": '"a"'})
    (tmp_path / "a.btr").rename(tmp_path / "b.btr")
    with pytest.raises(Gone):
        store.check()
    (tmp_path / "b.btr").rename(tmp_path / "a.btr")
    store.check()
    (tmp_path / "a.btr").rename(tmp_path / "b.btr")
    (tmp_path / "a.btr").touch()
    with pytest.raises(Gone):
        store.check()
    store.close()


def test_a_required_record_that_broke_off_is_said_and_is_no_success(tmp_path, monkeypatch, capsys):
    """The tree's SUCCESS is shown, the hole in its record on standard error, and the exit is 1; best effort: 0."""
    (tmp_path / "t.yaml").write_text("version: 1\ntree: t\nroot: {sequence: [{log: a}, {wait: 0.05}, {log: b}]}\n")
    monkeypatch.chdir(tmp_path)
    seen = set()

    def gone(self):
        if self.path in seen:
            raise Gone(errno.ENOENT, "its file was removed or replaced while the run wrote it")
        seen.add(self.path)  # the beginning of the run is written

    monkeypatch.setattr(JournalStore, "check", gone)
    assert main(["run", "t.yaml", "--runs", "runs", "--plain"]) == 1
    told = capsys.readouterr()
    assert "SUCCESS" in told.out and "the record of" in told.err and "removed" in told.err
    assert main(["run", "t.yaml", "--runs", "runs", "--plain", "--journal", "best_effort"]) == 0
    assert "the record of" in capsys.readouterr().err


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_named_with_a_way_out(tmp_path, monkeypatch, code):
    """The disk is not full."""

    def refuse(file, how):
        raise OSError(code, "no locks")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(BtError, match="no locks") as refused:
        Lock(tmp_path / "a.btr")
    assert "local disk" in refused.value.hint


def test_without_locks_a_lock_that_lies_there_counts_as_held(tmp_path, monkeypatch):
    """A folder that is looked through leaves it alone, where looking used to end in an OSError."""

    def refuse(file, how):
        raise OSError(errno.ENOLCK, "no locks")

    (tmp_path / "a.lock").touch()
    assert not lock.is_held(tmp_path / "a.btr")
    monkeypatch.setattr(fcntl, "flock", refuse)
    assert lock.is_held(tmp_path / "a.btr")
    folder.sweep(tmp_path)
    assert (tmp_path / "a.lock").exists()

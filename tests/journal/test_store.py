"""What a journal keeps, how little of it, and that it never grows without bound nor stops a run."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bt_runtime import BtError, Run, load
from bt_runtime.clock import Manual
from bt_runtime.events import Line, Notice
from bt_runtime.journal import Recorder, Recording, codec, folder, replay, resume, summary
from bt_runtime.journal.layout import HEAD, Texts, Whole, changes_of, changes_text
from bt_runtime.journal.lines import lines
from bt_runtime.journal.store import JournalLimits, JournalStore
from bt_runtime.journal.writer import Writer
from bt_runtime.run.replay.resume import CannotResume
from bt_runtime.types import Choice, Observation
from tests.journal.conftest import read

BUSY = "version: 1\ntree: busy\nroot:\n  repeat: {times: 100000, child: {sequence: [{wait: 0.01}, {succeed: {}}]}}\n"
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text() | st.integers(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200, derandomize=True)
@given(values)
def test_a_value_that_was_written_down_is_read_as_it_was(value):
    assert codec.full(json.loads(codec.text(codec.plain(value)))) == value


def test_answers_and_observations_keep_their_type_and_a_foreign_object_is_described():
    choice = Choice("a", 1, -0.5, float("inf"), None)
    for value in (choice, Observation("seen", False, "why")):
        assert codec.full(json.loads(codec.text(codec.plain(value)))) == value
    assert codec.full(codec.plain(object())) == codec.Opaque("builtins.object")


@settings(max_examples=100, derandomize=True)
@given(st.lists(st.text(max_size=30).map(lambda t: "A long beginning that all of them share, " * 3 + t), max_size=20))
def test_texts_are_put_together_again_from_what_they_share(found):
    texts, pieces = Texts(), {}
    numbers = []
    for text in found:
        number, piece = texts.add(text)
        numbers.append(number)
        if piece is not None:
            pieces[number] = piece
    whole = Whole()
    assert all(map(whole.add, pieces.values()))
    assert [whole[n] for n in numbers] == found


def test_a_prompt_is_kept_by_what_it_adds_to_earlier_ones(errand_of):
    recording = Recording(errand_of("house", 3))
    asked = [body["prompt"] + body.get("offered", "") for _, body in recording.of("ask")]
    kept = sum(len(p.rest) for p in recording.texts.pieces.values())
    assert kept < sum(len(text) for text in asked) / 4


def test_status_changes_are_a_ring_and_the_rest_still_replays(runs):
    recorder = Recorder(runs, limits=JournalLimits(ticks=50))
    with Run(load(BUSY), clock=Manual(), journal=recorder) as run:
        for number in range(400):
            run.parts.context.clock.inner.advance(0.02)
            run.tick()
            if number % 40 == 0:
                recorder.tape.writer.durable().wait(60)
    recording = Recording(recorder.path)
    assert len(recording.ticks) <= 51 and max(recording.ticks) == 400
    assert replay(recorder.path).same


def test_a_journal_at_its_size_limit_notes_only_how_it_ends_and_says_so(runs):
    recorder = Recorder(runs, limits=JournalLimits(bytes=200_000, ticks=100))
    with Run(load(BUSY), clock=Manual(), journal=recorder) as run:
        for number in range(8000):
            run.parts.context.clock.inner.advance(0.02)
            run.tick()
            if number % 20 == 0:
                recorder.tape.writer.durable().wait(60)
    recording = Recording(recorder.path)
    assert recording.full and not recording.damage
    assert recorder.path.stat().st_size < 600_000
    found = replay(recorder.path)
    assert found.same and "size limit" in found.ended
    with pytest.raises(CannotResume, match="size limit"):
        resume(recorder.path, clock=Manual())


ENDS = "version: 1\ntree: t\nroot: {succeed: {}}\n"


def aged(record, count: int, days: float, tree: str = ENDS) -> list[Path]:
    """Journals of runs, so many days old."""
    paths = []
    for _ in range(count):
        run = record(tree)
        run.tick()
        paths.append(read(run).path)
        os.utime(paths[-1], (time.time() - days * 86400,) * 2)
    return paths


def test_old_journals_go_when_a_new_run_begins_and_the_log_names_them(runs, record):
    """Of runs that ended; the latest stay, and so does what can be resumed."""
    old, waiting = aged(record, 2, 100), aged(record, 1, 101, "version: 1\ntree: t\nroot: {wait: 5}\n")
    young = aged(record, summary.LATEST, 1)
    said: list[Any] = []
    record(ENDS).listen(said.append, Line, Notice)
    assert not any(p.exists() for p in old) and all(p.exists() for p in [*waiting, *young])
    assert [line.level for line in said] == ["info"] and any(p.stem in said[0].text for p in old)


@pytest.mark.parametrize("days", [100, -2])
def test_a_clock_that_jumped_removes_nothing(runs, record, days):
    """Ahead: all that is there seems old. Back: what is there is of tomorrow."""
    paths = [*aged(record, 2, 400), *aged(record, summary.LATEST, days)]
    record(ENDS)
    assert all(p.exists() for p in paths)


def test_a_journal_that_cannot_be_written_any_more_does_not_stop_the_run(record):
    said = []
    run = record(BUSY, journal_policy="best_effort")
    run.listen(said.append, Line, Notice)
    run.tick()

    def fail(*args):
        raise sqlite3.OperationalError("database or disk is full")

    run.parts.journal.tape.writer.store.commit = fail
    for _ in range(5):
        run.parts.context.clock.inner.advance(0.02)
        assert run.tick().running
    assert run.parts.journal.tape.writer.durable().wait(60)
    run.tick()
    assert len(said) == 1 and "disk is full" in said[0].text and said[0].level == "warning"


def test_a_folder_that_cannot_be_made_is_said_before_the_run(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BtError, match="cannot be kept"):
        Run(load(BUSY), journal=tmp_path / "file" / "runs")


def test_two_runs_write_side_by_side_into_one_folder(record, runs):
    first, second = (record(BUSY) for _ in range(2))
    for run in (first, second):
        run.parts.context.clock.inner.advance(1)
        run.tick()
    names = {read(first).name, read(second).name}
    assert len(names) == 2 and {p.stem for p in folder.journals(runs)} == names
    assert not list(runs.glob("*.lock"))


def test_what_happened_is_there_in_order(record):
    run = record("version: 1\ntree: t\nroot:\n  sequence:\n    - log: hello\n    - set: {x: [1, 2]}\n    - fail: {}\n")
    run.blackboard["given"] = "from outside"
    run.tick()
    found = [(line["kind"], line.get("what")) for line in lines(read(run))]
    kinds = [kind for kind, _ in found]
    assert kinds[0] == "run" and kinds.count("node") == 4
    given = next(what for kind, what in found if kind == "write")
    assert (given["name"], given["value"]) == ("given", "from outside")
    assert ("blackboard", {"scope": "", "name": "x", "value": [1, 2]}) in found
    assert ("log", {"path": "/t/0", "level": "info", "text": "hello"}) in found
    assert ("result", {"status": "FAILURE", "path": "/t/2", "why": ""}) in found
    status = next(what for kind, what in found if kind == "status")
    assert status["changes"] == [["/t/0", "SUCCESS"], ["/t/1", "SUCCESS"], ["/t/2", "FAILURE"], ["/t", "FAILURE"]]


def test_the_files_of_a_tree_are_kept_whole(tmp_path, runs):
    (tmp_path / "inner.yaml").write_text("version: 1\ntree: inner\nroot: {succeed: {}}\n")
    (tmp_path / "t.yaml").write_text("version: 1\ntree: t\nroot:\n  sequence:\n    - tree: {file: inner.yaml}\n")
    with Run(load(tmp_path / "t.yaml"), journal=runs) as run:
        run.tick()
    path = run.parts.journal.path
    for file in ("inner.yaml", "t.yaml"):
        Path(tmp_path / file).unlink()
    assert replay(path).same
    assert {f["place"] for f in Recording(path).head["files"]} == {"trees/t.yaml", "trees/inner.yaml"}


def test_a_run_that_is_made_of_more_than_a_journal_takes_is_refused_before_it_begins(record, runs):
    """A head is read whole, so it has a bound; whoever records holds to it."""
    with pytest.raises(BtError, match="too long for a journal"):
        record(INPUT, inputs={"a": "x" * HEAD})
    assert not list(runs.glob("*.btr"))


INPUT = "version: 1\ntree: t\ninputs: {a: {type: string}}\nroot: {succeed: {}}\n"


def test_boundaries_that_nothing_lies_between_are_one(tmp_path):
    """However often one is said, whoever waits for the disk is not kept waiting behind them."""
    writer = Writer(JournalStore(tmp_path / "r.btr"), Texts())
    writer.close()  # nothing takes from the queue any more
    for _ in range(1000):
        writer.flush_at_boundary()
    assert len(writer.queue) == 1


def test_what_a_node_says_of_itself_is_kept_as_text_whatever_it_is() -> None:
    """A behaviour of py_trees may say anything, and is no reason for a run to end."""
    said: Any = [(3, None), (4, 5)]
    assert changes_of(changes_text([(3, "S")], said)) == ([(3, "S")], [(3, "None"), (4, "5")])


def test_a_clock_before_1970_leaves_a_journal_that_is_sound(tmp_path, monkeypatch):
    """A board without a battery begins there; its run is read, listed and replayed as any other."""
    monkeypatch.setattr("bt_runtime.journal.layout.time.time", lambda: -1e9)
    with Run(load("version: 1\ntree: t\nroot: {log: hi}\n"), journal=tmp_path) as run:
        run.spin(seconds=60)
    found = Recording(run.parts.journal.path)
    assert not found.damage and found.head["started"] == 0.0 and replay(run.parts.journal.path).same


def test_a_log_that_goes_between_two_looks_is_no_fault(record, monkeypatch):
    """SQLite removes it when the last who has the journal open leaves, at any moment of a reader's."""
    run = record("version: 1\ntree: t\nroot: {succeed: {}}\n")
    run.tick()
    path = run.parts.journal.path
    run.close()
    monkeypatch.setattr(folder, "files_of", lambda path, locks=True: [path, path.with_name("gone-wal")])
    assert folder.usage(path) == path.stat().st_size and Recording(path).events

"""A run that is written as MCAP while it goes on, and read back by the format's own package."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bt_runtime as bt
from bt_robots.recordings import mcap as ours
from bt_robots.recordings import spool
from bt_runtime import BtError
from bt_runtime.events import Notice
from bt_runtime.journal import Recorder, Recording
from bt_runtime.journal.lines import lines

reader = pytest.importorskip("mcap.reader")
stream = pytest.importorskip("mcap.stream_reader")
TREE = """
version: 1
tree: round
blackboard: {count: {type: integer, default: 0}}
root:
  repeat:
    times: TIMES
    child:
      sequence:
        - set: {count: "{count + 1}"}
        - log: "turn {count}"
        - wait: 0.02
"""
FORTY = TREE.replace("TIMES", "40")


def messages(path: Path) -> list[tuple[str, int, Any]]:
    with path.open("rb") as file:
        return [(c.topic, m.log_time, json.loads(m.data)) for _, c, m in reader.make_reader(file).iter_messages()]


def as_far_as(path: Path) -> Iterator[tuple[str, Any]]:
    """What can be read of a file that was cut off."""
    topics: dict[int, str] = {}
    with path.open("rb") as file:
        try:
            for record in stream.StreamReader(file).records:
                if type(record).__name__ == "Channel":
                    topics[record.id] = record.topic
                elif type(record).__name__ == "Message":
                    yield topics[record.channel_id], json.loads(record.data)
        except Exception as error:
            assert "EndOfFile" in type(error).__name__ or "EOF" in str(error), error


def test_what_was_written_live_is_what_the_journal_gives_later(tmp_path: Path) -> None:
    with bt.Run(bt.load(FORTY), journal=tmp_path) as run:
        run.follow(ours.Mcap(tmp_path / "live.mcap"))
        run.spin()
    assert run.parts.journal is not None and run.parts.journal.path is not None
    ours.write(lines(Recording(run.parts.journal.path)), tmp_path / "later.mcap")
    live, later = (messages(tmp_path / f"{name}.mcap") for name in ("live", "later"))

    def told(found: list[tuple[str, int, Any]], topic: str) -> list[Any]:
        return [(at, body) for where, at, body in found if where == topic]

    assert {topic for topic, _, _ in live} == set(ours.TOPICS)
    for topic in ("/bt/status", "/bt/blackboard", "/bt/log", "/bt/events"):
        assert told(live, topic) == told(later, topic)
    assert [body for _, body in told(live, "/bt/nodes")] == [body for _, body in told(later, "/bt/nodes")]


def test_every_topic_has_a_schema_that_its_messages_fit(tmp_path: Path) -> None:
    from jsonschema import Draft202012Validator

    with bt.Run(bt.load(FORTY), journal=Recorder(None)) as run:
        run.follow(ours.Mcap(tmp_path / "live.mcap"))
        run.spin()
    with (tmp_path / "live.mcap").open("rb") as file:
        for schema, _, message in reader.make_reader(file).iter_messages():
            Draft202012Validator(json.loads(schema.data)).validate(json.loads(message.data))
            assert schema.encoding == "jsonschema"
    assert list(tmp_path.iterdir()) == [tmp_path / "live.mcap"]  # no journal


def test_the_time_of_a_message_is_that_of_the_runs_own_clock(tmp_path: Path) -> None:
    clock = bt.clock.Simulated(100.0)
    with bt.Run(bt.load("version: 1\ntree: t\nroot: {wait: 10}\n"), clock=clock, journal=Recorder(None)) as run:
        run.follow(ours.Mcap(tmp_path / "live.mcap"))
        run.tick()
        clock.set(104.5)
        run.blackboard["seen"] = 1
        clock.set(110.25)
        run.tick()
    found = messages(tmp_path / "live.mcap")
    assert min(at for _, at, _ in found) == 100 * 10**9
    assert [at for topic, at, _ in found if topic == "/bt/blackboard"] == [104_500_000_000]
    done = [at for topic, at, body in found if topic == "/bt/status" and body["changes"][0]["code"] == 2]
    assert done == [110_250_000_000]


@pytest.mark.parametrize("ends", [signal.SIGTERM, signal.SIGKILL])
def test_a_file_is_finished_when_its_run_is_halted_and_readable_up_to_the_cut_when_it_is_killed(
    ends: signal.Signals, tmp_path: Path
) -> None:
    (tmp_path / "round.yaml").write_text(TREE.replace("TIMES", "-1"))
    out = tmp_path / "live.mcap"
    words = [sys.executable, "-m", "bt_runtime.cli", "run", "round.yaml", "--mcap", str(out)]
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as run:
        pause = threading.Event()
        while not (out.exists() and any(topic == "/bt/status" for topic, _ in as_far_as(out))):
            assert run.poll() is None
            pause.wait(0.02)  # for another process
        run.send_signal(ends)
        run.wait(60)
    if ends is signal.SIGKILL:
        assert next(body["message"] for topic, body in as_far_as(out) if topic == "/bt/log") == "turn 1"
        return
    told = [body for topic, _, body in messages(out) if topic == "/bt/events" and body["kind"] == "halted"]
    assert told[-1]["what"]["reason"] == "SIGTERM"


def test_what_comes_too_fast_is_left_out_counted_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "MOST_LINES", 5)
    monkeypatch.setattr(spool, "EVERY", 60.0)
    heard: list[str] = []
    with bt.Run(bt.load(FORTY), clock=bt.clock.Manual(), journal=Recorder(None)) as run:
        run.listen(lambda notice: heard.append(notice.text), Notice)
        run.follow(ours.Mcap(tmp_path / "live.mcap"))
        assert run.spin() is bt.Status.SUCCESS
    assert 0 < len(messages(tmp_path / "live.mcap")) <= 5
    assert "does not keep up" in heard[0] and "entries were left out" in heard[-1]


def test_a_disk_that_fails_ends_the_file_and_not_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[str] = []
    with bt.Run(bt.load(FORTY), clock=bt.clock.Manual(), journal=Recorder(None)) as run:
        run.listen(lambda notice: heard.append(notice.text), Notice)
        monkeypatch.setattr(ours.File, "write", lambda file, lines: 1 / 0)
        run.follow(ours.Mcap(tmp_path / "live.mcap"))
        assert run.spin() is bt.Status.SUCCESS
    assert any("was given up: ZeroDivisionError" in text for text in heard)


def test_a_file_that_cannot_be_made_and_a_run_without_a_journal_are_faults_in_words(tmp_path: Path) -> None:
    with (
        bt.Run(bt.load(FORTY), journal=Recorder(None)) as run,
        pytest.raises(BtError, match="cannot be written"),
    ):
        run.follow(ours.Mcap(tmp_path / "no" / "x.mcap"))
    with bt.Run(bt.load(FORTY)) as run, pytest.raises(BtError, match="without a journal"):
        run.follow(ours.Mcap(tmp_path / "x.mcap"))


@pytest.mark.parametrize("flushes", [True, False], ids=["closes chunks", "cannot close chunks"])
def test_what_was_flushed_can_be_read_whatever_the_package_can_do(
    flushes: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A version of the package that cannot close a chunk writes every message by itself; nothing waits unsaid."""
    if not flushes:
        monkeypatch.delattr("mcap.writer.Writer.flush")
    monkeypatch.setattr(ours, "EVERY", 0.0)
    path = tmp_path / "run.mcap"
    file = ours.File(path)
    try:
        file.write([{"kind": "log", "tick": 1, "what": {"level": "info", "text": "turn 1", "path": "/t"}}])
        file.flush()
        assert [body["message"] for topic, body in as_far_as(path) if topic == "/bt/log"] == ["turn 1"]
    finally:
        file.close()
    assert len(messages(path)) == 1


def test_the_package_that_is_installed_closes_chunks() -> None:
    """Else the pinned range of `mcap` needs another look: files grow larger."""
    from mcap.writer import Writer

    assert hasattr(Writer, "flush")

"""A journal takes any value that a program or a skill gives; what it cannot take ends it in words, and nobody waits."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from bt_runtime import Run, Skill, load, skill
from bt_runtime.clock import Manual
from bt_runtime.events import Line
from bt_runtime.journal import Recording, codec, replay
from bt_runtime.journal.store import Ticket
from bt_runtime.journal.writer import Writer
from bt_runtime.testing import FAILURE, RUNNING, SUCCESS

GUARD = 60.0  # seconds: only of what hangs


class Mute:
    def __repr__(self) -> str:
        raise RuntimeError("no text")


class Word(str):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def deep() -> Any:
    value: Any = []
    for _ in range(100_000):
        value = [value]
    return value


ODD = {
    "an integer of 5,000 digits": 10**5000,
    "a negative one": -(10**5000),
    "an object": object(),
    "one without a text": Mute(),
    "a set of them": frozenset({Mute()}),
    "a text of a class of its own": Word("a"),
    "a lone surrogate": "\ud800",
    "an exception": ValueError("x"),
    "a path": Path("x"),
    "bytes": b"x",
    "keys that are no texts": {1: {2: 3}},
    "nested too deep": deep(),
}
TREE = "version: 1\ntree: t\nblackboard: {n: {type: any, default: 0}}\nroot: {repeat: {times: -1, child: %s}}\n"
COPY = "{sequence: [{set: {m: '{n}'}}, {wait: 1}]}"


@pytest.mark.parametrize("what", ODD)
def test_any_value_on_the_blackboard_leaves_the_journal_whole(what: str, tmp_path: Path) -> None:
    clock = Manual()
    with Run(load(TREE % COPY), journal=tmp_path, clock=clock, slow=None) as run:
        run.tick()
        run.blackboard["n"] = ODD[what]
        for _ in range(4):
            clock.advance(1)
            run.tick()
        assert (
            run.parts.journal is not None
            and run.parts.journal.tape.writer is not None
            and run.parts.journal.path is not None
        )
        path, writer = run.parts.journal.path, run.parts.journal.tape.writer
    found = Recording(path)
    assert (writer.broken, found.damage, found.last_tick) == ("", "", 5)
    assert replay(path).difference == ""


def test_an_integer_of_any_length_comes_back_as_it_was() -> None:
    for number in (10**5000, -(10**5000), 10**600, 10**600 - 1, 0, -1):
        assert codec.full(json.loads(codec.text(codec.plain(number)))) == number


@pytest.mark.parametrize("what", ["an exception", "a path", "one without a text", "an integer of 5,000 digits"])
def test_a_halt_is_made_and_kept_whatever_its_reason_is(what: str, tmp_path: Path) -> None:
    with Run(load(TREE % COPY), journal=tmp_path, clock=Manual(), slow=None) as run:
        run.tick()
        assert run.halt(ODD[what], by=ODD[what]) > 0
        run.tick()
        assert run.parts.journal is not None and run.parts.journal.path is not None
        path = run.parts.journal.path
    assert (Recording(path).damage, Recording(path).last_tick) == ("", 2)


@skill("drive to {place}", on_resume="fail")
class Drive(Skill):
    begun = 0

    def start(self, place: str) -> None:
        Drive.begun += 1

    def poll(self) -> Any:
        return SUCCESS


@pytest.mark.parametrize("what", ODD)
def test_a_line_is_kept_as_text_whatever_its_text_is(what: str, tmp_path: Path) -> None:
    """A listener's or a program's line with an object in place of its text leaves the journal readable to its end."""
    with Run(load(TREE % COPY), journal=tmp_path, clock=Manual(), slow=None) as run:
        run.tick()
        run.parts.context.emit(Line("/t", "info", ODD[what]))
        run.tick()
        assert run.parts.journal is not None and run.parts.journal.path is not None
        path = run.parts.journal.path
    recording = Recording(path)
    assert (recording.damage, recording.last_tick) == ("", 2)
    (line,) = [body for _, body in recording.of("log")]
    assert isinstance(line["text"], str)


def unwritable(self: Writer, *_: Any) -> None:
    raise TypeError("no form")


@pytest.mark.parametrize("policy, ended", [("required", FAILURE), ("best_effort", SUCCESS)])
def test_an_entry_without_a_form_ends_the_journal_in_words(
    policy: Any, ended: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came before it is written, it is said in the log, and a careful skill fails at once where policy says so."""
    told: list[str] = []
    tree = load("version: 1\ntree: t\nroot: {sequence: [{log: a}, {wait: 1}, {drive: dock}]}\n", skills=[Drive])
    clock, Drive.begun = Manual(), 0
    with Run(tree, journal=tmp_path, journal_policy=policy, clock=clock, slow=None) as run:
        run.listen(lambda line: told.append(line.text), Line)
        run.tick()
        assert (
            run.parts.journal is not None
            and run.parts.journal.tape.writer is not None
            and run.parts.journal.path is not None
        )
        path, writer = run.parts.journal.path, run.parts.journal.tape.writer
        assert writer.durable().wait(GUARD)
        monkeypatch.setattr(Writer, "_nodes", unwritable)
        writer.nodes([])
        assert not writer.durable().wait(GUARD) or policy == "best_effort"
        monkeypatch.undo()
        assert "no form" in writer.broken and any("ends at tick" in text and "no form" in text for text in told)
        clock.advance(1)
        woken = threading.Event()
        while run.tick().running:
            woken.wait(0.001)
        assert (run.status, Drive.begun) == (ended, int(ended is SUCCESS))
    assert writer.thread.is_alive() is False and Recording(path).last_tick == 1


def test_whatever_ends_the_writers_thread_whoever_waits_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Run(load(TREE % COPY), journal=tmp_path, clock=Manual(), slow=None) as run:
        assert run.tick().status is RUNNING
        assert run.parts.journal is not None and run.parts.journal.tape.writer is not None
        writer = run.parts.journal.tape.writer

        def dies(self: Writer) -> None:
            raise MemoryError

        monkeypatch.setattr(Writer, "_flush", dies)
        first = writer.durable()
        assert not first.wait(GUARD) and "MemoryError" in first.failed
        writer.thread.join(GUARD)
        later: Ticket = writer.durable()
        assert later.done and "MemoryError" in later.failed and "MemoryError" in writer.broken

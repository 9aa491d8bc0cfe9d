"""One stream of events: who listens hears it, in order, until they leave; who breaks harms nobody."""

from __future__ import annotations

import logging
import threading

import pytest

from bt_runtime import Run, events, load
from bt_runtime.clock import Manual
from bt_runtime.events import NAMES, Line, Notice, Tick, Woken, Written
from bt_runtime.journal import Recording
from bt_runtime.testing import SUCCESS
from bt_runtime.tree.stream import Stream

SAYS = "version: 1\ntree: t\nroot:\n  sequence: [log: one, wait: 1, set: {x: 1}, log: two]\n"


def test_listeners_are_told_in_the_order_in_which_they_came_and_only_of_what_they_asked_for():
    stream, heard = Stream(), []
    stream.listen(lambda e: heard.append(("lines", e)), Line)
    stream.listen(lambda e: heard.append(("all", e)))
    stream.listen(lambda e: heard.append(("both", e)), Line, Notice)
    line, notice, woken = Line("/t", "info", "x"), Notice("", "warning", "y"), Woken()
    for event in (line, notice, woken):
        stream.emit(event)
    assert heard == [
        ("lines", line), ("all", line), ("both", line), ("all", notice), ("both", notice), ("all", woken)
    ]  # fmt: skip
    assert stream.wanted(Tick)


def test_who_has_left_hears_no_more_though_it_left_twice_and_while_others_were_told():
    stream, heard = Stream(), []
    leave = [lambda: None]
    stream.listen(lambda e: leave[0](), Line)
    leave[0] = stream.listen(heard.append, Line)
    other = stream.listen(heard.append, Line)
    stream.emit(Line("", "info", "a"))
    leave[0]()
    assert [line.text for line in heard] == ["a"]
    other()
    stream.emit(Line("", "info", "b"))
    assert len(heard) == 1 and not stream.wanted(Tick)


@pytest.mark.parametrize("journal", [False, True])
def test_a_listener_that_raises_is_told_of_once_and_harms_neither_the_run_nor_its_end(tmp_path, journal):
    """One for each kind of event, and one that breaks at whatever comes; the others hear everything."""
    kinds = [Line, Written, Tick, Woken]
    lines, ticks, deaf = [], [], []

    def broken(event):
        deaf.append(event)
        raise OSError("deaf\nas a post")

    with Run(load(SAYS), clock=Manual(), journal=tmp_path / "runs" if journal else None) as run:
        run.listen(lines.append, Line, Notice)
        for kind in kinds:
            run.listen(broken, kind)
        run.listen(broken)
        run.listen(ticks.append, Tick)
        run.blackboard["y"] = 1  # from outside: it wakes the runner
        assert run.spin() is SUCCESS
        run.listen(broken)
    assert len(deaf) == len(kinds) + 2  # the last one at `Ended`
    warned = [line for line in lines if isinstance(line, Notice)]
    assert len(warned) == len(deaf) and all("OSError: deaf" in line.text for line in warned)
    assert [line.text for line in lines if not isinstance(line, Notice)] == ["one", "two"]
    assert ticks[-1].status is SUCCESS
    if journal:
        said = Recording(run.parts.journal.path)
        assert said.result == "SUCCESS" and any(e.kind == "closed" for e in said.events)


def test_a_listener_that_breaks_while_nobody_reads_the_log_is_heard_of_all_the_same(caplog):
    with caplog.at_level(logging.WARNING, "bt_runtime"), Run(load(SAYS), clock=Manual()) as run:
        run.listen(lambda tick: 1 / 0, Tick)
        assert run.spin() is SUCCESS
    assert [record.name for record in caplog.records] == ["bt_runtime"]
    assert "ZeroDivisionError" in caplog.text and "and was removed" in caplog.text


def test_what_a_vital_listener_raises_is_raised_where_it_happened():
    stream = Stream()

    def refuses(event):
        raise OSError("the disk is full")

    stream.listen(refuses, Line, vital=True)
    for _ in range(2):
        with pytest.raises(OSError, match="full"):
            stream.emit(Line("", "info", "x"))


def test_listeners_come_and_go_from_many_threads_while_events_are_told():
    stream, counts = Stream(), [0] * 4
    heard = []
    stream.listen(heard.append, Line)

    def churn(number):
        for _ in range(300):
            leave = stream.listen(lambda e: counts.__setitem__(number, counts[number] + 1), Line, Woken)
            stream.emit(Woken())
            leave()

    threads = [threading.Thread(target=churn, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(300):
        stream.emit(Line("", "info", "x"))
    for thread in threads:
        thread.join(60)
    assert len(heard) == 300 and stream.count == 1
    assert all(count >= 300 for count in counts)


def test_nothing_is_kept_for_a_tick_to_tell_while_nobody_listens():
    with Run(load(SAYS), clock=Manual()) as run:
        run.listen(lambda line: None, Line, Notice)
        assert not run.tick().changes
        leave = run.listen(lambda tick: None, Tick)
        run.parts.context.clock.advance(2)
        assert run.tick().changes
        leave()
        assert run.parts.context.changes is None or not run.tick().changes


def test_every_kind_of_event_is_in_the_one_file_and_what_agents_tell_has_a_name():
    told = {kind for kind in vars(events).values() if isinstance(kind, type) and issubclass(kind, tuple)}
    assert {kind.__module__ for kind in told} == {"bt_runtime.events"}
    parts = {events.Halt, events.Applied, events.Slow, events.Placed, events.Counted, events.Reshaped}  # of a tick
    assert told - parts == set(events.Event.__args__)
    assert set(NAMES) == set(events.AgentEvent.__args__) and len(set(NAMES.values())) == len(NAMES)


def test_a_run_says_first_that_it_starts_and_last_that_it_has_ended():
    heard = []
    with Run(load(SAYS), clock=Manual()) as run:
        run.listen(heard.append)
        assert run.spin() is SUCCESS
        ticks = run.parts.engine.count
    run.close()
    assert heard[0] == events.Started("t") and heard[-1] == events.Ended(SUCCESS, ticks)
    assert sum(isinstance(event, events.Started | events.Ended) for event in heard) == 2


def test_the_first_listener_hears_what_was_emitted_before_it_came():
    stream, heard, later = Stream(), [], []
    before = [Line("", "info", "old journals were removed"), Notice("", "warning", "slow")]
    stream.listen(heard.append, Notice, first=before)
    stream.listen(later.append, Notice)
    assert heard == before[1:] and later == []
    stream.emit(before[1])
    assert heard == [before[1]] * 2 and later == [before[1]]

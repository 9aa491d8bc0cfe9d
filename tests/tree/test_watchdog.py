"""A node that holds a tick is named while it does, once, and its ticks are counted."""

from __future__ import annotations

import threading
from typing import Any

from bt_runtime import Run, load
from bt_runtime.clock import Manual
from bt_runtime.events import Line, Notice, Tick

TREE = "version: 1\ntree: t\nroot:\n  repeat:\n    times: 3\n    child:\n      sequence:\n        - succeed: {}\n" \
       "        - log: '{slow}'\n        - succeed: {}\n"  # fmt: skip


class Held:
    """A value whose text is not told before somebody lets it go."""

    def __init__(self) -> None:
        self.told = threading.Event()

    def __str__(self) -> str:
        assert self.told.wait(60)
        return "at last"


def held(slow: float, lets_go: bool) -> tuple[list[Any], list[Tick], Run]:
    value, lines, ticks = Held(), [], []

    def say(line: Any) -> None:
        if line.level == "warning":
            lines.append(line)
            value.told.set()

    run = Run(load(TREE), clock=Manual(), slow=slow)
    run.listen(say, Line, Notice)
    run.blackboard["slow"] = value
    if lets_go:
        value.told.set()
    with run:
        run.listen(ticks.append, Tick)
        run.spin(ticks=10)
    return lines, ticks, run


def test_a_node_that_holds_a_tick_is_named_while_it_does() -> None:
    lines, ticks, run = held(0.05, lets_go=False)  # it is let go by the line alone
    assert [line.path for line in lines] == ["/t/0/1"]
    assert "holds the tick" in lines[0].text
    assert run.parts.engine.watchdog is not None and run.parts.engine.watchdog.counts == {"/t/0/1": 1}
    assert [slow.path for tick in ticks for slow in tick.slow] == ["/t/0/1"]


def test_a_tick_that_takes_no_time_is_not_told_of() -> None:
    lines, ticks, _ = held(30.0, lets_go=True)
    assert not lines and not any(tick.slow for tick in ticks)


def test_each_node_is_told_once_and_every_tick_counted() -> None:
    """By a clock of the test's own: the watchdog looks when it is told to."""
    run = Run(load(TREE), clock=Manual(), slow=10.0)
    told: list[str] = []
    run.parts.engine.watch(10.0, lambda slow: told.append(slow.path))
    dog, engine = run.parts.engine.watchdog, run.parts.engine
    assert dog is not None
    dog.start = lambda: None  # type: ignore[method-assign]

    class Looked:
        def __str__(self) -> str:
            now = max(engine.began, dog._last)
            for seconds in (1.0, 6.0, 10.5, 30.0):
                dog.look(engine, now + seconds)
            return "looked at"

    run.blackboard["slow"] = Looked()
    with run:
        run.spin(ticks=10)
    assert told == ["/t/0/1"]
    assert dog.counts == {"/t/0/1": 3}


def test_the_watchdog_ends_with_its_run() -> None:
    run = Run(load(TREE), clock=Manual(), slow=0.01)
    run.blackboard["slow"] = "x"
    with run:
        run.spin(ticks=10)
    assert run.parts.engine.watchdog is not None
    thread = run.parts.engine.watchdog._thread
    assert thread is not None
    thread.join(60)
    assert not thread.is_alive()

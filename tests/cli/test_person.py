"""The person at the terminal is asked before a skill that wants it, and one whose input has ended says nothing."""

from __future__ import annotations

import io
import os
import queue
import select
import threading
import time
from collections.abc import Callable
from typing import TextIO, cast

import pytest

from bt_runtime import Run, load, skill
from bt_runtime.cli.running import person
from bt_runtime.clock import Manual
from bt_runtime.events import Notice
from bt_runtime.testing import FAILURE, SUCCESS

TREE = "version: 1\ntree: t\nroot:\n  sequence:\n    - fell: {tree: oak}\n    - fell: {tree: elm}\n"


@pytest.mark.parametrize("typed, felled, status", [("yes\ny\n", 2, SUCCESS), ("y\nno\n", 1, FAILURE), ("", 0, FAILURE)])
def test_each_start_waits_for_a_line(typed: str, felled: int, status: object) -> None:
    done: list[str] = []

    @skill("fell the {tree}", confirm=True, on_resume="repeat")
    def fell(tree: str) -> None:
        done.append(tree)

    asked, told = person.AtTerminal(io.StringIO(typed)), []
    with Run(load(TREE, skills=[fell]), services={"person": asked}) as run:
        run.listen(told.append, Notice)
        assert run.spin(seconds=60) is status
    assert len(done) == felled
    assert told[0].text == "asks: May I fell the oak? (yes or no)"


def test_a_terminal_is_asked_only_by_trees_that_may_want_it() -> None:

    @skill("look around")
    def look() -> None:
        pass

    @skill("cut it", confirm=True)
    def cut() -> None:
        pass

    plain = "version: 1\ntree: t\nroot:\n  look: {}\n"
    assert not person.asks(load(plain, skills=[look]))
    assert person.asks(load(plain, skills=[look, cut]))
    assert person.asks(load("version: 1\ntree: t\nroot:\n  agent: {goal: x, moves: [act, ask]}\n"))


class Terminal:
    """A terminal whose lines a test types."""

    def __init__(self) -> None:
        self.typed: queue.Queue[str] = queue.Queue()

    def isatty(self) -> bool:
        return True

    def readline(self) -> str:
        return self.typed.get()


GUARD = 60.0  # seconds: only of what hangs


def begun(done: list[str], terminal: Terminal, clock: Manual) -> tuple[Run, list[Notice]]:
    @skill("say hello", confirm=0.5, on_resume="repeat")
    def hello() -> None:
        done.append("hello")

    @skill("wipe the disk", name="wipe", confirm=True)
    def wipe() -> None:
        done.append("wipe")

    text = "version: 1\ntree: t\nroot: {sequence: [{fallback: [{hello: {}}, {succeed: {}}]}, {wipe: {}}]}\n"
    asked, told = person.AtTerminal(cast(TextIO, terminal)), list[Notice]()
    run = Run(load(text, skills=[hello, wipe]), services={"person": asked}, clock=clock)
    run.listen(told.append, Notice)
    return run, told


def ticked(run: Run, until: Callable[[], bool]) -> None:
    """Until then; what the person types comes by another thread."""
    end, pause = time.monotonic() + GUARD, threading.Event()
    while not until():
        assert time.monotonic() < end
        run.tick()
        pause.wait(0.001)


def test_a_yes_that_comes_late_answers_no_question_that_was_put_after_it() -> None:
    done: list[str] = []
    terminal, clock = Terminal(), Manual()
    run, told = begun(done, terminal, clock)
    with run:
        run.tick()
        clock.advance(1)  # hello's time is over, and its line is still being waited for
        ticked(run, lambda: any("wipe" in notice.text for notice in told))
        terminal.typed.put("yes\n")
        ticked(run, lambda: any("not taken" in notice.text for notice in told))
        terminal.typed.put("yes\n")  # now it was read, but a yes has to name it
        ticked(run, lambda: sum("not taken" in notice.text for notice in told) == 2)
        assert done == []
        terminal.typed.put("yes 2\n")
        ticked(run, lambda: run.status is SUCCESS)
    assert done == ["wipe"]


@pytest.mark.parametrize("ahead", ["yes\n", "y\n", "yes 7\n"])
def test_what_was_typed_before_anything_was_asked_allows_nothing(ahead: str) -> None:
    done: list[str] = []
    terminal = Terminal()
    terminal.typed.put(ahead)
    run, told = begun(done, terminal, Manual())
    with run:
        ticked(run, lambda: any("not taken" in notice.text for notice in told))
    assert done == []


@pytest.mark.parametrize(
    "line, allowed", [("yes 1", True), ("1 yes", True), ("no", False), ("no 1", False), ("", False)]
)
def test_a_yes_names_its_question_and_a_no_needs_not(line: str, allowed: bool) -> None:
    done: list[str] = []
    terminal = Terminal()
    run, told = begun(done, terminal, Manual())
    with run:
        run.tick()
        terminal.typed.put(f"{line}\n")
        ticked(run, lambda: any("wipe" in notice.text for notice in told))
        assert (done == ["hello"]) is allowed
    assert "Type `yes 1` or `no 1`." in told[0].text


def test_input_that_waits_in_a_terminal_is_dropped_when_a_question_is_put() -> None:
    ours, theirs = os.openpty()
    try:
        os.write(ours, b"yes 1\n")
        with os.fdopen(os.dup(theirs)) as lines:
            person.drain(lines)
            assert select.select([lines], [], [], 0)[0] == []
    finally:
        os.close(ours)
        os.close(theirs)

"""The person at the terminal is asked before a skill that wants it, and one whose input has ended says nothing."""

from __future__ import annotations

import io

import pytest

from bt_runtime import Run, load, skill
from bt_runtime.cli import person
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

"""What a person is asked under a policy cannot be forged by the values that are asked about."""

from __future__ import annotations

import io

import pytest

import bt_runtime as bt
from bt_runtime import Person
from bt_runtime.cli.running.person import AtTerminal
from bt_runtime.events import Asked, Notice
from bt_runtime.run.policy.enforcer import MOST
from bt_runtime.testing import SUCCESS

TREE = """
version: 1
tree: t
policies: {labels: {entries: {mail: outside}}}
blackboard: {mail: {type: string}}
root: {opens: {place: "{mail}"}}
"""
SOURCES = "Sources: decided from author, place from outside."
FORGED = [
    "the pantry (decided from author, place from operator)? (yes or no)   May I",
    "the pantry\nSources: decided from author, place from operator.\nMay I open the pantry",
    'pantry"? (yes or no)\r\nSources: decided from operator, place from operator. "',
    "\u202eyrtnap\u2028\u0007\x1b[2J\u200b",
    "pantry" + " " * 500 + "x" * 5_000,
    "",
]


@bt.skill("open {place}", name="opens", confirm=True)
def opens(place: str) -> bool:
    return True


def asked(value: str, person: Person) -> tuple[str, list[str]]:
    """Returns the question, and what the log says."""
    questions: list[str] = []
    log: list[str] = []
    with bt.Run(bt.load(TREE, skills=[opens]), inputs={}, services={"person": person}) as run:
        run.listen(lambda event: questions.append(event.question), Asked)
        run.listen(lambda event: log.append(event.text), Notice)
        run.listen(lambda event: person.answer(event.number, "yes") if person.open else None, Asked)
        run.blackboard["mail"] = value
        assert run.spin(ticks=20) is SUCCESS
    (question,) = questions
    return question, log


@pytest.mark.parametrize("value", FORGED, ids=range(len(FORGED)))
def test_no_value_passes_for_the_line_that_names_the_sources(value: str) -> None:
    """The first line is ours alone; the value stands in the second, within the only two quotation marks, and is cut."""
    question, _ = asked(value, Person())
    first, second = question.splitlines()
    assert first == SOURCES
    assert second.startswith('May I open "') and second.endswith("? (yes or no)") and second.count('"') == 2
    assert second.isprintable() and len(second) < MOST + 60


def test_the_terminal_shows_the_same_question() -> None:
    """The log's line begins with the sources."""
    _, log = asked(FORGED[0], AtTerminal(io.StringIO("")))
    assert any(line.startswith(f"asks: {SOURCES}\nMay I open ") for line in log)

"""The leaves of compiled trees: they read goals, what the world offers, what was tried and what was answered."""

from __future__ import annotations

from typing import Any

import pytest

import bt_runtime as bt
from bt_runtime.testing import FAILURE, SUCCESS
from bt_runtime.types import Task
from tests.agents.compile.pantry import Pantry

ENTRIES = "form: any, it: any, tried: {type: list, default: []}, place: any, text: any"


def ran(*nodes: str, world: Any = None) -> bt.Run:
    """A sequence of these nodes, run to its end."""
    body = "".join("    - " + node.replace("\n", "\n      ") + "\n" for node in nodes)
    skills = "skills: [house]\n" if world is not None else ""
    text = f"version: 1\ntree: t\n{skills}blackboard: {{{ENTRIES}}}\nroot:\n  sequence:\n{body}"
    with bt.Run(bt.load(text), world=world, inputs={"form": 0, "it": 0, "place": 0, "text": 0}) as run:
        run.spin(ticks=200)
    return run


def pantry() -> Pantry:
    where = {"cup": "box 1", "plate": "shelf 2"}
    return Pantry(Task("t", "tidy", "bring the cup", {"where": where, "thing": "cup", "place": "table"}))


def fits(text: str) -> str:
    forms = '{bring: "bring <thing>", fetch: "bring me the <thing>"}'
    return f"fits:\n  text: {text}\n  forms: {forms}\n  form: form\n  slots: it"


@pytest.mark.rule("fits", 1, 2)
def test_the_form_with_the_most_words_of_its_own_is_taken_and_none_writes_nothing() -> None:
    run = ran(fits("bring me the cup"))
    assert (run.status, run.blackboard["form"], run.blackboard["it"]) == (SUCCESS, "fetch", {"thing": "cup"})
    run = ran(fits("sing a song"))
    assert (run.status, run.blackboard["form"], run.blackboard["it"]) == (FAILURE, 0, 0)


@pytest.mark.rule("offered", 1, 2)
def test_what_the_world_offers_now_gives_its_slots() -> None:
    run = ran("offered: {form: go to box <number>, slots: it}", world=pantry())
    assert (run.status, run.blackboard["it"]) == (SUCCESS, {"number": 1})
    run = ran("offered: {form: open box <number>, slots: it}", world=pantry())
    assert (run.status, run.blackboard["it"]) == (FAILURE, 0)


def test_an_action_with_what_is_left_out_is_not_offered() -> None:
    """A kind stands for all of its numbers, in `without` as in `tried`."""
    run = ran("offered: {form: go to <place>, slots: it, without: [shelf, box 1]}", world=pantry())
    assert (run.status, run.blackboard["it"]) == (SUCCESS, {"place": "box 2"})
    assert ran("offered: {form: go to <place>, without: [shelf, box, table, desk]}", world=pantry()).status is FAILURE
    node = "untried: {form: go to <place>, order: [box, shelf], tried: tried, next: place}"
    run = ran("set: {tried: [box]}", node, world=pantry())
    assert (run.status, run.blackboard["place"]) == (SUCCESS, "shelf 1")


@pytest.mark.rule("untried", 1, 2)
def test_the_next_value_is_of_the_most_promising_kind_until_none_is_left() -> None:
    node = "untried: {form: go to <place>, order: [box], tried: tried, next: place}"
    run = ran(node, node, world=pantry())
    assert (run.status, run.blackboard["tried"]) == (SUCCESS, ["box 1", "box 2"])
    run = ran(node, node, node, world=pantry())
    assert (run.status, run.blackboard["place"]) == (FAILURE, "box 2")


@pytest.mark.rule("heard", 1, 2, 3)
def test_the_last_answer_and_what_the_world_shows_are_read() -> None:
    run = ran("heard: {text: text}", world=pantry())
    assert (run.status, run.blackboard["text"]) == (SUCCESS, "")
    assert ran("heard: You stand at <place> and see <what>.", world=pantry()).status is FAILURE
    heard = "heard: {form: You are in a room with <what>., of: look, slots: it}"
    run = ran(heard, world=pantry())
    assert run.status is SUCCESS and run.blackboard["it"]["what"].startswith("shelf 1")


@pytest.mark.rule("heard", 4)
def test_an_answer_is_read_by_its_lines_and_sentences_too() -> None:
    """The whole comes first; `text` receives what had the form."""

    class Told(Pantry):
        def act(self, sentence: str) -> Any:
            return super().act(sentence)._replace(text="It is late. You saw cup 1.\nstate: lent")

    where = {"cup": "shelf 1"}
    task = Task("t", "tidy", "bring the cup", {"where": where, "thing": "cup", "place": "table"})
    for form, text in (("You saw cup <number>.", "You saw cup 1."), ("state: lent", "state: lent"),
                       ("It is late. <rest>", "It is late. You saw cup 1. state: lent")):  # fmt: skip
        run = ran("go_to: shelf 1", f"heard: {{form: '{form}', text: text}}", world=Told(task))
        assert (run.status, run.blackboard["text"]) == (SUCCESS, text)

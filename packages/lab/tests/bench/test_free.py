"""Without constraints the model's text is what is done, and the world's refusal is what comes of a wrong one."""

from __future__ import annotations

import math
from typing import Any

import pytest

from bt_lab.run.free import Free
from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.scripted import ScriptedAnswer
from bt_runtime.types import Grammar, Question
from packages.lab.tests.bench.conftest import outcomes, tasks_of

MOVES = {"Think:": (), "Act:": (" open door 1", " done"), "Expand:": ()}


def free(*lines: str) -> tuple[Free, list[Question]]:
    model = ScriptedModel(list(lines))
    return Free(model), model.asked


@pytest.mark.parametrize(
    ("line", "text", "index", "offered"),
    [
        ("Act: open door 1", "Act: open door 1", 1, True),
        (" Act:  done ", "Act: done", 2, True),
        ("Act: open the window", "Act: open the window", -1, False),
        ("open door 1", "Act: open door 1", 0, True),
        ("I shall leave.", "Act: I shall leave.", -1, False),
        ("", "Act: ", -1, False),
        ("Expand:", "Expand:", 3, True),
    ],
)
def test_a_line_is_the_move_that_it_begins_with_or_else_an_act(line: str, text: str, index: int, offered: bool) -> None:
    model, _ = free(line)
    choice = model.decide("prompt", MOVES).poll()
    assert (choice.text, choice.index) == (text, index)
    assert math.isnan(choice.logprob) and math.isnan(choice.margin)
    assert model.offered(text.removeprefix("Act:").strip()) is offered


def test_a_thought_that_was_written_with_its_move_is_not_asked_for_again() -> None:
    model, asked = free("Think: the first door comes first")
    assert model.decide("prompt\n", MOVES).poll().text == "Think:"
    written = model.write("prompt\nThink:", stop=["\n"]).poll()
    assert (written.text.strip(), written.tokens) == ("the first door comes first", 0)  # counted with the line
    assert len(asked) == 1


def test_another_prompt_is_asked_for() -> None:
    model, asked = free("Think: one", "two")
    model.decide("prompt\n", MOVES).poll()
    assert model.write("another\nThink:").poll().text == "two"
    assert len(asked) == 2


def test_a_node_that_can_only_act_gets_the_sentence_as_it_was_written() -> None:
    model, asked = free("go away", "done")
    assert model.choose("…Act:", [" open door 1", " done"]).poll()[:2] == (" go away", -1)
    assert model.choose("…Act:", [" open door 1", " done"]).poll()[:2] == (" done", 1)
    assert [ask.kind for ask in asked] == ["write", "write"]


def test_a_plan_is_written_without_its_grammar() -> None:
    class Watched(ScriptedModel):
        def ask(self, question: Question) -> ScriptedAnswer:
            grammars.append(question.grammar)
            return super().ask(question)

    grammars: list[Any] = []
    Free(Watched(["sequence: …"])).write("Expand:\n", grammar=Grammar("regex", "x"), max_tokens=5).poll()
    assert grammars == [None]


def test_a_wrong_text_reaches_the_world_whose_refusal_the_agent_sees_and_is_counted(doors: str) -> None:
    asked: list[str] = []

    def models(case: Any) -> dict[str, Any]:
        lines = iter(["Act: open the window", "Think: by door then", "Act: open door 1", "Act: done"])

        def script(ask: Question) -> str:
            asked.append(ask.prompt)
            return next(lines)

        return {"default": ScriptedModel(script)}

    (found,) = outcomes(doors, tasks_of(doors, 1), "react", models=models, free=True)
    assert found.success and not found.error
    assert (found.invalid, found.refused, found.steps) == (1, 1, 2)
    assert "Act: open the window\nIt does not move.\n" in asked[1]
    assert "Think: by door then\nOK.\n" in asked[2]


def test_constrained_decoding_has_no_invalid_acts_even_where_the_world_refuses_one(doors: str) -> None:
    lines = ["Act: open door 2", "Act: open door 1", "Act: open door 2", "Act: done"]
    (found,) = outcomes(doors, tasks_of(doors, 2)[1:], "react", models=lambda case: {"default": ScriptedModel(lines)})
    assert found.success
    assert (found.invalid, found.refused) == (0, 1)

"""A model of a program brings a chat template as jinja2's text or as an object: an agent uses all that it can."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import bt_runtime as bt
from bt_runtime.agents import ScriptedModel
from bt_runtime.events import Reasoned
from bt_runtime.llm import Chat
from bt_runtime.llm.chat.chat import chat_of, recalled
from bt_runtime.types import Question
from tests.llm.tool_templates import FORMATS

JINJA = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n<think>\n{% endif %}"
)


class Own:
    """A template of a program's own, which takes turns and thinks."""

    thinks, thought = True, ("</think>", "</think>\n")

    def say(self, system: str, user: str, turns: Sequence[tuple[str, str]] = (), aloud: bool = False) -> str:
        told = "".join(f"<bot>{said}<user>{heard}" for said, heard in turns)
        return f"<sys>{system}<user>{user}{told}<bot>{'<think>' if aloud else ''}"

    def harmless(self, text: str) -> str:
        return text.replace("<", "(")


class Plain:
    """One that takes two texts."""

    def say(self, system: str, user: str) -> str:
        return f"<sys>{system}<user>{user}<bot>"

    def harmless(self, text: str) -> str:
        return text.replace("<", "(")


def asked(template: Any, fields: str = "", thinks: bool = True) -> tuple[list[Question], list[str]]:
    """The questions of an agent that thinks, acts and ends, and the thoughts that were told."""
    lines = iter(["Think: a line", "Act: failure"])

    def decide(question: Question) -> str:
        return (
            "I consider it."
            if question.kind == "write" and "</think>" in "".join(question.stop)
            else next(lines, "Act: failure")
        )

    model = ScriptedModel(decide)
    model.chat_template = template
    thoughts: list[str] = []
    tree = bt.load(
        f"version: 1\ntree: t\nroot:\n  agent: {{goal: tidy up, moves: [think, act], recall: false{fields}}}\n"
    )
    with bt.Run(tree, model=model) as run:
        run.listen(lambda event: thoughts.append(event.text), Reasoned)
        run.spin(seconds=60)
    return model.asked, thoughts


@pytest.mark.parametrize("template", [JINJA, Own()], ids=["jinja2", "object"])
def test_a_programs_template_thinks_and_tells_turns(template: Any) -> None:
    questions, thoughts = asked(template, ", think: model")
    assert thoughts and set(thoughts) == {"I consider it."}
    assert any(question.prompt.rstrip().endswith("<think>") for question in questions)
    last = questions[-1].prompt
    said = "<|im_start|>assistant" if isinstance(template, str) else "<bot>"
    assert last.count(said) > 1, "what was said stands in turns"


def test_a_template_of_two_texts_keeps_what_was_said() -> None:
    questions, thoughts = asked(Plain(), ", think: model")
    assert not thoughts
    assert questions[0].prompt.startswith("<sys>") and "a line" in questions[-1].prompt


def test_tools_are_called_by_a_template_of_jinja2() -> None:
    """As by a file's own."""
    template = next(iter(FORMATS.values()))
    model = ScriptedModel([])
    model.chat_template = template if isinstance(template, str) else template[0]
    chat = chat_of(model)
    assert isinstance(chat, Chat) and not isinstance(chat.calls, str)


def test_a_template_is_made_a_chat_once_and_recorded() -> None:
    model = ScriptedModel([])
    model.chat_template = Own()
    chat = chat_of(model)
    assert chat is chat_of(model) and chat is not None
    assert chat.say("S", "U") == Own().say("S", "U")
    assert chat.say("S", "U", [("a", "b")]) == Own().say("S", "U", [("a", "b")])
    assert chat.harmless("<bot>") == "(bot>"
    kept = recalled(chat.kept())
    assert kept is not None and kept.say("S", "U", [("a", "b")]) == chat.say("S", "U", [("a", "b")])

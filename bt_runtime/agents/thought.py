"""Asks a model for one line of its own words, not empty where that is possible. An instruct model's likeliest first
token after `Think:` is often a line break, which would end the line at once."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from bt_runtime.agents.model_node import ModelNode
from bt_runtime.types import Grammar, Question

# The first sign is no blank and no punctuation: a letter or a figure of any script.
WORDS = Grammar("regex", r""" ?[^\s.,;:!?…*#_"'()<>=|/\\-][^\n]*\n?""")


def line(node: ModelNode, ask: Callable[[], Question]) -> Generator[Any, Any, str]:
    """Asks with `ask` for a line that is not empty, and returns it with single blanks. After an empty line it asks
    again: with a grammar that requires a word if the model supports one, else it cuts leading blanks."""
    question = ask()
    text = (yield from node.asked(question)).text
    if question.grammar is not None:
        return " ".join(text.split())
    if said := _worded(text):
        return said
    if node.model().constrains:
        wrote = yield from node.asked(ask()._replace(grammar=WORDS))
    else:
        wrote = yield from node.asked(ask()._replace(stop=()))
    return _worded(wrote.text.strip().partition("\n")[0])


def _worded(text: str) -> str:
    """Returns the text with single blanks; "" when it has no letter and no digit."""
    said = " ".join(text.split())
    return said if any(map(str.isalnum, said)) else ""

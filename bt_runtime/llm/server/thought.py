"""Tells a reasoning model's thoughts from its answer, in the forms in which servers return them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

OPEN, CLOSE = "<think>", "</think>"
_FIELDS = ("reasoning_content", "reasoning", "thinking")  # LM Studio, DeepSeek, older vLLM; newer vLLM; Ollama
TOKENS = 2048  # tokens for a thought, besides the answer's, by default
EFFORT = "low"  # a decision is short


class PartedThought(NamedTuple):
    """`thinks`: the message has a thought, or the marks of one."""

    answer: str
    thought: str
    thinks: bool


def parted(message: Mapping[str, Any], text: str) -> PartedThought:
    """Parts a message, whose `content` is `text`. A thought that is not closed goes to the text's end; its opening mark
    may be missing, because templates put it into the prompt."""
    told = next((said for name in _FIELDS if isinstance(said := message.get(name), str) and said.strip()), "")
    head, close, rest = text.partition(CLOSE)
    if close:
        return PartedThought(rest.lstrip("\n"), _joined(told, head.replace(OPEN, "", 1)), True)
    before, opened, inside = text.partition(OPEN)
    if opened and not before.strip():
        return PartedThought("", _joined(told, inside), True)
    return PartedThought(text, told.strip(), bool(told))


def stopped(text: str, stops: Sequence[str]) -> tuple[str, bool]:
    """Cuts a text at the first of these, as a server would that is not told of them; returns whether there was one."""
    ends = [text.index(stop) for stop in stops if stop and stop in text]
    return (text[: min(ends)], True) if ends else (text, False)


def _joined(*thoughts: str) -> str:
    return "\n".join(filter(None, map(str.strip, thoughts)))

"""Parses a finished prompt back into the template's parts and the roles' texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from bt_runtime.llm.chat.chat import Chat, Shape
from bt_runtime.llm.server.served_chat import CLOSE, OPEN

Who = Literal["template", "system", "user", "model"]


class PromptPart(NamedTuple):
    who: Who
    text: str


def spoken(prompt: str, chat: Chat | None) -> list[PromptPart]:
    """Splits a rendered prompt into its parts. A template that separates parts only by blanks gets its roles guessed by
    the order."""
    if chat is None:
        return [PromptPart("user", prompt)]
    shapes = [shape for shape in (chat.aloud, *chat.shapes.values()) if shape]
    for shape in sorted(shapes, key=lambda each: -sum(1 for part in each if part == 0)):
        found = _opened(prompt, shape)
        if found is not None:
            said, rest = found
            return [*said, *_turns(rest, chat)]
    return [PromptPart("user", prompt)]


def shown(text: str) -> str:
    """Returns the prompt as text for a server that takes messages, which knows only role names."""
    return text.replace(OPEN, "[").replace(CLOSE, "]\n")


def _opened(prompt: str, shape: Shape) -> tuple[list[PromptPart], str] | None:
    """Splits a prompt up to the user's text, and returns the rest too; None when the shape does not match."""
    last = max(at for at, part in enumerate(shape) if not isinstance(part, str))
    said, holes = list[PromptPart](), 0
    for at, part in enumerate(shape[:last]):
        if isinstance(part, str):
            before, found, prompt = prompt.partition(part)
            if not found or (before and not holes):
                return None
            said += [PromptPart("system" if holes == 1 else "user", before)] * bool(before) + [
                PromptPart("template", part)
            ]
            holes = 0
        else:
            holes = 1 if part == 0 else 2
            if at + 1 == last and shape[last] != part:
                return None  # two texts side by side: nothing tells them apart
    return said, prompt


def _turns(rest: str, chat: Chat) -> Iterator[PromptPart]:
    tails = {shape[-1] for shape in (chat.aloud, *chat.shapes.values()) if shape and isinstance(shape[-1], str)}
    here, there = [str(tail) for tail in tails], [chat.turns.answer] if chat.turns is not None else []
    here += [chat.turns.again] if chat.turns is not None else []
    who: Who = "user"
    while rest:
        marks = [mark for mark in (here if who == "user" else there) if mark.strip() and mark in rest]
        if not marks:
            yield PromptPart(who, rest)
            return
        mark = min(marks, key=lambda each: (rest.index(each), -len(each)))
        before, _, rest = rest.partition(mark)
        if before:
            yield PromptPart(who, before)
        yield PromptPart("template", mark)
        who = "model" if who == "user" else "user"

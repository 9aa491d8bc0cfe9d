"""Marks which parts of a server's prompt belong to its chat template, so that a world's text cannot imitate them.

The template's parts stand between two signs in the rendered prompt; the signs are markers, which no text may form. What
stands between them is a piece of the server's own template, or the name of the one who speaks.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from bt_runtime.llm.chat.chat import Chat, Shape
from bt_runtime.llm.chat.template import HEARD, LONGEST, SAID, SYSTEM, USER
from bt_runtime.llm.chat.turns import Turns, conversation, thinking
from bt_runtime.llm.server.answer import Unanswered

OPEN, CLOSE = "\ue000", "\ue001"
_MARKER = re.compile(r"<[^<>\s]{1,40}>|\[/?[A-Z_]{2,40}\]")
_THINKS = re.compile(r"<think>\s*$")
MOST_MARKERS = 256
Message = dict[str, str]
Render = Callable[[list[Message]], str]


class ChatPart(NamedTuple):
    text: str
    fixed: bool  # the template's own text


def parts(prompt: str) -> list[ChatPart]:
    """Splits a prompt into its texts and the template's parts around them, in order."""
    found = []
    for number, piece in enumerate(re.split(f"{OPEN}([^{OPEN}{CLOSE}]*){CLOSE}", prompt)):
        if piece:
            found.append(ChatPart(piece, number % 2 == 1))
    return found


def of_render(render: Render, source: str, aloud: Render | None = None) -> Chat:
    """Derives the template's shapes from a server that renders prompts. `source`: its template, whose markers no text
    may form. `aloud`: renders with thinking on, for a model that may think first."""
    begun = [_message("system", SYSTEM), _message("user", USER)]
    both = render(begun)
    if SYSTEM not in both or USER not in both:  # a template that drops the system text is told it with the user's
        begun = [_message("user", f"{SYSTEM}\n\n{USER}")]
        both = render(begun)
    shapes = {"both": _shape(both), "user": _shape(render([_message("user", USER)]))}
    markers = (OPEN, CLOSE, *dict.fromkeys(_MARKER.findall(source[:LONGEST])[:MOST_MARKERS]))
    turns = _conversation(render, begun, both)
    held = Turns(*map(_fixed, turns)) if turns is not None and turns.answer.strip() else None
    chat = Chat(shapes, markers, held)
    thought = thinking(aloud(begun), turns, source) if aloud is not None and held is not None else None
    if thought is None:
        return chat
    return replace(chat, aloud=_around(thought.before), thought=(thought.stop, _fixed(thought.close)))


def _message(role: str, content: str) -> Message:
    return {"role": role, "content": content}


def _conversation(render: Render, begun: list[Message], both: str) -> Turns | None:
    """Returns the conversation's parts; None for a template without regular turns."""
    pairs = zip(SAID, HEARD, strict=True)
    then = [each for said, heard in pairs for each in (_message("assistant", said), _message("user", heard))]
    try:
        return conversation(render([*begun, *then]), both)
    except (ValueError, Unanswered):  # the server's template takes one question and one answer
        return None


def _shape(text: str) -> Shape:
    """Closes an open thought, so that the answer follows."""
    return _around(_THINKS.sub("<think>\n\n</think>\n\n", text))


def _fixed(part: str) -> str:
    """Marks a part of the template."""
    return f"{OPEN}{part}{CLOSE}" if part else ""


def _around(text: str) -> Shape:
    around = [part for part in re.split(f"({SYSTEM}|{USER})", text) if part]
    holes = {SYSTEM: 0, USER: 1}
    if USER not in around:
        raise ValueError("what is said to the model is not in what comes out of its template")
    return tuple(holes.get(part, _fixed(part)) for part in around)


ROLES = Chat(
    {
        "both": (f"{OPEN}system{CLOSE}", 0, f"{OPEN}user{CLOSE}", 1, f"{OPEN}assistant{CLOSE}"),
        "user": (f"{OPEN}user{CLOSE}", 1, f"{OPEN}assistant{CLOSE}"),
        "system": (f"{OPEN}system{CLOSE}", 0, f"{OPEN}assistant{CLOSE}"),
    },
    (OPEN, CLOSE),
    Turns(f"{OPEN}user{CLOSE}", f"{OPEN}assistant{CLOSE}", f"{OPEN}assistant{CLOSE}"),
)  # of a server that takes messages


def messages(prompt: str) -> list[dict[str, str]]:
    """A prompt in roles as messages. The assistant's unfinished text, if any, is the last one."""
    found: list[dict[str, str]] = []
    for text, fixed in parts(prompt):
        if fixed or not found:
            found.append({"role": text if fixed else "user", "content": "" if fixed else text})
        else:
            found[-1]["content"] += text
    return [message for message in found if message["content"]]

"""How a prompt for a server says which of its parts are the template's: so no text of a world can pass for one.

The template's parts stand between two signs in the rendered prompt; the signs are markers, which no text may form. What
stands between them is a piece of the server's own template, or the name of the one who speaks.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from bt_runtime.llm.chat import Chat, Shape
from bt_runtime.llm.template import LONGEST, SYSTEM, USER

OPEN, CLOSE = "\ue000", "\ue001"
_MARKER = re.compile(r"<[^<>\s]{1,40}>|\[/?[A-Z_]{2,40}\]")
_THINKS = re.compile(r"<think>\s*$")
MOST_MARKERS = 256


class Part(NamedTuple):
    text: str
    fixed: bool  # of the template


def parts(prompt: str) -> list[Part]:
    """The texts of a prompt and what stands around them, in their order."""
    found = []
    for number, piece in enumerate(re.split(f"{OPEN}([^{OPEN}{CLOSE}]*){CLOSE}", prompt)):
        if piece:
            found.append(Part(piece, number % 2 == 1))
    return found


def of_render(render: Callable[[str, str], str], source: str) -> Chat:
    """The shapes of a server that renders; `source`: its template, whose signs are those that no text may form."""
    shapes = {"both": _shape(_rendered(render, SYSTEM, USER)), "user": _shape(render("", USER))}
    return Chat(shapes, (OPEN, CLOSE, *dict.fromkeys(_MARKER.findall(source[:LONGEST])[:MOST_MARKERS])))


def _rendered(render: Callable[[str, str], str], system: str, user: str) -> str:
    """A template that drops the system text is told it with the user's."""
    said = render(system, user)
    return said if system in said and user in said else render("", f"{system}\n\n{user}")


def _shape(text: str) -> Shape:
    """An open thought is closed: what comes then is the answer."""
    text = _THINKS.sub("<think>\n\n</think>\n\n", text)
    around = [part for part in re.split(f"({SYSTEM}|{USER})", text) if part]
    holes = {SYSTEM: 0, USER: 1}
    if USER not in around:
        raise ValueError("what is said to the model is not in what comes out of its template")
    return tuple(holes.get(part, f"{OPEN}{part}{CLOSE}") for part in around)


ROLES = Chat(
    {
        "both": (f"{OPEN}system{CLOSE}", 0, f"{OPEN}user{CLOSE}", 1, f"{OPEN}assistant{CLOSE}"),
        "user": (f"{OPEN}user{CLOSE}", 1, f"{OPEN}assistant{CLOSE}"),
        "system": (f"{OPEN}system{CLOSE}", 0, f"{OPEN}assistant{CLOSE}"),
    },
    (OPEN, CLOSE),
)  # of a server that takes messages


def messages(prompt: str) -> list[dict[str, str]]:
    """A prompt in roles as messages. What the assistant began is the last one, where it began something."""
    found: list[dict[str, str]] = []
    for text, fixed in parts(prompt):
        if fixed or not found:
            found.append({"role": text if fixed else "user", "content": "" if fixed else text})
        else:
            found[-1]["content"] += text
    return [message for message in found if message["content"]]

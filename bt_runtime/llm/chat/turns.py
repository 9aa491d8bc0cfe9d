"""The turn format of a model family, derived from a conversation that its template rendered: separators, the start
of the model's turn, and the switch for thinking."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from bt_runtime.llm.chat.template import HEARD, SAID, USER

# How families open and close a thought, in the order in which they are looked for.
THOUGHTS = (
    ("<think>", "</think>"), ("[THINK]", "[/THINK]"), ("<thinking>", "</thinking>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"), ("<seed:think>", "</seed:think>"), ("<|channel>thought", "<channel|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"), ("<mm:think>", "</mm:think>"),
)  # fmt: skip
_ANALYSIS, _FINAL = "<|channel|>analysis<|message|>", "<|channel|>final<|message|>"
_WORD = re.compile(r"\w")
Turn = tuple[str, str]  # (what the model said, what it heard)


class Turns(NamedTuple):
    answer: str  # after what the model said, before what it hears
    again: str  # after what it heard, before what it said next
    tail: str  # after what it heard last: here it speaks


class Thinking(NamedTuple):
    before: str  # the whole prompt, around the two texts
    stop: str  # text that ends a thought
    close: str  # after the thought; here it speaks


def conversation(spoken: str, both: str) -> Turns | None:
    """Returns the parts of a conversation; None when they differ between turns and cannot be combined."""
    pieces = spoken
    marks = [USER, *(text for pair in zip(SAID, HEARD, strict=True) for text in pair)]
    found = list[str]()
    for mark in marks:
        before, _, pieces = pieces.partition(mark)
        found.append(before)
    head, gaps, tail = found[0], found[1:], pieces
    again, answer = {*gaps[::2]}, {*gaps[1::2]}
    if len(again) > 1 or len(answer) > 1 or head + USER + tail != both:
        return None
    return Turns(answer.pop(), again.pop(), tail)


def quiet(turns: Turns) -> str:
    """Returns the start of a turn without thinking, preferably as past turns show it."""
    tail, again = turns.tail, turns.again
    more = again[len(tail) :] if again.startswith(tail) else ""
    if _WORD.search(more) or (more.endswith(" ") and not more.strip()):
        return again  # such as the channel that answers stand in, or the blank that past answers have before them
    if tail.startswith(again) and _open(tail) is None and not any(close in tail for _, close in THOUGHTS):
        return again if _WORD.search(tail[len(again) :]) else tail
    return closed(tail) + _after(turns)


def closed(tail: str) -> str:
    """Closes a thought that the template has opened, so that the model answers without thinking."""
    found = _open(tail)
    return tail if found is None else f"{tail.rstrip()}\n\n{found[1]}\n\n"


def thinking(aloud: str, turns: Turns | None, template: str) -> Thinking | None:
    """Returns how the model thinks, or None for a model that does not. `aloud`: the template's output with thinking
    enabled."""
    tail = aloud.rpartition(USER)[2]
    if turns is not None and turns.again.endswith(_FINAL):
        begun = turns.again.removesuffix(_FINAL)
        over = "<|end|>"
        return Thinking(aloud.removesuffix(tail) + begun + _ANALYSIS, over, over + begun.partition(over)[2] + _FINAL)
    found = _open(tail)
    if found is not None:
        return Thinking(aloud, found[1], _over(found[1], turns))
    for opening, closing in THOUGHTS:
        if opening in template and closing in template and not tail.rstrip().endswith(closing):
            return Thinking(f"{aloud}{opening}\n", closing, _over(closing, turns))
    return None


def _over(closing: str, turns: Turns | None) -> str:
    """Returns the text that closes a thought when the thought itself was left out."""
    tail = "" if turns is None else turns.tail
    blank = tail.rpartition(closing)[2] if closing in tail else "\n\n"
    return closing + blank + (_after(turns) if turns is not None else "")


def _after(turns: Turns) -> str:
    """Returns the text that starts an answer after a closed thought, or "" when the template has none. The template
    starts an answer without a thought with this text too."""
    for opening, closing in THOUGHTS:
        before = turns.tail.rpartition(opening)[0]
        more = turns.again.removeprefix(before) if _WORD.search(before) and turns.again.startswith(before) else ""
        if _WORD.search(more) and opening not in more and closing not in more:
            return more
    return ""


def _open(tail: str) -> tuple[str, str] | None:
    for opening, closing in THOUGHTS:
        if tail.rfind(opening) > tail.rfind(closing):
            return opening, closing
    return None


def joined(turns: Sequence[Turn], how: Turns) -> str:
    """The text between the user's message and the model's answer."""
    said = "".join(f"{how.again}{said}{how.answer}{heard}" for said, heard in turns)
    return said + how.tail

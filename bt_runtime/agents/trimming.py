"""Leaves out the oldest steps of a story that no longer fits its model's context, several at once. The whole story
is sent until the model reports that it is too long. The prompt before the steps keeps its cache, and removing many
steps at once keeps the cache of the rest for longer."""

from __future__ import annotations

from collections.abc import Sequence

from bt_runtime.agents import autoplan
from bt_runtime.language.faults.diagnostic import TooLong
from bt_runtime.types import Question, Writing

SHARE = 0.7  # share of the context for a trimmed prompt and its answer
_COUNTED = 2  # tokens that a server may count otherwise
KEPT = 1  # newest steps that are never left out


def too_many(sizes: Sequence[int], whole: int, fault: TooLong) -> int:
    """How many of the oldest steps to leave out. `sizes`: characters of each step; `whole`: of the prompt, over
    which tokens are assumed to spread evenly. Half of the steps when the model gives no numbers; 0 when none may go."""
    most = len(sizes) - KEPT
    if most <= 0:
        return 0
    if not fault.tokens or not fault.limit:
        return (most + 1) // 2
    goal, count = whole * SHARE * fault.limit / fault.tokens, 0
    while count < most and (whole > goal or not count):
        whole -= sizes[count]
        count += 1
    return count


def cut_off(question: Question, answer: object) -> TooLong | None:
    """Returns TooLong for an answer that ended because the context was full; None for an answer that ended by its own
    limit."""
    if isinstance(answer, Writing) and answer.ended == "length" and answer.tokens + _COUNTED < question.max_tokens:
        return TooLong("the context ended within the answer", "open the model with a longer `context`")
    return None


def shorter(story: str, fault: TooLong) -> str:
    """The beginning and end of an attempt that is one text. Raises the fault when nothing more can be left out."""
    share = SHARE * fault.limit / fault.tokens if fault.tokens and fault.limit else 0.5
    left = autoplan.shortened(story, int(len(story) * min(share, 0.9)), len)
    if not left or len(left) >= len(story):
        raise fault
    return left

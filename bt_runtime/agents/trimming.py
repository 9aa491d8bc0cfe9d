"""What is left out of a story that no longer fits its model's context: the oldest steps, several at once.

A model is asked with the whole story until it says that this is too long. What was computed of all that stands before
the steps serves on, and what goes at once makes room for many steps more: the cache is not thrown away at each.
"""

from __future__ import annotations

from collections.abc import Sequence

from bt_runtime.agents import autoplan
from bt_runtime.faults.diagnostic import TooLong
from bt_runtime.types import Question, Writing

SHARE = 0.7  # of the context that a trimmed prompt takes, with its answer
_COUNTED = 2  # tokens that a server may count otherwise
KEPT = 1  # of the newest steps: they are never left out


def too_many(sizes: Sequence[int], whole: int, fault: TooLong) -> int:
    """How many of the oldest steps go. `sizes`: of each step, `whole`: of the prompt, both in characters, over which
    the tokens are taken to be spread evenly. Where the model tells none, half of the steps; 0: none may go."""
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
    """An answer that ended where the context did, and not where its own bound is."""
    if isinstance(answer, Writing) and answer.ended == "length" and answer.tokens + _COUNTED < question.max_tokens:
        return TooLong("the context ended within the answer", "open the model with a longer `context`")
    return None


def shorter(story: str, fault: TooLong) -> str:
    """An attempt that is told as one text: its beginning and its end. Raises the fault where nothing more can go."""
    share = SHARE * fault.limit / fault.tokens if fault.tokens and fault.limit else 0.5
    left = autoplan.shortened(story, int(len(story) * min(share, 0.9)), len, 0)
    if not left or len(left) >= len(story):
        raise fault
    return left

"""Detects loops by pure functions: repeated actions, goals or plans."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence

_WORD = re.compile(r"[^\W_]+")  # a word in any script
_IDLE = frozenset(
    ["a", "an", "the", "to", "of", "and", "please", "now", "then", "your", "you", "is", "be", "it", "its"]
)
NEAR = 0.85  # share of common words that makes a near-repeat


def words(goal: str) -> frozenset[str]:
    return frozenset(_WORD.findall(goal.casefold())) - _IDLE


def same_goal(one: str, other: str) -> bool:
    """Returns True for goals that differ only in unimportant words. Numbers always count: cup 1 is not cup 2."""
    left, right = words(one), words(other)
    if not left or not right:
        return one.strip().casefold() == other.strip().casefold()
    numbers = any(map(str.isdigit, left ^ right))
    return not numbers and len(left & right) / len(left | right) >= NEAR


def repeats_ancestor(goal: str, ancestors: Iterable[str]) -> str | None:
    return next((a for a in ancestors if same_goal(goal, a)), None)


def cycle(history: Sequence[Hashable], times: int = 3) -> int:
    """Returns the period of the cycle at the history's end when it is repeated at least `times` times; else 0."""
    size = len(history)
    for period in range(1, size // times + 1):
        block = history[size - period :]
        if all(history[size - period * (k + 1) : size - period * k] == block for k in range(1, times)):
            return period
    return 0


def duplicates(goals: Sequence[str]) -> list[str]:
    """Returns the goals that appear twice in a list."""
    return [g for i, g in enumerate(goals) if any(same_goal(g, earlier) for earlier in goals[:i])]


_SEARCH = re.compile(
    r"^((?:find|search|look|locate|get|fetch)\b.*?) (?:in|on|at|from|near|inside|under) (.+)$", re.IGNORECASE
)


def is_search(goals: Sequence[str]) -> bool:
    """Returns True for goals that seek one thing in different places: finding it once is enough."""
    found = [_SEARCH.match(g.strip()) for g in goals]
    if len(goals) < 2 or not all(found):
        return False
    tops = {" ".join(sorted(words(m[1]))) for m in found if m}
    places = {m[2].strip().casefold() for m in found if m}
    return len(tops) == 1 and len(places) == len(goals)

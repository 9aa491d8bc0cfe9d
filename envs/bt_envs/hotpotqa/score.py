"""Scores an answer by exact match and F1, computed as in HotpotQA's own evaluation."""

from __future__ import annotations

import re
import string
from collections import Counter

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_CLOSED = ("yes", "no", "noanswer")


def normal(answer: str) -> str:
    """Normalises an answer: removes case, punctuation, articles and repeated blanks."""
    return " ".join(_ARTICLES.sub(" ", answer.lower().translate(_PUNCTUATION)).split())


def exact(given: str, right: str) -> bool:
    return normal(given) == normal(right)


def f1(given: str, right: str) -> float:
    """Returns the F1 score over the words that both answers share. Yes/no answers score 0 or 1."""
    said, wanted = normal(given), normal(right)
    if said != wanted and (said in _CLOSED or wanted in _CLOSED):
        return 0.0
    mine, theirs = said.split(), wanted.split()
    shared = sum((Counter(mine) & Counter(theirs)).values())
    if not shared:
        return 0.0
    precision, recall = shared / len(mine), shared / len(theirs)
    return 2 * precision * recall / (precision + recall)

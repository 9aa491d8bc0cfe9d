"""Agents of the house that have something in their hands: who plans then leaves it out, and who is asked for another
one looks for it.

As needed, an executor takes the first of several things and hands on; the plan begins with what is held. Few of a
task's agents are asked so, and one that is wrong there loses the task.
"""

from __future__ import annotations

from collections.abc import Iterator

from bt_lab.distill.documents import Document
from recipes.starter.house import housekeeping
from recipes.starter.seen import read
from recipes.starter.steps import ORDER

_OFTEN, _OTHERS = 3, 10  # each that plans; each that looks for another one


def held(seed: int, count: int, first: int = 0) -> Iterator[Document]:
    """The documents of such agents in so many lessons of the house, each several times."""
    for taught in housekeeping.lessons(seed, count, first):
        for document in taught.documents:
            yield from [document] * often(document)


def often(document: Document) -> int:
    """How often a document is given, whose agent holds something; never where it holds nothing."""
    seen = read(document.text) if document.kind.startswith("house adapt") else None
    if seen is None or "You hold " not in f"{seen.opening}\n{seen.before}":
        return 0
    return _OFTEN if ORDER in seen.system else _OTHERS * seen.goal.startswith("find and pick up another ")

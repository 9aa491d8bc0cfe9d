"""Executors that are asked to find what is held already: they are done, also where they have asked the memory first;
those that are asked for another one look for it.

As needed, an executor takes the first of several things and hands on; the plan begins with finding that thing. Few
agents of a task are in that place, and who searches there loses the task. So does who takes the one for the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bt_lab.distill.documents import Document
from recipes.starter.house import housekeeping
from recipes.starter.seen import GOAL, HAND

_OFTEN, _OTHERS = 15, 6  # each in either form; each that looks for another one
_FIND = re.compile(rf"{GOAL}find and pick up the ([a-z ]+)\n")
_ANOTHER = re.compile(rf"{GOAL}find and pick up another [a-z ]+\n")
_DONE = "Act: done\n"


def held(seed: int, count: int, first: int = 0) -> Iterator[Document]:
    """Those of so many lessons of the house, each several times."""
    for taught in housekeeping.lessons(seed, count, first):
        for document in taught.documents:
            yield from again(document)


def again(document: Document) -> Iterator[Document]:
    """The document as it is, and with a look into the memory before its end, if it is of such an executor; as it is, if
    it is of one that looks for another."""
    told = document.text.rpartition(HAND)[2]
    if _ANOTHER.search(told) and "You hold " in told and document.kind.startswith("house adapt"):
        yield from [document] * _OTHERS
    goal = _FIND.search(told)
    if goal is None or not told.endswith(f"\n{_DONE}") or not document.kind.startswith("house adapt"):
        return
    opening = told[goal.end() :]
    own = re.search(rf"You hold [^.]*?\b{goal[1]} \((\d+)", opening)
    if own is None or "\nThink:" in opening or opening.count("\nAct:") != 1:
        return
    looked = f"Act: recall location of {goal[1]}\nYou hold {goal[1]} {own[1]}.\n{_DONE}"
    text = document.text.removesuffix(_DONE) + looked
    for _ in range(_OFTEN):
        yield document
        yield Document(document.kind, text, ((len(text) - len(_DONE), len(text)),))

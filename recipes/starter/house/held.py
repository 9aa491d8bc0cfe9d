"""Executors that are asked to find what is held already: they are done, also where they have asked the memory first;
those that are asked for another one look for it.

As needed, an executor takes the first of several things and hands on; the plan begins with finding that thing. Few
agents of a task are asked so, and one that searches then loses the task. So does one that takes `another` for `the`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bt_lab.distill.documents import Document
from bt_runtime.agents.story import StoryStep
from recipes.starter.house import housekeeping
from recipes.starter.seen import read

_OFTEN, _OTHERS = 15, 6  # each in either form; each that looks for another one
_FIND = re.compile(r"find and pick up (the|another) ([a-z ]+)")
_DONE = "Act: done\n"


def held(seed: int, count: int, first: int = 0) -> Iterator[Document]:
    """The documents of such executors in so many lessons of the house, each several times."""
    for taught in housekeeping.lessons(seed, count, first):
        for document in taught.documents:
            yield from again(document)


def again(document: Document) -> Iterator[Document]:
    """Of an executor that holds what it is to find: its document as it is, and with a look into the memory before the
    end. Of one that holds a thing and is to find another: its document as it is. Of any other: nothing."""
    if not document.kind.startswith("house adapt"):
        return
    seen = read(document.text)
    goal, before = _FIND.fullmatch(seen.goal), f"{seen.opening}\n{seen.before}"
    if goal is None:
        return
    which, thing = goal.groups()
    if which == "another":
        yield from [document] * (_OTHERS if "You hold " in before else 0)
        return
    own = re.search(rf"You hold [^.]*?\b{thing} \((\d+)", before)
    if own is None or seen.steps != (StoryStep("act", "done"),):
        return
    looked = f"Act: recall location of {thing}\nYou hold {thing} {own[1]}.\n{_DONE}"
    text = document.text.removesuffix(_DONE) + looked
    for _ in range(_OFTEN):
        yield document
        yield Document(document.kind, text, ((len(text) - len(_DONE), len(text)),))

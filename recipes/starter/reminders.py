"""Documents with experiences in front of the task, as a memory of episodes puts them there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from bt_runtime.agents.prompt import example_block
from bt_runtime.distill.documents import Document
from recipes.starter.seen import read

_LETTERS = 1700  # of all experiences of a prompt: some 500 tokens
_MANY = (1, 1, 1, 2, 2, 3)


def reminded(document: Document, earlier: Sequence[Document], rng: Random) -> Document:
    """The document, with what agents with alike goals did elsewhere told first; itself where all is too long."""
    told = list(_chosen(document, earlier, rng))
    if not told:
        return document
    system, _, task = document.text.partition("\n\n")
    text = f"{system}\n\n{example_block(told)}\n{task}"
    more = len(text) - len(document.text)
    return Document(
        f"{document.kind} reminded", text, tuple((start + more, end + more) for start, end in document.learn)
    )


def _chosen(document: Document, earlier: Sequence[Document], rng: Random) -> Iterator[str]:
    """Most alike first, by the words of their goals; at times by chance."""
    wanted = set(read(document.text).goal.split())
    order = rng.sample(earlier, len(earlier))
    if rng.random() < 0.85:
        order.sort(key=lambda e: -_alike(wanted, set(read(e.text).goal.split())))
    left = _LETTERS
    for one in order[: rng.choice(_MANY)]:
        text = one.text.partition("\n\n")[2]
        left -= len(text)
        if left >= 0:
            yield text


def _alike(some: set[str], others: set[str]) -> float:
    return len(some & others) / len(some | others)

"""Agents of the house that have something in their hands, beside the same ones that have not: who plans leaves out what
is held; who is asked for another one looks for it, and who is asked for what is held is done.

As needed, an executor takes the first of several things and hands on; the plan begins with what is held. Few of a
task's agents are asked so, and one that is wrong there loses the task. So their first decisions are made of the prompts
of those with empty hands: only a line and an answer are others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from random import Random

from bt_lab.distill.documents import Document
from recipes.starter.house import housekeeping
from recipes.starter.house.teacher import any_recall, teacher
from recipes.starter.seen import GOAL, Seen, read
from recipes.starter.steps import ORDER, written

_FIND = re.compile(r"find and pick up the ([A-Za-z ]+)")
_STEP = re.compile(r"^Step \d+: (.*)$", re.MULTILINE)


def held(seed: int, count: int, first: int = 0) -> Iterator[Document]:
    """Of the executors and planners in so many lessons of the house."""
    for taught in housekeeping.lessons(seed, count, first):
        for document in taught.documents:
            yield from in_hand(document)


def in_hand(document: Document) -> Iterator[Document]:
    """The first decisions of the same agent, were the first of its things in its hand; nothing of other agents."""
    if document.kind != "house adapt":
        return
    begin, end = document.learn[0]
    prompt, answer = document.text[:begin], document.text[begin:end]
    seen = read(prompt)
    if seen.steps or "You hold " in f"{seen.opening}{seen.before}":
        return
    number = Random(document.text).randint(1, 3)
    if ORDER in seen.system:
        yield from _planned(document.kind, prompt, seen, answer, number)
    elif goal := _FIND.fullmatch(seen.goal):
        yield from _asked(document.kind, prompt, seen, goal[1], number, "Act: recall " in answer)


def _planned(kind: str, prompt: str, seen: Seen, answer: str, number: int) -> Iterator[Document]:
    steps = _STEP.findall(answer)
    found = next((goal for step in steps if (goal := _FIND.fullmatch(step))), None)
    if found is None:
        return
    steps.remove(found[0])
    plan = written(answer.partition("\n")[0].strip(), steps)
    yield _document(kind, _with(prompt, seen, f" You hold {found[1]} ({number})."), f"{plan}\n")


def _asked(kind: str, prompt: str, seen: Seen, thing: str, number: int, recalls: bool) -> Iterator[Document]:
    """Whoever goes on was told what the one before had done last."""
    sentences = ["failure", *([any_recall()] if recalls else [])]
    holds = f" You hold {thing} ({number})."
    prompt = _with(
        prompt, seen, f"{holds}\nBefore this, `pick up {thing} {number}` was done: You pick up {thing}.{holds}"
    )
    for which in ("the", "another"):
        head, _, rest = prompt.rpartition(f"{GOAL}{seen.goal}\n")
        asked = f"{head}{GOAL}find and pick up {which} {thing}\n{rest}"
        yield _document(kind, asked, _answer(asked, sentences))
        if recalls:
            asked += f"Act: recall location of {thing}\nYou hold {thing} {number}.\n"
            yield _document(kind, asked, _answer(asked, sentences))


def _answer(prompt: str, sentences: Sequence[str]) -> str:
    return f"{teacher(read(prompt), sentences)}\n"


def _with(prompt: str, seen: Seen, more: str) -> str:
    """The prompt with more behind what its agent sees at first, in place of what was done before."""
    head, _, rest = prompt.rpartition(seen.opening)
    return f"{head}{seen.opening}{more}{rest if not seen.before else rest.partition(seen.before)[2]}"


def _document(kind: str, prompt: str, answer: str) -> Document:
    return Document(kind, f"{prompt}{answer}", ((len(prompt), len(prompt) + len(answer)),))

"""Lessons of facts: what `want` asks of a model about a goal in words, in made-up domains, by the real runtime."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from random import Random

from bt_lab.distill.documents import Document
from bt_runtime.agents.backchain.want import LINE
from bt_runtime.agents.backchain.wording import meant, parts
from bt_runtime.agents.scripted import ScriptedModel
from bt_runtime.run.run import Run, load
from bt_runtime.types import Question
from recipes.facts.trade import UNDERSTAND, Trade
from recipes.starter.facts.domains import Clause, Domain, joined, make_domain
from recipes.starter.lesson import Transcript

GOALS = 8  # of one domain; of half of their parts nothing is asked
_SHOWN = re.compile(rf"^{LINE}( .+\n)", re.MULTILINE)


def lessons(seed: int, count: int, first: int = 0) -> Iterator[Document]:
    """So many domains, each with some goals; the same numbers give the same lessons."""
    for number in range(first, first + count):
        rng = Random(f"facts lesson {seed} {number}")
        domain = make_domain(rng)
        for _ in range(GOALS):
            yield from taught(domain, domain.goal(rng), rng)


def taught(domain: Domain, goal: Sequence[Clause], rng: Random) -> Iterator[Document]:
    """What is asked about a goal and answered: nothing where an order has an action's own words, or where the goal was
    taken apart otherwise than it was joined."""
    text, transcript = joined(goal, rng), Transcript("facts")
    said = parts(text)
    if len(said) != len(goal):
        return
    clauses = {part.sentence: clause for part, clause in zip(said, goal, strict=True)}
    script = partial(_answer, clauses=clauses, transcript=transcript, rng=rng)
    trade = Trade(domain.data())
    with Run(
        load(UNDERSTAND, skills=trade.skills()), inputs={"goal": text}, model=ScriptedModel(script),
        seed=rng.randrange(1_000_000),
    ) as run:  # fmt: skip
        run.spin()
        wanted = {*str(run.blackboard.get("wanted", "")).split(" and ")}
    if wanted == {fact for clause in goal for fact in clause.facts}:
        for document in transcript.documents():
            yield _learnt(document, domain)


def _answer(ask: Question, clauses: dict[str, Clause], transcript: Transcript, rng: Random) -> str:
    """One of the right choices; the first option where none is right, and then the goal is no lesson."""
    clause = clauses[_asked(ask.prompt)]
    right = [option for option in ask.options if option.strip() in clause.acts]
    answer = rng.choice(right) if right else ask.options[0]
    transcript.note(ask.prompt, f"{answer}\n", True)
    return answer


def _asked(prompt: str) -> str:
    return prompt.rpartition("Goal: ")[2].removesuffix(f"\n{LINE}")


def _learnt(document: Document, domain: Domain) -> Document:
    """The choice, without the values that the asked part does not name (which of all trams stands there is chance), and
    the choices of this domain that the prompt gives as examples."""
    ((begin, end),) = document.learn
    part = _asked(document.text[:begin])
    values = [value for pool in domain.pools.values() for value in pool]
    shown = [m.span(1) for m in _SHOWN.finditer(document.text, 0, begin) if any(v in m[1] for v in values)]
    spans, at = [], begin
    for first, last in sorted(_unnamed(document.text, begin, end, [v for v in values if not meant(part, [v])])):
        spans.append((at, first))
        at = last
    return document._replace(learn=(*shown, *spans, (at, end)))


def _unnamed(text: str, begin: int, end: int, values: Sequence[str]) -> Iterator[tuple[int, int]]:
    for value in values:
        found = text.find(value, begin, end)
        if found >= 0:
            yield found, found + len(value)

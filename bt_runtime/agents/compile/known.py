"""The facts that held at each moment of a recorded run, as the node `holds` takes them: by what skills had brought, and
by the latest output of each name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from py_trees.common import Status

from bt_runtime.agents.backchain.brought import held
from bt_runtime.agents.backchain.step import NOT, effects_of
from bt_runtime.agents.compile.lexicon import Lexicon
from bt_runtime.agents.compile.steps import ENTRIES, Held
from bt_runtime.language.sentence import spoken
from bt_runtime.skills.answer import EndedAnswer
from bt_runtime.skills.words import outputs
from bt_runtime.types import Json

LONGEST = 60  # characters of an output that is a fact
MOST_ITEMS = 20  # of a list


def held_in(done: Sequence[tuple[str, Any]], lexicon: Lexicon) -> list[Held]:
    """The facts before the first successful action, and after each: brought, and told by outputs."""
    facts: dict[str, bool] = {}
    latest: dict[str, Json] = {}
    found: list[Held] = [(frozenset(), frozenset())]
    for sentence, value in done:
        deed = lexicon.read(sentence)
        if deed is not None:
            kind = lexicon.kinds[deed.skill]
            latest.update(outputs(kind, EndedAnswer(Status.SUCCESS, value)))
            facts.update(effects_of(kind.data["entry"].brings, deed.values))
        brought = frozenset(fact for fact, so in facts.items() if so and not fact.startswith(NOT))
        said = {fact for name, given in latest.items() for fact in _said(name, given)}
        found.append((brought, frozenset(fact for fact in said - brought if held(fact, facts, latest))))
    return found


def _said(name: str, value: Json) -> Iterator[str]:
    """The facts that an output says: `state lent`, `chain dry`."""
    if name in ENTRIES:
        return  # the compiled tree has an entry of this name, which is asked first
    words = name.replace("_", " ")
    if isinstance(value, bool):
        yield words
        return
    for each in value[:MOST_ITEMS] if isinstance(value, list) else [value]:
        text = "" if each is None or isinstance(each, Mapping | list) else spoken(each)
        if text and len(text) <= LONGEST and text.isprintable() and "{" not in text:
            yield f"{words} {text}"

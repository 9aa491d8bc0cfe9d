"""An action was started, and nobody saw it end: what its manifest says is to be done about that."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from bt_runtime.language.manifest import Entry
from bt_runtime.language.sentence import Sentence
from bt_runtime.types import Knowing


class Answer(NamedTuple):
    """`how`: start it (again), take it as done, or let it fail."""

    how: str
    why: str


START, DONE, FAIL = "start", "done", "fail"


def settle(
    sentence: str, entry: Entry | None, target: Any, params: dict[str, Any] | None, before: bool | None
) -> Answer:
    """`before`: did what the action brings about hold already when it began? Then that it holds now shows nothing."""
    if entry is None:
        return Answer(FAIL, "no manifest says what to do about it")
    if entry.on_resume == "repeat":
        return Answer(START, "its manifest allows to repeat it")
    if entry.on_resume == "fail":
        return Answer(FAIL, "its manifest says that it fails")
    held = verified(sentence, entry, target, params)
    if held is None:
        return Answer(FAIL, "whether it was done cannot be told")
    if not held:
        return Answer(START, "what it brings about is not so: it was not done")
    if before is not False:
        return Answer(FAIL, "what it brings about was so before: whether it was done cannot be told")
    return Answer(DONE, "what it brings about is so: it was done")


def verified(sentence: str, entry: Entry, target: Any, params: dict[str, Any] | None) -> bool | None:
    """Does what the action brings about hold now? None: nobody can tell."""
    if params is not None and hasattr(target, "verify"):
        told = target.verify(**params)
        return None if told is None else bool(told)
    said = Sentence(entry.sentence, entry.types).parse(sentence) if params is None else params
    if not isinstance(target, Knowing) or said is None or not entry.brings:
        return None
    answers = [target.holds(Sentence(fact).say(said)) for fact in entry.brings]
    return None if None in answers else all(answers)


def entry_of(sentence: str, entries: Iterable[Entry]) -> Entry | None:
    """The manifest entry of a sentence that an agent chose."""
    for entry in entries:
        if Sentence(entry.sentence, entry.types).parse(sentence) is not None:
            return entry
    return None

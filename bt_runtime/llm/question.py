"""Rejects questions that no model can answer, before any work is done."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.llm.decoding.choice import check_options
from bt_runtime.llm.picture import MOST_PICTURES
from bt_runtime.types import Question

NO_SCORES = "tells no log-probabilities"  # fault of a model that is asked for scores and has none
SIGHT = "give a local model its projector: `{file: FILE.gguf, mmproj: FILE.gguf}` (docs/models.md); servers take none"
KINDS = ("choose", "decide", "write", "embed")


def sound(question: Question, terminator: str, sees: bool = False) -> Question:
    """Returns the question unchanged; raises a BtError that names its mistake. `sees`: the model takes pictures."""
    if question.pictures and not sees:
        raise BtError(f"{question.by or 'the question'} shows a picture, and this model sees none", SIGHT)
    if len(question.pictures) > MOST_PICTURES:
        raise BtError(f"a prompt of {len(question.pictures)} pictures", f"at most {MOST_PICTURES} fit into one")
    if question.kind == "choose":
        check_options(question.options, terminator)
    elif question.kind == "decide":
        check_options([*question.moves], terminator)
        for options in filter(None, question.moves.values()):
            check_options(options, terminator)
    elif question.kind == "write":
        _check_writing(question)
    elif question.kind != "embed":
        raise BtError(f"no model can be asked to {question.kind!r:.40}", f"it is one of {', '.join(KINDS)}")
    return question


def sampled(question: Question, sampler: Mapping[str, float], seed: int = 0) -> Question:
    """Fills open sampling settings from the model's sampler, and offsets the question's seed by the model's."""
    if question.kind != "write" or question.temperature == 0 or not (sampler or seed):
        return question
    question = question._replace(seed=question.seed + seed) if type(question.seed) is int else question
    unsaid: dict[str, Any] = {"top_p": 1.0, "min_p": 0.0, "top_k": 0}
    mine: dict[str, Any] = {n: v for n, v in sampler.items() if n in unsaid and getattr(question, n) == unsaid[n]}
    return question._replace(**mine)


def _check_writing(asked: Question) -> None:
    for name, most in (("temperature", math.inf), ("top_p", 1.0), ("min_p", 1.0)):
        value = getattr(asked, name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
            raise BtError(f"{name} is {value!r:.40}", f"{name} takes 0 {'or more' if most > 1 else 'to 1'}")
    if math.isinf(asked.temperature):
        raise BtError("temperature is inf", "0 takes the likeliest, 1 samples as the model says, 2 is wild")
    if type(asked.top_k) is not int or asked.top_k < 0:
        raise BtError(f"top_k is {asked.top_k!r:.40}", "it takes a whole number; 0 samples from all tokens")
    if type(asked.seed) is not int or asked.seed < 0:
        raise BtError(f"seed is {asked.seed!r:.40}", "a seed is a whole number, 0 or more")
    if type(asked.max_tokens) is not int or asked.max_tokens < 1:
        raise BtError(f"max_tokens is {asked.max_tokens!r:.40}", "it takes a whole number, 1 or more")

"""Shared by `infer` and `route`: a choice with its probabilities."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from contextlib import suppress
from typing import Any

from bt_runtime.agents.answers import Odds, odds_of
from bt_runtime.agents.model_node import ModelNode
from bt_runtime.agents.prompt import Prompt
from bt_runtime.agents.scoring import less, scored
from bt_runtime.events import Decided
from bt_runtime.language.expression import ExpressionError
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.llm.question import NO_SCORES
from bt_runtime.types import Choice, Question


class JudgingNode(ModelNode):
    grows = False  # nodes below it are not its expansion
    STATE = ("scoreless",)
    scoreless = False  # true if its model tells no log-probabilities

    def aim(self) -> str:
        return str(self.value("prompt"))

    def chosen(self, prompt: Prompt, options: Sequence[str], sure: bool = False) -> Generator[Any, Any, Odds]:
        """The chosen option, and the probability of each. `sure`: a model without scores is a fault."""
        said = tuple(f" {option}" for option in options)
        question = Question("choose", self.prompted(prompt), options=said, mode="exact" if self.scoreless else "scores")
        try:
            choice: Choice = yield from self.weighed(question, prompt)
        except BtError as fault:
            if NO_SCORES not in fault.message or sure or self.adjusted:
                raise
            self.scoreless = True
            choice = yield from self.asked(question._replace(mode="exact"))
        if sure and choice.scores is None and math.isnan(choice.margin):
            raise BtError(
                f"this model {NO_SCORES}, and `margin` and `distribution` are made of them",
                "leave them out, ask for several `votes`, or use a local model or a llama-server",
            )
        scale = float(self.value("scale")) if "scale" in self.spec.values else 1
        if choice.scores is not None and scale != 1:
            choice = choice._replace(scores=tuple(score / scale for score in choice.scores))
        odds = odds_of(choice, len(options))
        opening = prompt.steps.rpartition("\n")[2].strip()
        self.context.emit(Decided(self.path, opening, options[odds.index], choice.logprob, odds.margin))
        return odds

    @property
    def adjusted(self) -> bool:
        """True when the choice itself needs the scores of all options."""
        return bool(self.value("calibrate")) or self.spec.values["score"] == "prior"

    def weighed(self, question: Question, prompt: Prompt) -> Generator[Any, Any, Choice]:
        """Weighs the options by `score`; with `calibrate`, less the mean score of each for content-free cases."""
        opening = prompt.steps.rpartition("\n")[2]
        if not self.value("calibrate"):
            return (yield from scored(self, question, opening))
        blank = [prompt._replace(task=f"{text}\n", steps=opening) for text in self.blanks()]
        asked = question._replace(normalise=self.spec.values["score"] == "mean")
        return (yield from less(self, asked, blank, 1.0))

    def blanks(self) -> list[str]:
        """The case with every hole filled with neutral text."""
        template = self.spec.values["prompt"]
        if not hasattr(template, "evaluate"):
            return [*NOTHING]
        found = []
        for text in NOTHING:
            with suppress(ExpressionError):  # a hole that computes something of a number or a list
                found.append(str(template.evaluate(_Blank(text))).strip())
        return found or [*NOTHING]


NOTHING = ("N/A", "", "[MASK]", "...")  # cases without content


class _Blank:
    """Gives the same neutral text for every entry."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __getitem__(self, name: str) -> str:
        return self.text

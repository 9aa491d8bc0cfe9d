"""What `infer` and `route` have in common: questions that count for the run's budget, and a choice with its odds."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from typing import Any

from bt_runtime.agents.answers import Odds, odds_of
from bt_runtime.agents.model_node import ModelNode
from bt_runtime.agents.prompt import Prompt
from bt_runtime.events import Decided
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.llm.question import NO_SCORES
from bt_runtime.tree.budget import Spent
from bt_runtime.types import Choice, Question, Writing


class Judging(ModelNode):
    grows = False  # what stands below it is no expansion
    scoreless = False  # its model tells no log-probabilities

    def aim(self) -> str:
        return str(self.value("prompt"))

    def over(self) -> str:
        """Which budget of the run is spent; nothing while there is enough."""
        allowed, now = self.context.services.budget, self.context.clock.now()
        spent = self.whole.over(allowed, now) if allowed is not None else ""
        return f"{spent} of the run" if spent else ""

    @property
    def whole(self) -> Spent:
        """What the run has spent."""
        return self.context.services.spending(self.context.clock.now())

    def asked(self, question: Question) -> Generator[Any, Any, Any]:
        """One question, counted for the run."""
        self.whole.decisions += 1
        answer = yield from super().asked(question)
        self.whole.tokens += answer.tokens if isinstance(answer, Writing) else 0
        return answer

    def chosen(self, prompt: Prompt, options: Sequence[str], sure: bool = False) -> Generator[Any, Any, Odds]:
        """One of them, with how likely each is. `sure`: what the model does not tell is a fault."""
        said = tuple(f" {option}" for option in options)
        question = Question("choose", self.prompted(prompt), options=said, mode="exact" if self.scoreless else "scores")
        try:
            choice: Choice = yield from self.asked(question)
        except BtError as fault:
            if NO_SCORES not in fault.message or sure:
                raise
            self.scoreless = True
            choice = yield from self.asked(question._replace(mode="exact"))
        if sure and choice.scores is None and math.isnan(choice.margin):
            raise BtError(
                f"this model {NO_SCORES}, and `margin` and `distribution` are made of them",
                "leave them out, ask for several `votes`, or use a local model or a llama-server",
            )
        odds = odds_of(choice, len(options))
        opening = prompt.steps.rpartition("\n")[2].strip()
        self.context.emit(Decided(self.path, opening, options[odds.index], choice.logprob, odds.margin))
        return odds

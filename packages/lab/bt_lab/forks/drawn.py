"""A model whose answers are drawn by their likelihood, so that a run that is started anew takes another course."""

from __future__ import annotations

import math
from random import Random
from typing import Any

from bt_lab.forks.flip import restored, several, without
from bt_runtime.llm.model_wrapper import WrappedModel
from bt_runtime.types import Choice, Job, Model, Question

TEMPERATURE = 0.7


class DrawnModel(WrappedModel):
    """Draws choices and texts at a temperature. At 0, as agents ask, a second run would be the first one again."""

    def __init__(self, model: Model, seed: int, temperature: float = TEMPERATURE) -> None:
        super().__init__(model)
        self.random, self.temperature = Random(seed), temperature  # agents' choices have no seeds of their own

    def ask(self, question: Question) -> Job[Any]:
        if question.kind == "write":
            return self.model.ask(question._replace(temperature=max(question.temperature, self.temperature)))
        if question.kind in ("choose", "decide") and not question.aside and several(question):
            return DrawnJob(self.model, question, self.temperature, self.random.random())
        return self.model.ask(question)


class DrawnJob(Job[Choice]):
    """Draws one of the two best options by their distance, the `margin`: a model tells no more of them."""

    def __init__(self, model: Model, question: Question, temperature: float, lot: float) -> None:
        self.model, self.question, self.temperature, self.lot = model, question, temperature, lot
        self.job: Job[Choice] = model.ask(question)
        self.wakes = self.job.wakes
        self.best: Choice | None = None

    def poll(self) -> Choice | None:
        found = self.job.poll()
        if found is None:
            return None
        if self.best is not None:
            self.spent = self.spent.plus(self.job.spent)
            return restored(self.question, self.best.text, found)
        self.spent = self.job.spent
        if not self._second(found.margin):
            return found
        self.best, self.job = found, self.model.ask(without(self.question, found.text))
        return self.poll()

    def _second(self, margin: float) -> bool:
        if not math.isfinite(margin):
            return False
        return self.lot < 1 / (1 + math.exp(min(margin / self.temperature, 700.0)))

    def cancel(self, reason: str) -> None:
        self.job.cancel(reason)

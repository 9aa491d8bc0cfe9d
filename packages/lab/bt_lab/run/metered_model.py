"""One episode's view of a model that all episodes share; it counts the episode's questions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bt_runtime.language.faults.diagnostic import BtError, TooLong
from bt_runtime.llm.model_wrapper import MappedJob, WrappedModel
from bt_runtime.types import Job, Model, Question, Spent, Writing


@dataclass(slots=True)
class Tally:
    """Counts of model calls."""

    calls: int = 0
    written: int = 0
    prompt: int = 0
    reused: int = 0
    computed: int = 0
    seconds: float = 0.0
    too_long: bool = False  # a prompt was longer than the model can read


class MeteredModel(WrappedModel):
    def __init__(self, model: Model, tally: Tally) -> None:
        super().__init__(model)
        self.tally = tally

    def ask(self, question: Question) -> Job[Any]:
        self.tally.calls += 1
        job = self.model.ask(question)
        return MappedJob(job, lambda answer: self.noted(answer, job.spent), self.failed)

    def noted(self, answer: Any, spent: Spent) -> Any:
        tally = self.tally
        tally.written += answer.tokens if isinstance(answer, Writing) else 0
        tally.prompt += spent.prompt
        tally.reused += spent.reused
        tally.computed += spent.computed
        tally.seconds += spent.seconds
        return answer

    def failed(self, fault: BtError) -> None:
        self.tally.too_long |= isinstance(fault, TooLong)

"""Wraps models: a wrapper needs one `ask`, which maps the question, and one `MappedJob`, which maps the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.llm.job import Answer
from bt_runtime.types import Job, Json, Model, Wake

A = TypeVar("A")
B = TypeVar("B")


class WrappedModel(Model):
    """Answers by its own `ask` and passes all else to the model behind it, which the opener closes."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.chat_template, self.settings = model.chat_template, model.settings
        self.constrains, self.register, self.sees = model.constrains, model.register, model.sees

    def opening(self, wake: Wake | None = None) -> Job[Any] | None:
        return self.model.opening(wake)

    def count(self, text: str) -> int:
        return self.model.count(text)

    def counting(self, texts: Sequence[str], wake: Wake | None = None) -> Job[Sequence[int]]:
        return counting(self.model, texts, wake)

    def stats(self) -> Mapping[str, Json]:
        return self.model.stats()


class MappedJob(Job[B]):
    """A job that converts another job's answer with `read`, once. `failed` is called with the error when the job
    fails."""

    def __init__(
        self, job: Job[A], read: Callable[[A], B], failed: Callable[[BtError], None] = lambda fault: None
    ) -> None:
        self.job: Job[Any] = job
        self.read, self.failed = read, failed
        self.wakes = job.wakes
        self.answer: B | None = None

    def poll(self) -> B | None:
        if self.answer is None:
            try:
                found = self.job.poll()
            except BtError as fault:
                self.failed(fault)
                raise
            if found is not None:
                self.spent = self.job.spent
                self.answer = self.read(found)
        return self.answer

    def cancel(self, reason: str) -> None:
        self.job.cancel(reason)


def counting(model: Model, texts: Sequence[str], wake: Wake | None = None) -> Job[Sequence[int]]:
    """Counts the tokens of each text, as a job: by the model's own `counting`, where its `count` would wait."""
    own: Any = getattr(model, "counting", None)
    return own(texts, wake) if own is not None else Answer.of([model.count(text) for text in texts])


def a_model(given: object) -> Model:
    """Returns the model unchanged; raises a BtError that names what a model needs."""
    if isinstance(given, Model):
        return given
    raise BtError(
        f"{type(given).__name__} is not a model",
        "derive it from bt_runtime.types.Model and write its `ask` (docs/models.md)",
    )


def a_job(given: object, model: Model) -> Job[Any]:
    """Returns the job that a model's `ask` returned; raises a BtError when it is no job."""
    if isinstance(given, Job):
        return given
    raise BtError(
        f"`ask` of {type(model).__name__} gave {type(given).__name__}, which is not a job",
        "give bt_runtime.llm.job.Answer, or a Job of your own (docs/models.md)",
    )

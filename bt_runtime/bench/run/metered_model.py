"""A model that all episodes share, as one of them sees it: counts what it asked, and wakes only that one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.types import Job, Json, Model, Wake

MARGIN = 64  # tokens that an answer may take
TRIES = 100  # of counting; a model gives up one of them after a twentieth of a second


@dataclass(slots=True)
class Tally:
    """What was asked of models."""

    calls: int = 0
    written: int = 0
    prompt: int = 0
    reused: int = 0
    computed: int = 0
    seconds: float = 0.0
    too_long: bool = False  # a prompt was longer than the model can read


def counted(model: Model, text: str) -> int:
    """Tokens, asked for again while the model only gives an upper bound because it was too busy to count.

    Which experiences fit a budget, and so what is decided, must not hang on how busy the machine is.
    """
    most = len(text.encode("utf-8", "surrogatepass"))
    for _ in range(TRIES):
        found = model.count(text)
        if found <= most:
            break
    return found


class MeteredModel:
    """Has no `wake` of its own: whose job it is decides who is woken."""

    def __init__(self, model: Model, tally: Tally, wake: Wake) -> None:
        self.model, self.tally, self.wakes = model, tally, wake

    @property
    def chat_template(self) -> str | None:
        return getattr(self.model, "chat_template", None)

    def choose(self, prompt: str, options: Sequence[str], **how: Any) -> Counted:
        return self._asked(prompt, lambda: self.model.choose(prompt, options, **how))

    def decide(self, prompt: str, moves: Mapping[str, Sequence[str]], **how: Any) -> Counted:
        return self._asked(prompt, lambda: self.model.decide(prompt, moves, **how))

    def write(self, prompt: str, **how: Any) -> Counted:
        return self._asked(prompt, lambda: self.model.write(prompt, **how))

    def embed(self, texts: Sequence[str]) -> Counted:
        return self._asked("", lambda: self.model.embed(texts))

    def count(self, text: str) -> int:
        return counted(self.model, text)

    def stats(self) -> Mapping[str, Json]:
        return self.model.stats()

    def close(self) -> None:
        """The model belongs to all."""

    def _asked(self, prompt: str, ask: Callable[[], Job[Any]]) -> Counted:
        self.tally.calls += 1
        shared: Any = self.model
        if hasattr(shared, "wake"):
            shared.wake = self.wakes  # a job keeps the one that was there when it was asked
        return Counted(ask(), self, prompt)

    def note(self, job: Any, answer: Any) -> None:
        spent, tally = getattr(job, "spent", None), self.tally
        tally.written += getattr(answer, "tokens", 0)
        if spent is not None:
            tally.prompt += spent.prompt
            tally.reused += spent.reused
            tally.computed += spent.computed
            tally.seconds += spent.seconds

    def failed(self, prompt: str) -> None:
        """A prompt that does not fit is a limit that was reached; all else is an error."""
        context = self.model.stats().get("context")
        if prompt and isinstance(context, int) and self.model.count(prompt) + MARGIN > context:
            self.tally.too_long = True


class Counted:
    """A job whose cost is added up when it is done."""

    def __init__(self, job: Job[Any], metered: MeteredModel, prompt: str) -> None:
        self.job, self.metered, self.prompt = job, metered, prompt
        self.wakes = hasattr(metered.model, "wake")

    def poll(self) -> Any:
        try:
            answer = self.job.poll()
        except BtError:
            self.metered.failed(self.prompt)
            raise
        if answer is not None:
            self.metered.note(self.job, answer)
        return answer

    def cancel(self, reason: str) -> None:
        self.job.cancel(reason)

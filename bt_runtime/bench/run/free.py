"""Unconstrained decoding, for comparison: the model writes what it does as free text, and that is what is done.

Nothing holds it to what can be done. A text that is none of the options goes on as it is: the agent acts it, the world
refuses it, and the refusal is the next observation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bt_runtime.agents.story import ACT
from bt_runtime.types import Choice, Grammar, Job, Json, Model, Writing

LINE = 80  # tokens of one line


class Free:
    """In front of a model. A thought that was written together with its `Think:` is not asked for twice."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.known: dict[str, bool] = {}  # sentence → was it one of the options when it was last written
        self.rest: tuple[str, Writing] | None = None  # a prompt, and what was written after it already

    @property
    def chat_template(self) -> str | None:
        return getattr(self.model, "chat_template", None)

    def offered(self, sentence: str) -> bool:
        return self.known.get(sentence, True)

    def choose(self, prompt: str, options: Sequence[str], **how: Any) -> Written:
        return Written(self._line(prompt), lambda wrote: self._sentence("", wrote.text, options, 0))

    def decide(self, prompt: str, moves: Mapping[str, Sequence[str]], **how: Any) -> Written:
        return Written(self._line(prompt), lambda wrote: self._move(prompt, wrote, moves))

    def write(self, prompt: str, *, grammar: Grammar | None = None, **how: Any) -> Job[Writing]:
        """Without the grammar: a plan that cannot be read is refused by whoever asked for it."""
        if self.rest is not None and self.rest[0] == prompt:
            (_, wrote), self.rest = self.rest, None
            return Written(None, lambda _: wrote)
        return self.model.write(prompt, **how)

    def count(self, text: str) -> int:
        return self.model.count(text)

    def embed(self, texts: Sequence[str]) -> Job[Sequence[Sequence[float]]]:
        return self.model.embed(texts)

    def stats(self) -> Mapping[str, Json]:
        return self.model.stats()

    def close(self) -> None:
        self.model.close()

    def _line(self, prompt: str) -> Job[Writing]:
        return self.model.write(prompt, stop=["\n"], max_tokens=LINE)

    def _move(self, prompt: str, wrote: Writing, moves: Mapping[str, Sequence[str]]) -> Choice:
        """The move that the line begins with; a line without one is an act of what it says."""
        line = wrote.text.strip()
        before = 0
        for move, options in moves.items():
            if line.startswith(move):
                rest = line[len(move) :]
                if options:
                    return self._sentence(move, rest, options, before)
                if rest.strip():
                    self.rest = (prompt + move, wrote._replace(text=rest, tokens=0))  # its tokens are counted already
                return Choice(move, before, math.nan, math.nan)
            before += len(options) or 1
        return self._sentence(ACT, line, moves.get(ACT, ()), 0)

    def _sentence(self, move: str, text: str, options: Sequence[str], before: int) -> Choice:
        """-1 is the index of what is none of the options."""
        said = text.strip()
        index = next((i for i, option in enumerate(options) if option.strip() == said), None)
        self.known[said] = index is not None
        return Choice(f"{move} {said}", -1 if index is None else before + index, math.nan, math.nan)


class Written:
    """A job whose answer is read as another one; without a job, it is there at once."""

    def __init__(self, job: Job[Writing] | None, read: Callable[[Any], Any]) -> None:
        self.job, self.read = job, read
        self.wakes = job is None or getattr(job, "wakes", False)
        self.answer: Any = None

    def poll(self) -> Any:
        if self.answer is None:
            wrote = self.job.poll() if self.job is not None else ""
            if wrote is not None:
                self.answer = self.read(wrote)
        return self.answer

    def cancel(self, reason: str) -> None:
        if self.job is not None:
            self.job.cancel(reason)

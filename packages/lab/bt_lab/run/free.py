"""Unconstrained decoding, for comparison: the model writes its action as free text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from bt_runtime.agents.story import ACT
from bt_runtime.llm.job import Answer
from bt_runtime.llm.model_wrapper import MappedJob, WrappedModel
from bt_runtime.types import Choice, Job, Model, Question, Writing

LINE = 80  # tokens of one line


class Free(WrappedModel):
    """A model without constraints. A thought that it wrote together with its `Think:` is not asked for again."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.known: dict[str, bool] = {}  # sentence → was it one of the options when it was last written
        self.rest: tuple[str, Writing] | None = None  # a prompt, and what was written after it already

    def offered(self, sentence: str) -> bool:
        return self.known.get(sentence, True)

    def ask(self, question: Question) -> Job[Any]:
        """Asks without the grammar, so the caller refuses a plan that cannot be parsed."""
        if question.kind == "embed":
            return self.model.ask(question)
        if question.kind == "write":
            if self.rest is None or self.rest[0] != question.prompt:
                return self.model.ask(question._replace(grammar=None))
            (_, wrote), self.rest = self.rest, None
            return Answer.of(wrote)
        line = Question("write", question.prompt, stop=("\n",), max_tokens=LINE, by=question.by, wake=question.wake)
        if question.kind == "choose":
            return MappedJob(self.model.ask(line), lambda wrote: self._sentence("", wrote.text, question.options, 0))
        return MappedJob(self.model.ask(line), lambda wrote: self._move(question, wrote))

    def _move(self, question: Question, wrote: Writing) -> Choice:
        """Returns the move at the line's beginning; a line without one counts as an act."""
        line, moves = wrote.text.strip(), question.moves
        move = next((move for move in moves if line.startswith(move)), None)
        if move is None:
            return self._sentence(ACT, line, moves.get(ACT, ()), 0)
        rest = line[len(move) :]
        if moves[move]:
            return self._sentence(move, rest, moves[move], question.before(move))
        if rest.strip():
            self.rest = (question.prompt + move, wrote._replace(text=rest, tokens=0))  # its tokens are counted already
        return Choice(move, question.before(move), math.nan, math.nan)

    def _sentence(self, move: str, text: str, options: Sequence[str], before: int) -> Choice:
        """Chooses the option that equals the text; the index -1 means that no option does."""
        said = text.strip()
        index = next((i for i, option in enumerate(options) if option.strip() == said), None)
        self.known[said] = index is not None
        return Choice(f"{move} {said}", -1 if index is None else before + index, math.nan, math.nan)

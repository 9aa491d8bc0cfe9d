"""A model whose context is short, and whose tokens are characters."""

from __future__ import annotations

from typing import Any

from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.scripted import ScriptedAnswer
from bt_runtime.language.faults.diagnostic import TooLong
from bt_runtime.types import Question

LIMIT = 1200


class Refused(ScriptedAnswer):
    def poll(self) -> Any:
        raise self.answer


class Narrow(ScriptedModel):
    """Takes prompts of so many characters, an answer of 50 included; refuses others, as a model does whose tokens are
    characters. `tells`: with numbers."""

    def __init__(self, script: Any, limit: int = LIMIT, tells: bool = True) -> None:
        super().__init__(script)
        self.limit, self.tells, self.refused = limit, tells, list[Question]()

    def ask(self, question: Question) -> ScriptedAnswer:
        size = len(question.prompt) + 50
        if size <= self.limit:
            return super().ask(question)
        self.refused.append(question)
        measure = (size, self.limit) if self.tells else (0, 0)
        return Refused(TooLong(f"a prompt of {size}", "a shorter one", *measure))

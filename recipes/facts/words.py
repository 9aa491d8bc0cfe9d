"""The control: no model, but a count of the words that a goal and an action share."""

from __future__ import annotations

import re

from bt_runtime.agents.backchain.wording import same_stem
from bt_runtime.agents.scripted import ScriptedAnswer, ScriptedModel
from bt_runtime.types import Choice, Question


class Words(ScriptedModel):
    """Scores an action by its words in the goal: whole, or but for an ending of two letters."""

    def __init__(self) -> None:
        super().__init__([])

    def ask(self, question: Question) -> ScriptedAnswer:
        goal = _words(question.prompt.rpartition("Goal: ")[2].partition("\n")[0])
        scores = tuple(float(sum(any(same_stem(a, b) for b in goal) for a in _words(o))) for o in question.options)
        best = scores.index(max(scores))
        return ScriptedAnswer(Choice(question.options[best], best, scores[best], 0.0, scores))


def _words(text: str) -> set[str]:
    return {*re.findall(r"\w+", text.lower())}

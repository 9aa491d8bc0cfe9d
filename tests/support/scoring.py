"""Models that answer by scores which a test gives."""

from __future__ import annotations

import math

from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.scripted import ScriptedAnswer
from bt_runtime.types import Choice, Question


class ActScoring(ScriptedModel):
    """Scores by a table; `score` is what an option has behind a prompt."""

    register = "instruct"

    def __init__(self, score, tells: bool = True) -> None:
        super().__init__([])
        self.score, self.tells = score, tells

    def ask(self, question: Question) -> ScriptedAnswer:
        self.asked.append(question)
        if question.kind == "decide":
            options = question.moves["Act:"] or ("",)
            best = max(options, key=lambda option: self.score(question, option) if option else 0.0)
            return ScriptedAnswer(Choice(f"Act:{best}", question.alternatives.index(f"Act:{best}"), -1.0, 1.0))
        scores = [self.score(question, option) for option in question.options]
        best = max(range(len(scores)), key=scores.__getitem__)
        told = tuple(scores) if self.tells and question.mode == "scores" else None
        return ScriptedAnswer(Choice(question.options[best], best, scores[best], 0.5, told))


class Scoring(ScriptedModel):
    """`weights(question)` gives each option's log-probability; what is written comes from the script."""

    def __init__(self, weights, script=(), polls=0):
        super().__init__(script, polls)
        self.weights = weights

    def ask(self, question):
        if question.kind == "write":
            return super().ask(question)
        self.asked.append(question)
        scores = tuple(float(each) for each in self.weights(question))
        index = max(range(len(scores)), key=lambda i: (scores[i], -i))
        second = max((s for i, s in enumerate(scores) if i != index), default=-math.inf)
        told = scores if question.mode == "scores" else None
        chosen = Choice(question.options[index], index, scores[index], scores[index] - second, told)
        self.jobs.append(ScriptedAnswer(chosen, self.polls))
        return self.jobs[-1]

"""A scripted model that learns: without the plan it gives up, with it it knows the way. It shows the mechanics."""

from __future__ import annotations

import re

from bt_runtime.types import Question, Task
from tests.support.oracles import ways

_TASK = re.compile(r"^Your task is to: (.*)$", re.MULTILINE)
KNOWS = "make the parts first"
PLAN = f"1. Read the recipes.\n2. {KNOWS}.\n"


class Learner:
    """Called with each question. `plans`: what it answers to the first, second, … request for a plan."""

    def __init__(self, tasks: list[Task], suite: str = "textcraft", plans: tuple[str, ...] = (PLAN,)) -> None:
        self.ways, self.plans = ways(tasks, suite), plans
        self.asked: list[str] = []  # what kind of question each was
        self.prompts: list[str] = []

    def __call__(self, ask: Question) -> str:
        prompt = ask.prompt
        self.prompts.append(prompt)
        if ask.kind == "write":
            cue = prompt.rstrip("\n").rpartition("\n")[2]
            self.asked.append(cue.rstrip(":").lower())
            if cue == "New plan:":
                written = sum(what == "new plan" for what in self.asked)
                return self.plans[min(written, len(self.plans)) - 1]
            return f" the {cue.rstrip(':').lower()} of it"
        goal = _TASK.findall(prompt)[-1]
        self.asked.append("act")
        if KNOWS not in prompt:
            return "Act: failure"
        return f"Act: {self.ways[goal][prompt.rpartition(goal)[2].count('Act: ')]}"

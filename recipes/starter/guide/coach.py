"""The teacher of AutoPlan as a model: it follows plans, reflects and rewrites, told by each prompt alone."""

from __future__ import annotations

from bt_runtime.agents import autoplan
from bt_runtime.agents.story import ACT
from bt_runtime.types import Question
from recipes.starter.guide import follower, reviewer
from recipes.starter.lesson import Slips, Transcript, sentences, slip
from recipes.starter.seen import read


class Coach:
    """Answers as a scripted model does, and writes down what it was asked, each sort for itself."""

    def __init__(self, slips: Slips | None = None) -> None:
        self.slips = slips
        self.acting, self.reflecting = Transcript("guided react"), Transcript("guided reflect")
        self.rewriting = Transcript("guided rewrite")

    def __call__(self, ask: Question) -> str:
        prompt = ask.prompt
        if prompt.endswith(tuple(autoplan.CUES.values())):
            answer = f" {reviewer.part(prompt)}"
            self.reflecting.note(prompt, f"{answer}\n", True)
            return answer
        if prompt.endswith(autoplan.NEW_PLAN):
            answer = f"{reviewer.rewritten(prompt)}\n\n"
            self.rewriting.note(prompt, answer, True)
            return answer
        choosable = sentences(ask)
        said = follower.teacher(read(prompt), choosable)
        if said.startswith(ACT) and said.removeprefix(f"{ACT} ") not in choosable:
            return f"{ACT} failure"  # a slip has led to where it knows no way out
        able = [
            sentence for sentence in choosable if not sentence.startswith("pick up ")
        ]  # its hands are for the thing
        slipped = slip(said, able, self.slips)
        self.acting.note(prompt.removesuffix(ACT), f"{slipped}\n", slipped == said)
        return slipped

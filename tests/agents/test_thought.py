"""Thoughts of a model whose likeliest line is an empty one."""

from __future__ import annotations

from bt_runtime import Run, load
from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.thought import WORDS
from bt_runtime.clock import Manual
from bt_runtime.events import AgentEnded
from bt_runtime.types import Question
from tests.support.room import Room

TREE = """\
version: 1
tree: t
root:
  agent: {goal: bring the cup, moves: [think, act], recall: false, max_steps: 4}
"""


class Stranger(ScriptedModel):
    """`thoughts`: what it writes when it is free to, one after the other; held to words, it writes `I look.`."""

    register = "instruct"

    def __init__(self, thoughts: list[str], constrains: bool = True) -> None:
        super().__init__(self.say)
        self.thoughts, self.constrains = thoughts, constrains

    def say(self, question: Question) -> str:
        if question.kind == "decide":
            return "Think:" if "Think:" in question.moves else "Act: done"
        if question.kind == "choose":
            return "Act: done"
        if question.grammar is not None:
            return " I look."
        text = self.thoughts.pop(0) if self.thoughts else "\n\n I see a cup.\nAct: done"
        return text.partition("\n")[0] if "\n" in question.stop else text


def spun(model: ScriptedModel, tree: str = TREE) -> AgentEnded:
    ends: list[AgentEnded] = []
    with Run(load(tree), world=Room(), model=model, clock=Manual()) as run:
        run.listen(lambda event: ends.append(event) if isinstance(event, AgentEnded) else None)
        run.spin(ticks=50)
    (end,) = ends
    return end


def test_an_empty_thought_is_asked_for_again_under_a_grammar_that_wants_words():
    """The story holds the second answer, and no empty thought."""
    model = Stranger(["\n", "\n", "\n", "\n"])
    end = spun(model)
    writes = [q for q in model.asked if q.kind == "write"]
    assert [q.grammar for q in writes[:2]] == [None, WORDS]
    assert writes[0].prompt == writes[1].prompt
    assert "Think: I look." in model.asked[-1].prompt and "Think: \n" not in model.asked[-1].prompt
    assert end.why == "done"


def test_a_model_that_cannot_be_held_is_asked_without_the_stop_that_ended_it():
    """Blanks in front are cut off, and what follows the line."""
    model = Stranger(["\n"], constrains=False)
    spun(model)
    writes = [q for q in model.asked if q.kind == "write"]
    assert [q.stop for q in writes[:2]] == [("\n",), ()]
    assert "Think: I see a cup." in model.asked[-1].prompt


def test_bad_thoughts_end_nothing_and_no_second_one_is_offered():
    """After an empty thought, or the same one again, the next decision has no `Think:` among its moves."""
    model = Stranger(["\n", " ", "I look.", "I look.", "\n", " "], constrains=False)
    end = spun(model)
    offered = [q.kind == "decide" for q in model.asked if q.kind != "write"]
    assert offered == [True, False], "an empty thought, then an act without the choice of another"
    assert end.why == "done"
    again = Stranger(["I look.", "I look.", "\n", " "])
    spun(again)
    assert [q.kind == "decide" for q in again.asked if q.kind != "write"] == [True, True, False]

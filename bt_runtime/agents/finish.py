"""`finish: judge`: whether a goal is reached is judged after an act, and is no act itself.

The judgement: by which share of its surprise the goal's own sentence became less surprising as an account of what was
done, against before the first act. What the sentence has anyway is in both, and so is out of the share.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any

from bt_runtime.agents.prompt import Prompt
from bt_runtime.agents.scoring import priors, scores
from bt_runtime.agents.story import StoryStep, harmless
from bt_runtime.agents.verify import short
from bt_runtime.types import Question

if TYPE_CHECKING:
    from bt_runtime.agents.model_node import ModelNode

SHOWN = 4  # acts of the account, the latest
LONGEST = 200  # characters of the goal
SYSTEM = "You say in one line what somebody has brought about."
OPENING = "The task was:"
_NOTHING = "Nothing was done."


def account(steps: Sequence[StoryStep]) -> Prompt:
    """Returns the prompt that lists the acts and asks for their purpose."""
    deeds = [f"- {step.text}: {short(harmless(step.observation))}" for step in steps if step.move == "act"]
    lines = ["What was done, in this order:", *deeds[-SHOWN:]] if deeds else [_NOTHING]
    return Prompt(SYSTEM, "", "".join(f"{line}\n" for line in lines), OPENING)


def told(goal: str) -> str:
    """Returns the goal's sentence that is scored: its first line."""
    return goal.strip().partition("\n")[0][:LONGEST]


def gained(node: ModelNode, goal: str, steps: Sequence[StoryStep]) -> Generator[Any, Any, float]:
    """The judgement from 0 to 1. 1: the goal follows from the steps; 0: it is as surprising as before the first act."""
    sentence = (f" {told(goal)}",)
    before = (yield from priors(node, [account(())], sentence))[0]
    text = account(steps).text(node.chat)
    question = Question("choose", text, options=sentence, mode="scores", aside=True)
    now = (yield from scores(node, question))[0]
    return (now - before) / -before if before < 0 else 0.0

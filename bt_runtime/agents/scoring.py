"""A sentence's score: the sum of its tokens' log-probabilities, their mean, or the sum less the sentence's prior.
The prior is its score behind content-free prompts. Sums favour short sentences and frequent words."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any

from bt_runtime.agents.prompt import Prompt
from bt_runtime.agents.services import agent_services
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.llm.question import NO_SCORES
from bt_runtime.types import Choice, Question

if TYPE_CHECKING:
    from bt_runtime.agents.model_node import ModelNode

NEUTRAL = "Say something to do.\n"  # an empty request: a sentence's score behind it is its prior
Scored = Generator[Any, Any, Choice]


def neutral(opening: str) -> Prompt:
    return Prompt("", "", NEUTRAL, opening)


def scored(node: ModelNode, question: Question, opening: str) -> Scored:
    """Chooses an option by the node's `score`. `opening` is the text before the options in the model's turn."""
    how = node.spec.values.get("score", "sum")
    if how != "prior":
        choice: Choice = yield from node.asked(question._replace(normalise=how == "mean"))
        return choice
    return (yield from less(node, question, [neutral(opening)], float(node.value("weight"))))


def less(node: ModelNode, question: Question, prompts: Sequence[Prompt], weight: float) -> Scored:
    """Scores the options less `weight` times the mean of their scores behind these prompts."""
    told = yield from scores(node, question._replace(mode="scores"))
    known = yield from priors(node, prompts, question.options)
    return picked(question.options, [s - weight * p for s, p in zip(told, known, strict=True)])


def scores(node: ModelNode, question: Question) -> Generator[Any, Any, tuple[float, ...]]:
    """Returns the scores of all options; a fault when the model reports none."""
    choice: Choice = yield from node.asked(question)
    if choice.scores is None:
        raise _scoreless()
    return choice.scores


def picked(options: Sequence[str], scores: Sequence[float]) -> Choice:
    index = max(range(len(scores)), key=lambda i: (scores[i], -i))
    second = max((score for i, score in enumerate(scores) if i != index), default=-math.inf)
    return Choice(options[index], index, scores[index], scores[index] - second, tuple(scores))


def priors(node: ModelNode, prompts: Sequence[Prompt], options: Sequence[str]) -> Generator[Any, Any, list[float]]:
    """The mean score of each option behind these prompts. Each pair is scored once a run and then cached."""
    chat, role = node.chat, str(node.spec.values.get("model") or "")
    total = [0.0] * len(options)
    for prompt in prompts:
        text = prompt.text(chat)
        known = agent_services(node.context).priors.setdefault((role, text), {})
        new = tuple(option for option in dict.fromkeys(options) if option not in known)
        if new:
            question = Question("choose", text, options=new, mode="scores", aside=True)
            known.update(zip(new, (yield from scores(node, question)), strict=True))
        total = [sum_ + known[option] for sum_, option in zip(total, options, strict=True)]
    return [each / len(prompts) for each in total]


def _scoreless() -> BtError:
    return BtError(
        f"this model {NO_SCORES}, and `score: prior`, `calibrate` and `finish: judge` are made of them",
        "leave them out, or use a local model or a llama-server",
    )

"""Flips one decision of a recorded run at a time, the most doubtful first, and tells which flip saves the run."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from bt_lab.forks.forking import Forking, Played
from bt_lab.report.table import aligned
from bt_runtime.journal import codec
from bt_runtime.journal.reading import Recording
from bt_runtime.llm.model_wrapper import MappedJob, WrappedModel
from bt_runtime.run.replay.fork import Edits
from bt_runtime.types import Choice, Job, Model, Question


class Doubt(NamedTuple):
    """A decision between several options. `margin`: how far ahead the answer was; NaN where the model did not say."""

    number: int  # of the questions of the run, as `--at decision:N` counts
    tick: int
    path: str
    what: str
    answer: str
    margin: float
    role: str


class Flip(NamedTuple):
    doubt: Doubt
    instead: str
    played: Played


class FlippedModel(WrappedModel):
    """Gives its first decision the best option that is not `avoided`; every later question goes to the model."""

    def __init__(self, model: Model, avoided: Doubt) -> None:
        super().__init__(model)
        self.avoided, self.instead, self.done = avoided, "", False

    def ask(self, question: Question) -> Job[Any]:
        doubt = self.avoided
        if self.done or question.aside or (question.kind, question.by) != (doubt.what, doubt.path):
            return self.model.ask(question)
        self.done = True
        return MappedJob(self.model.ask(without(question, doubt.answer)), lambda choice: self._said(question, choice))

    def _said(self, question: Question, choice: Choice) -> Choice:
        self.instead = choice.text
        return restored(question, self.avoided.answer, choice)


def without(question: Question, answer: str) -> Question:
    """The question without one of its alternatives."""
    if question.kind == "choose":
        return question._replace(options=tuple(option for option in question.options if option != answer))
    moves = {}
    for move, options in question.moves.items():
        left = tuple(option for option in options if move + option != answer)
        if left or (not options and move != answer):
            moves[move] = left
    return question._replace(moves=moves)


def restored(question: Question, avoided: str, choice: Choice) -> Choice:
    """The choice among the question's alternatives, from that among those without the avoided one."""
    scores, lost = choice.scores, question.alternatives.index(avoided)
    if scores is not None:
        scores = (*scores[:lost], -math.inf, *scores[lost:])
    return choice._replace(index=question.alternatives.index(choice.text), scores=scores)


def several(question: Question) -> bool:
    return len(question.alternatives) > 1


def doubts(recording: Recording, first: int = 0) -> list[Doubt]:
    """The decisions from an event on, by margin, the smallest first; those without a margin come last.

    Texts that a model wrote, and questions with one option, are no such decisions."""
    return sorted(_doubts(recording, first), key=lambda d: (math.isnan(d.margin), d.margin, d.number))


def _doubts(recording: Recording, first: int) -> Iterator[Doubt]:
    answers = {body["job"]: body for _, body in recording.of("answer") if "value" in body}
    number = 0
    for at, event in enumerate(recording.events):
        if event.kind != "ask":
            continue
        number += 1
        body = recording.body(event)
        if at < first or body["what"] not in ("choose", "decide") or body.get("aside") or body["job"] not in answers:
            continue
        choice = codec.full(answers[body["job"]]["value"])
        if _several(json.loads(body["offered"])):
            margin = float(choice.margin)
            yield Doubt(number, event.tick, body["path"], body["what"], choice.text, margin, body["model"])


def _several(offered: dict[str, Any]) -> bool:
    moves = offered.get("moves") or {}
    return len(offered.get("options") or ()) + sum(len(options) or 1 for options in moves.values()) > 1


def flips(
    forking: Forking, found: Sequence[Doubt], seed: int | None = None,
    tell: Callable[[str], None] = lambda line: None, tokens: float = math.inf,
) -> Iterator[Flip]:  # fmt: skip
    """Forks the run before each decision, and lets the models go on from the best other answer. `tokens`: what all
    forks together may have computed; the one at which they are spent has failed."""
    for doubt in found:
        if tokens <= 0:
            return
        own = forking.models.get(doubt.role) or forking.models["default"]
        flipped = FlippedModel(own, doubt)
        roles = {role: flipped if model is own else model for role, model in forking.models.items()}
        played = forking.play(f"decision:{doubt.number}", Edits(seed=seed), roles, tokens)
        tokens -= played.tokens
        tell(f"decision {doubt.number}: {flipped.instead.strip()}: {played.status}")
        yield Flip(doubt, flipped.instead, played)


def table(found: Sequence[Flip]) -> str:
    rows = [("decision", "tick", "margin", "node", "answer", "flipped to", "then")]
    for doubt, instead, played in found:
        margin = "-" if math.isnan(doubt.margin) else f"{doubt.margin:.2f}"
        then = "saved" if played.passed else played.status.lower()
        rows.append((str(doubt.number), str(doubt.tick), margin, doubt.path, doubt.answer.strip(), instead.strip(),
                     then))  # fmt: skip
    return aligned(rows)

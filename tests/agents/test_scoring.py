"""What sentences are compared by, and what is taken off the scores of choices."""

from __future__ import annotations

from collections import Counter

import pytest

from bt_runtime import Run, load
from bt_runtime.agents import ScriptedModel
from bt_runtime.clock import Manual
from bt_runtime.events import Decided
from bt_runtime.types import Question
from tests.support.room import Room
from tests.support.scoring import ActScoring

SENTENCES = {" go left": -9.0, " go right": -7.0, " jump": -8.0, " done": -2.0, " failure": -6.0}
ANYWAY = {" go left": -12.0, " go right": -2.0, " jump": -4.0, " done": -1.0, " failure": -1.0}
AGENT = """\
version: 1
tree: t
root:
  agent: {goal: move, moves: MOVES, recall: false, max_steps: 2, SCORE}
"""
ASKED = """\
version: 1
tree: t
inputs:
  message: {type: string}
blackboard:
  team: {type: string, default: ""}
  sure: {type: number, default: 0}
root:
  infer:
    prompt: "A message: {message}"
    outputs: {team: {choices: [billing, sales]}}
    margin: sure
    calibrate: CALIBRATE
"""
ROUTED = """\
version: 1
tree: t
inputs:
  message: {type: string}
blackboard:
  team: {type: string, default: ""}
root:
  route:
    prompt: "A message: {message}"
    calibrate: CALIBRATE
    children:
      - set: {name: billing, about: invoices, values: {team: billing}}
      - set: {name: sales, about: prices, values: {team: sales}}
"""


def acts(question: Question, option: str) -> float:
    neutral = "Say something to do." in question.prompt
    length = len(option.split()) + 1 if question.normalise else 1
    return (ANYWAY if neutral else SENTENCES)[option] / length


def decisions(tree: str, model: ScriptedModel, **inputs: str) -> tuple[list[str], Run]:
    heard: list[str] = []
    with Run(load(tree), inputs=inputs, world=Room(), model=model, clock=Manual()) as run:
        run.listen(lambda event: heard.append(event.sentence) if isinstance(event, Decided) else None)
        run.spin(ticks=50)
    return heard, run


@pytest.mark.parametrize("moves", ["[act]", "[think, act]"])
@pytest.mark.parametrize(
    ("score", "first"),
    [
        ("score: sum", "done"),
        ("score: mean", "done"),
        ("score: prior", "done"),
        ("{score: prior, weight: 1}", "go left"),
    ],
)
def test_an_agent_compares_sentences_as_it_is_told(moves, score, first):
    """By the sum, the mean, or the sum less a share of what a sentence has anyway; with one move or several."""
    model = ActScoring(acts)
    text = AGENT.replace("MOVES", moves).replace("SCORE", score.strip("{}"))
    heard, _ = decisions(text, model)
    assert heard[0] == first


def test_a_sentences_prior_is_asked_for_once_in_a_run():
    """However often it is decided; only sentences that are new are scored again."""
    model = ActScoring(acts)
    decisions(AGENT.replace("MOVES", "[act]").replace("SCORE", "score: prior, weight: 1"), model)
    neutral = [q for q in model.asked if "Say something to do." in q.prompt]
    assert len(model.asked) - len(neutral) == 2, "two acts, to max_steps"
    assert max(Counter(option for q in neutral for option in q.options).values()) == 1


def teams(question: Question, option: str) -> float:
    """Says sales to everything, a little less where it is about billing."""
    return -3.0 if option == " billing" else -2.0 if "charged" in question.prompt else -0.5


@pytest.mark.parametrize("tree", [ASKED, ROUTED], ids=["infer", "route"])
@pytest.mark.parametrize(("calibrate", "team"), [("false", "sales"), ("true", "billing")])
def test_what_a_label_has_anyway_is_taken_off(tree, calibrate, team):
    """With `calibrate` a model that prefers one label hears of the other, too."""
    model = ActScoring(teams)
    _, run = decisions(tree.replace("CALIBRATE", calibrate), model, message="I was charged twice")
    assert run.blackboard["team"] == team
    assert len(model.asked) == (5 if calibrate == "true" else 1), "four cases that say nothing"
    assert ("A message: N/A" in "".join(q.prompt for q in model.asked)) == (calibrate == "true")


@pytest.mark.parametrize(
    "text", [AGENT.replace("MOVES", "[act]").replace("SCORE", "score: prior"), ASKED.replace("CALIBRATE", "true")]
)
def test_without_scores_it_is_a_fault_that_says_what_to_leave_out(text):
    """A server that tells no log-probabilities cannot be adjusted."""
    with Run(load(text), inputs={"message": "x"} if "message" in text else {}, world=Room(),
             model=ActScoring(lambda q, o: -1.0, tells=False), clock=Manual()) as run:  # fmt: skip
        run.spin(ticks=20)
        assert "log-probabilities" in str(run.parts.context.crashes[-1].message)

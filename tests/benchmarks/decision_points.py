"""Decision points along the paths of worlds' oracles: what an agent is asked there, what may be done, what is right."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import bt_runtime as bt
from bt_runtime import BtError
from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.agent import Agent
from bt_runtime.agents.prompt import Prompt
from bt_runtime.agents.rewording import reword
from bt_runtime.agents.scripted import ScriptedAnswer, picked
from bt_runtime.agents.story import ACT, StoryStep
from bt_runtime.agents.surroundings import DONE
from bt_runtime.plugins import open_suite
from bt_runtime.types import Choice, Question, Writing

WORLDS = ("house", "textcraft", "thor", "field", "webshop")
DEEDS = 10  # points of a task at most, its last one included


class Point(NamedTuple):
    world: str
    task: str
    prompt: str  # up to `Act:`
    options: tuple[str, ...]
    right: str
    steps: tuple[StoryStep, ...]  # what was done before
    goal: str

    @property
    def end(self) -> bool:
        return self.right == f" {DONE}"


SHORT = """You reach a goal in a world, one step at a time. Each step begins with one of these: {openings}.
Act: done once you have seen that the goal is reached, and not before."""
REACT = """version: 1
tree: react
inputs: {goal: {type: string}}
root:
  agent: {goal: "{goal}", moves: [think, act], max_steps: 120, example_form: %s}
"""


class Form(NamedTuple):
    """How a point is told: `plain` is the strategy `react` as it is; others are joined by `+`."""

    name: str = "plain"
    turns: bool = False  # worked examples as turns of the conversation
    listed: bool = False  # what can be done now stands behind the latest observation
    short: bool = False  # a system text of two lines, without the world's rules and skills

    @classmethod
    def of(cls, name: str) -> Form:
        parts = dict.fromkeys(name.split("+"), True)
        parts.pop("plain", None)
        if not parts.keys() <= set(cls._fields[1:]):
            raise BtError(f"there is no form `{name}`", f"plain, {', '.join(cls._fields[1:])}, joined by +")
        return cls(name, **parts)

    @property
    def tree(self) -> Any:
        return bt.load(REACT % "turns" if self.turns else "react")

    @property
    def texts(self) -> Mapping[str, str]:
        return {"agent": SHORT} if self.short else {}


PLAIN = Form()


def listing(prompt: Prompt, options: Sequence[str]) -> Prompt:
    """The prompt with the options behind its latest observation."""
    line = f"Now you can: {'; '.join(option.strip() for option in options)}."
    if not prompt.turns:
        return prompt._replace(task=f"{prompt.task.rstrip()}\n{line}\n")
    said, heard = prompt.turns[-1]
    turns = (*prompt.turns[:-1], (said, f"{heard}\n{line}"))
    return prompt._replace(turns=turns, steps=f"{prompt.steps.rstrip()}\n{line}\n")


class Teacher(ScriptedModel):
    """Takes the oracle's acts, and keeps what was asked. Where the agent writes the rest of a sentence (a search), its
    beginning is the choice."""

    register = "instruct"

    def __init__(self, name: str, acts: Iterator[str], template: Any, form: Form = PLAIN) -> None:
        super().__init__([])
        self.form = form
        self.name, self.acts, self.chat_template = name, acts, template
        self.points: list[Point] = []
        self.agent: Agent | None = None

    def ask(self, question: Question) -> ScriptedAnswer:
        if question.kind == "write":
            return ScriptedAnswer(Writing(self.rest, "stop", 1))
        options = question.moves.get(ACT, question.options)
        act = next(self.acts, DONE)
        right, self.rest = picked(options, act)
        if right is None:
            raise BtError(f"{self.name}: the oracle's `{act}` is not on offer")
        opening = ACT if question.kind == "decide" else ""
        assert self.agent is not None
        told = tuple(self.agent.steps), self.agent.goal
        world, _, task = self.name.partition(" ")
        prompt = question.prompt
        if self.form.listed:
            prompt = listing(self.agent.prompt(), options).text(self.chat_template)
        self.points.append(Point(world, task, prompt + opening, tuple(options), right, *told))
        text = opening + right
        return ScriptedAnswer(Choice(text, question.alternatives.index(text), 0.0, 1.0))


def collected(world: str, template: Any, seed: int, most: int, form: Form = PLAIN) -> list[Point]:
    """At least `most` of one world, of unseen tasks: the beginning of each story, some of its middle, and its end."""
    found: list[Point] = []
    suite = open_suite(world)
    for task in suite.tasks(seed=seed, count=most, split="eval"):
        if len(found) >= most:
            break
        here = suite.open()
        here.reset(task)
        teacher = Teacher(f"{world} {task.id}", iter(suite.oracle(here, task)), template, form)
        with bt.Run(form.tree, inputs={"goal": task.goal}, world=here, task=task, model=teacher) as run:
            reword(run.parts.context, form.texts)
            teacher.agent = next(node for node in run.parts.engine.root.iterate() if isinstance(node, Agent))
            followed = run.spin() is bt.Status.SUCCESS
        if teacher.points and followed:
            found += spread(teacher.points)
        else:
            print(f"{teacher.name}: left out, its oracle cannot be followed", file=sys.stderr)
    return found


def spread(points: Sequence[Point]) -> list[Point]:
    """So many of a story, evenly, the first and the last among them."""
    if len(points) <= DEEDS:
        return [*points]
    return [points[round(number * (len(points) - 1) / (DEEDS - 1))] for number in range(DEEDS)]

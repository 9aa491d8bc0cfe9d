"""Decision points along the paths of worlds' oracles: what an agent is asked there, what may be done, what is right."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import bt_runtime as bt
from bt_runtime.agents.agent import Agent
from bt_runtime.agents.scripted import Answered, ScriptedModel, picked
from bt_runtime.agents.story import ACT, Step
from bt_runtime.agents.surroundings import DONE
from bt_runtime.envs.registry import open_suite
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.types import Choice, Question, Writing

WORLDS = ("house", "textcraft", "thor", "field", "webshop")
DEEDS = 10  # points of a task at most, its last one included


class Point(NamedTuple):
    world: str
    task: str
    prompt: str  # up to `Act:`
    options: tuple[str, ...]
    right: str
    steps: tuple[Step, ...]  # what was done before
    goal: str
    fixed: int = 0  # letters of the prompt before its task

    @property
    def end(self) -> bool:
        return self.right == f" {DONE}"


class Teacher(ScriptedModel):
    """Takes the oracle's acts, and keeps what was asked. Where the agent writes the rest of a sentence (a search), its
    beginning is the choice."""

    register = "instruct"

    def __init__(self, name: str, acts: Iterator[str], template: Any) -> None:
        super().__init__([])
        self.name, self.acts, self.chat_template = name, acts, template
        self.points: list[Point] = []
        self.agent: Agent | None = None

    def ask(self, question: Question) -> Answered:
        if question.kind == "write":
            return Answered(Writing(self.rest, "stop", 1))
        options = question.moves.get(ACT, question.options)
        act = next(self.acts, DONE)
        right, self.rest = picked(options, act)
        if right is None:
            raise BtError(f"{self.name}: the oracle's `{act}` is not on offer")
        opening = ACT if question.kind == "decide" else ""
        assert self.agent is not None
        told = tuple(self.agent.steps), self.agent.goal, question.fixed
        world, _, task = self.name.partition(" ")
        self.points.append(Point(world, task, question.prompt + opening, tuple(options), right, *told))
        text = opening + right
        return Answered(Choice(text, question.alternatives.index(text), 0.0, 1.0))


def collected(world: str, template: Any, seed: int, most: int) -> list[Point]:
    """At least `most` of one world, of unseen tasks: the beginning of each story, some of its middle, and its end."""
    found: list[Point] = []
    suite = open_suite(world)
    for task in suite.tasks(seed=seed, count=most, split="eval"):
        if len(found) >= most:
            break
        here = suite.open()
        here.reset(task)
        teacher = Teacher(f"{world} {task.id}", iter(suite.oracle(here, task)), template)
        with bt.Run(bt.load("react"), inputs={"goal": task.goal}, world=here, task=task, model=teacher) as run:
            teacher.agent = next(node for node in run.root.iterate() if isinstance(node, Agent))
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

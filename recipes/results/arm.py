"""The arm of `btr init --example arm` as a source of tasks: its kinds of work, an agent's tree, and an oracle.

Every goal of three kinds is there once; those that were recorded leave out one or two of each kind."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bt_lab.run.case import Case
from bt_lab.run.source import Source, find
from bt_runtime.agents.scripted import ScriptedModel
from bt_runtime.language.project import disk, init
from bt_runtime.skills.worlds.registry import Wanted
from bt_runtime.types import Question

NAME = "example:arm"
CUBES, TRAYS = ("red cube", "green cube", "blue cube"), ("left tray", "right tray")
UNSEEN = 3  # every third goal is in no recorded run
TREE = """version: 1
tree: hand
about: One agent that does what the arm is asked for.
skills: [arm]
inputs: {goal: string}
root:
  agent: {goal: "{goal}", moves: [think, act], recall: false}
"""


def source(project: Path, split: str, count: int) -> Source:
    """Makes the project in this folder. Returns all its tasks, or (`train`) those that are
    recorded, one of them thrice."""
    for place, data in init.files("arm"):
        _write(project / place, data.decode())
    _write(project / "trees" / "hand.yaml", TREE)
    every = [*_tasks()]
    seen = [each for at, each in enumerate(every) if at % UNSEEN != UNSEEN - 1]
    home = every[-1]
    wanted = [*seen, *({**home, "id": f"{home['id']} {n}"} for n in (2, 3))] if split == "train" else every
    told = {"version": 1, "before": "../skills/arm.py:fresh", "tasks": wanted}
    file = project / "tasks" / f"{split}.yaml"
    _write(file, json.dumps(told, indent=1))  # JSON is YAML
    return find(str(file), Wanted(episodes=count))


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    if disk.read_or_nothing(file) != text.encode():
        disk.write(file, text)


def _tasks() -> Iterator[dict[str, Any]]:
    check = "../skills/arm.py:as_wanted"
    for cube, tray in itertools.product(CUBES, TRAYS):
        goal = f"put the {cube} in the {tray}"
        yield {"id": goal, "kind": "one cube", "goal": goal, "data": {"trays": {cube: tray}}, "check": check}
    for cube, (tray, other) in itertools.product(CUBES, itertools.permutations(TRAYS)):
        goal = f"put the {cube} in the {tray} and the other cubes in the {other}"
        trays = {each: tray if each == cube else other for each in CUBES}
        yield {"id": goal, "kind": "three cubes", "goal": goal, "data": {"trays": trays}, "check": check}
    yield {"id": "go home", "kind": "by the tree", "goal": "go home"}


def oracle(case: Case) -> Mapping[str, Any]:
    """Returns the model of an episode: one that knows what to do."""
    steps = [*_steps(case.task.goal), "done"]

    def decide(question: Question) -> str:
        told = question.prompt.rpartition("Your task is to: ")[2]
        return f"Act: {steps[min(told.count('Act: '), len(steps) - 1)]}"

    return {"default": ScriptedModel(decide)}


def _steps(goal: str) -> Iterator[str]:
    found = re.fullmatch(r"put the (\w+ cube) in the (\w+ tray)(?: and the other cubes in the (\w+ tray))?", goal)
    if found is None:
        yield goal
        return
    yield "look at the table"
    others = [each for each in CUBES if each != found[1]] if found[3] else []
    for cube, tray in ((found[1], found[2]), *((each, found[3]) for each in others)):
        yield f"pick up {cube}"
        yield f"put it in the {tray}"

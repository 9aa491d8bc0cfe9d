"""A small room with shelves, boxes and a table; an agent that is scripted; and runs of it that are recorded."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Any

import bt_runtime as bt
from bt_runtime.agents import ScriptedModel
from bt_runtime.types import Model, Observation, Question, Task, Verdict

THINGS = ("cup", "plate", "apple", "book")
PLACES = ("shelf 1", "shelf 2", "box 1", "box 2", "table 1", "desk 1")
TARGETS = ("table", "desk")


class Pantry:
    """Acts by the sentences of skills/house.yaml. Things lie where the task says; boxes are closed."""

    instant = True

    def __init__(self, task: Task) -> None:
        self.goal = task.goal
        self.where: dict[str, str] = dict(task.data["where"])  # type: ignore[arg-type]
        self.closed = {place for place in PLACES if place.startswith("box")}
        self.at, self.held = "", ""
        self.task = task

    def look(self) -> Observation:
        return Observation(f"You are in a room with {', '.join(PLACES)}.")

    def here(self) -> list[str]:
        return [] if self.at in self.closed else [f"{t} 1" for t, place in self.where.items() if place == self.at]

    def skills(self) -> list[str]:
        found = [f"go to {place}" for place in PLACES]
        found += [f"open {self.at}"] if self.at in self.closed else []
        if self.held:
            return [*found, *([f"put down {self.held}"] if self.at not in self.closed and self.at else [])]
        return [*found, *(f"pick up {thing}" for thing in self.here())]

    def act(self, sentence: str) -> Observation:
        if sentence not in self.skills():
            return Observation("That cannot be done now.", False, "not now")
        if sentence.startswith("go to "):
            self.at = sentence.removeprefix("go to ")
        elif sentence.startswith("open "):
            self.closed.discard(self.at)
        elif sentence.startswith("pick up "):
            self.held = sentence.removeprefix("pick up ")
            self.where[self.held.partition(" ")[0]] = ""
        else:
            self.where[self.held.partition(" ")[0]], self.held = self.at, ""
        return Observation(f"You stand at {self.at} and see {', '.join(self.here()) or 'nothing'}.")

    def verdict(self) -> Verdict:
        thing, place = self.task.data["thing"], self.task.data["place"]
        return Verdict(int(self.where[str(thing)] == f"{place} 1"), 1)

    def close(self) -> None:
        """Nothing is open."""


def task(seed: int) -> Task:
    rng = Random(seed)
    thing, place = rng.choice(THINGS), rng.choice(TARGETS)
    # most things lie on shelves
    where = {each: rng.choice(("shelf 1", "shelf 2", "shelf 1", "shelf 2", "box 1", "box 2")) for each in THINGS}
    data: dict[str, Any] = {"thing": thing, "place": place, "where": where}
    return Task(f"pantry-{seed}", "tidy", f"move the {thing} on the {place}", data)


def decide(world: Pantry) -> Any:
    """Decides as a careful agent would: expands errands, looks into one place after another."""

    def script(question: Question) -> str:
        story = question.prompt.rpartition("Your task is to: ")[2]
        goal = story.partition("\n")[0].strip()
        moved = re.fullmatch(r"move the (\w+) on the (\w+)", goal)
        if moved is not None:
            parts = f"find and pick up the {moved[1]}", f"go to the {moved[2]} and put down the {moved[1]} on it"
            return "Expand: sequence:\n" + "".join(f"- {part}\n" for part in parts)
        offered, done = world.skills(), re.findall(r"^Act: (.+)$", story, re.MULTILINE)
        found = re.fullmatch(r"find and pick up the (\w+)", goal)
        if found is not None:
            return f"Act: {_search(found[1], offered, done, world)}"
        put = re.fullmatch(r"go to the (\w+) and put down the (\w+) on it", goal)
        assert put is not None, goal
        if not done:
            return f"Act: go to {put[1]} 1"
        return f"Act: put down {put[2]} 1" if world.held else "Act: done"

    return script


def _search(thing: str, offered: list[str], done: list[str], world: Pantry) -> str:
    if world.held:
        return "done"
    if f"pick up {thing} 1" in offered:
        return f"pick up {thing} 1"
    if f"open {world.at}" in offered:
        return f"open {world.at}"
    left = [place for place in PLACES[:4] if f"go to {place}" not in done]
    return f"go to {left[0]}" if left else "failure"


STRATEGY = """version: 1
tree: errand
skills: [house]
inputs: {goal: {type: string}}
root:
  agent: {goal: "{goal}", moves: [think, act, expand], leaf: errand, recall: false}
"""


def recorded(project: Path, seeds: range, decider: Any = decide) -> list[Path]:
    """Records a run for each seed in a project's runs/; returns all its journals."""
    tree = project / "trees" / "errand.yaml"
    tree.parent.mkdir(parents=True, exist_ok=True)
    tree.write_text(STRATEGY, "utf-8")
    for seed in seeds:
        todo = task(seed)
        world = Pantry(todo)
        played(tree, world, ScriptedModel(decider(world)), project / "runs")
    return sorted((project / "runs").glob("*.btr"))


def played(tree: Path, world: Pantry, model: Model, journal: Path | None = None) -> bt.Status:
    """Runs a tree on the world's task."""
    given: dict[str, Any] = {"journal": journal} if journal is not None else {}
    goal = {"goal": world.task.goal}
    with bt.Run(bt.load(str(tree)), inputs=goal, world=world, task=world.task, model=model, **given) as run:
        return run.spin()


class Nobody(ScriptedModel):
    """A model that nobody may ask."""

    def __init__(self) -> None:
        super().__init__(self.refuse)

    @staticmethod
    def refuse(question: Question) -> str:
        raise AssertionError(f"the model was asked to {question.kind}: {question.prompt[-300:]}")

"""The parts of an evaluation: one set-up, strategies, and a case for each episode. They are plain values that can be
sent to another process, which needs only a model besides."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from bt_runtime.tree.budget import Budget
from bt_runtime.types import Json, Task

_DEPTH = re.compile(r"depth (\d+)")


class Setup(NamedTuple):
    """An evaluation's settings. `learning`: episodes note their experience, and the outcome carries it."""

    suite: str  # empty: no world
    world: Mapping[str, Json] = {}  # options that the world is opened with
    seed: int = 0
    budget: Budget | None = None  # budget of each whole run
    seconds: float = math.inf  # seconds of the run's clock, after which it is halted
    recall: bool = True
    free: bool = False
    level: str = ""  # level of the shown experiences; "": as the tree says
    example_tokens: int = 0  # tokens of all experiences together; 0: as the tree says
    similarity: float | None = None  # least similarity of their goals; None: as the tree says
    learning: bool = False
    before: str = ""  # without a world: what is called before each episode, path.py:Name
    journals: str = ""  # the folder for them; empty: none are kept
    prompts: str = ""  # the register of all of them; empty: each model's own

    def journalled(self, folder: Path) -> Setup:
        """Returns the set-up with a journal of every episode in the evaluation's folder."""
        return self._replace(journals=str(folder / "runs"))


class Strategy(NamedTuple):
    """A tree by name or file, and its inputs besides the goal."""

    name: str
    tree: str
    inputs: Mapping[str, Json] = {}
    memory: str = ""  # the file with its experiences
    oracle: bool = False  # the world's oracle decides in it, and no model


class Case(NamedTuple):
    strategy: Strategy
    task: Task
    number: int  # the episode's number in the evaluation

    @property
    def key(self) -> str:
        return f"{self.strategy.name}\0{self.task.id}"


def cases(strategies: Sequence[Strategy], tasks: Sequence[Task]) -> list[Case]:
    """Lists the cases task by task, so that an interrupted evaluation has covered equal tasks for every strategy."""
    pairs = [(strategy, task) for task in tasks for strategy in strategies]
    return [Case(strategy, task, number) for number, (strategy, task) in enumerate(pairs)]


def size(task: Task, total: int) -> int:
    """Returns a task's size: the depth in its kind's name, else the number of subgoals."""
    found = _DEPTH.fullmatch(task.kind)
    return int(found[1]) if found else total

"""A memory of episodes as an evaluation has one: what agents of other tasks did, told to those whose goals are near.

It is the runtime's own store and search, so a lesson's agents are told what they will be told at run time: as many
whole experiences as fit into so many tokens, the nearest first, of tasks that were met in other homes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from bt_runtime.memory.episodes import Episodes, Level
from bt_runtime.memory.experience import Experience
from bt_runtime.memory.retrieval import Retrieval
from bt_runtime.memory.store import Added

_LETTERS = 3.4  # of a token
_ASTRAY = 0.1  # of the questions are answered for a goal that is not asked about


class Memory:
    """Experiences of some tasks. Whoever goes through a lesson sees a part of them, and adds nothing."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.episodes = Episodes.open(Path(self.folder.name) / "memory.sqlite", count=_tokens)
        self.goals: list[str] = []

    def learn(self, task: str, experiences: Iterable[Experience]) -> None:
        """The same tasks give the same memory, whenever and wherever."""
        told = [replace(each, run=task, task=task, when=1.0) for each in experiences]
        self.goals += [each.goal for each in told if each.verdict]
        self.episodes.add(told)

    def close(self) -> None:
        self.episodes.close()
        self.folder.cleanup()


class Notes:
    """Stands for a memory where experiences are only gathered."""

    def __init__(self) -> None:
        self.noted: list[Experience] = []

    def ask(self, goal: str, *_: Any, **__: Any) -> Answer:
        return Answer(Retrieval(goal, (), (), 0, None, "there are no experiences yet"))

    def add(self, experiences: Iterable[Experience]) -> Added:
        self.noted += experiences
        return Added(0, 0)


class Reminder(Notes):
    """One lesson's view of a memory."""

    def __init__(self, memory: Memory, level: Level, tokens: int, rng: Random) -> None:
        super().__init__()
        self.memory, self.level, self.tokens, self.rng = memory, level, tokens, rng

    def ask(self, goal: str, budget: int | None = None, k: int = 5, *, seed: int = 0, **_: Any) -> Answer:
        if self.memory.goals and self.rng.random() < _ASTRAY:
            goal = self.rng.choice(self.memory.goals)
        seed = self.rng.randrange(1000)
        return Answer(self.memory.episodes.retrieve(goal, self.tokens, k, level=self.level, seed=seed))


class Answer:
    """It is there at once."""

    def __init__(self, found: Retrieval) -> None:
        self.found = found

    def poll(self) -> Retrieval:
        return self.found

    def cancel(self, reason: str) -> None:
        """Nothing goes on."""


def _tokens(text: str) -> int:
    return round(len(text) / _LETTERS)

"""Random runs of a tree on the engine: skills end in any way, and anybody outside writes entries."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from bt_runtime import Run, Skill, Tree
from bt_runtime.testing import FAILURE, RUNNING, SUCCESS, Trial

VALUES: dict[str, tuple[Any, ...]] = {"a": (True, False), "b": (True, False), "n": (0, 1, 2), "q": ([], [1], [2, 1])}


class Skills:
    """Gives each node a skill that does anything."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def get(self, name: str) -> type[Skill]:
        random = self.random

        class Anything(Skill):
            wakes = True

            def start(self, **params: Any) -> None:
                if random.random() < 0.03:
                    raise RuntimeError("it does not start")

            def poll(self) -> Any:
                if random.random() < 0.06:
                    raise RuntimeError("it breaks")
                ways = (SUCCESS, SUCCESS, FAILURE) if name == "is_near" else (RUNNING, SUCCESS, SUCCESS, FAILURE)
                way = random.choice(ways)
                if name == "look" and way is SUCCESS:  # a proof says that it takes no other outputs into account
                    self.result = {"seen": random.random() < 0.5}
                return way

        return Anything


def run_at_random(tree: Tree, random: Random, entries: Sequence[str], ticks: int) -> Iterator[Run]:
    """Yields the run after each of its ticks. `entries`: those that somebody outside writes."""
    with Trial(tree, allow="*", slow=None) as trial:
        trial.run.parts.context.services.scripted_skills = Skills(random)
        for _ in range(ticks):
            for name in entries:
                if random.random() < 0.4:
                    trial.board[name] = random.choice(VALUES[name])
            trial.tick()
            yield trial.run
            if trial.status is not RUNNING:
                return
            left = trial.due - trial.clock.now()
            if 0 < left < math.inf and random.random() < 0.8:
                trial.clock.advance(left)

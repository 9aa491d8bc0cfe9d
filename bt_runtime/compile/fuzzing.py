"""Runs a compiled tree in worlds that answer at random: it must end, and no node may break."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bt_runtime.agents.scripted import ScriptedModel
from bt_runtime.compile.compiling import Compiled
from bt_runtime.events import Crash
from bt_runtime.run.run import Run, load
from bt_runtime.types import Observation

MOST_TICKS = 5_000
OFFERED = 40  # sentences at a time


class RandomWorld:
    """Offers any of the recorded actions, does some of them, and answers with any recorded observation."""

    instant = True

    def __init__(self, seed: int, sentences: Sequence[str], answers: Sequence[str]) -> None:
        self.random = random.Random(seed)
        self.sentences, self.answers = sentences, answers
        self.kind = self.random.choice((0.0, 0.5, 1.0))  # how often an action succeeds

    def look(self) -> Observation:
        return Observation(self.random.choice(self.answers))

    def skills(self) -> Sequence[str]:
        return self.random.sample(self.sentences, min(len(self.sentences), self.random.randint(0, OFFERED)))

    def act(self, sentence: str) -> Observation:
        done = self.random.random() < self.kind
        return Observation(self.random.choice(self.answers), done, "" if done else "it cannot be done")

    def close(self) -> None:
        """Nothing is open."""


def fuzzed(found: Compiled, cases: int, seed: int = 0) -> str:
    """Runs that many cases; says how they went, or what broke in which case."""
    acts = [act for trace in found.traces for life in trace.lives for act in life.deeds()]
    sentences = sorted({said for act in acts for said in (act.sentence, *act.offered)})
    answers = sorted({act.observation for act in acts if act.observation}) or ["Nothing happens."]
    goals = sorted({story.life.goal for case in found.cases for story in case.stories})
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="btr-") as folder:
        file = Path(folder, f"{found.name}.yaml")
        file.write_text(found.text, "utf-8")
        for case in range(cases):
            world = RandomWorld(seed + case, sentences, answers)
            wrong = _played(file, chance.choice(goals), world)
            if wrong:
                return f"case {case} of seed {seed}: {wrong}"
    return f"{cases} random worlds: it ended in each, and no node broke"


def _played(file: Path, goal: str, world: Any) -> str:
    broken: list[Crash] = []
    model = ScriptedModel(lambda question: "Act: failure")
    with Run(load(file), inputs={"goal": goal}, world=world, model=model) as run:
        run.listen(broken.append, Crash)
        for _ in range(MOST_TICKS):
            if not run.tick().running:
                break
        else:
            return f"`{goal}` did not end in {MOST_TICKS} ticks"
    return f"`{goal}`: {broken[0].path} broke: {broken[0].message}" if broken else ""

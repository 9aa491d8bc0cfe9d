"""Runs a compiled tree in worlds that answer at random: it must end, and no node may break."""

from __future__ import annotations

import random
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from py_trees.common import Status

from bt_runtime.agents.compile.compiling import Compiled
from bt_runtime.agents.scripted import ScriptedModel
from bt_runtime.agents.story import ACT
from bt_runtime.agents.surroundings import FAILURE
from bt_runtime.language import project
from bt_runtime.language.entry import ELSEWHERE, WORLD_SKILL
from bt_runtime.language.kinds.kind import Field, Kind
from bt_runtime.run.run import load
from bt_runtime.testing.trial import Trial
from bt_runtime.types import Observation, Question

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
    goals = sorted(
        {story.life.goal for case in found.cases for story in case.stories} or {t.goal for t in found.traces}
    )
    chance = random.Random(seed)
    # a tree that calls itself has to lie in the project
    with tempfile.TemporaryDirectory(prefix=".btr-", dir=project.find_root()) as folder:
        file = Path(folder, f"{found.name}.yaml")
        file.write_text(found.text, "utf-8")
        for case in range(cases):
            world = RandomWorld(seed + case, sentences, answers)
            wrong = _played(file, chance.choice(goals), world, found)
            if wrong:
                return f"case {case} of seed {seed}: {wrong}"
    return f"{cases} random worlds: it ended in each, and no node broke"


def _played(file: Path, goal: str, world: RandomWorld, found: Compiled) -> str:
    """What went wrong in one case. No skill of a person's own is started: each is a double that does anything."""
    doubles = {name: _double(kind, world) for name, kind in found.lexicon.kinds.items() if _own(kind)}
    used = {name: each for name, each in doubles.items() if re.search(rf"^\s*(?:- )?{name}:", found.text, re.MULTILINE)}
    given: dict[str, Any] = {"world": world} if found.traces[0].world or not used else {}
    model = ScriptedModel(lambda question: _answer(question, world))
    tree = load(file, skills=found.lexicon.given.values())
    with Trial(tree, skills=used, inputs={"goal": goal}, services={"model": model}, **given) as trial:
        for _ in range(MOST_TICKS):
            if trial.step() is not Status.RUNNING:
                break
        else:
            return f"`{goal}` did not end in {MOST_TICKS} ticks"
        broken = trial.crashes
    return f"`{goal}`: {broken[0].path} broke: {broken[0].message}" if broken else ""


def _answer(question: Question, world: RandomWorld) -> str:
    """An agent gives up; a choice is drawn."""
    gives_up = question.kind == "decide" or any(each.strip() == FAILURE for each in question.options)
    if gives_up or question.kind != "choose":
        return f"{ACT} {FAILURE}" if gives_up else "anything"
    return world.random.choice(question.options)


def _own(kind: Kind) -> bool:
    """True for a skill that a random world cannot act by its sentence."""
    impl = kind.data["entry"].impl
    return impl == WORLD_SKILL or impl not in ELSEWHERE


def _double(kind: Kind, world: RandomWorld) -> Any:
    """Fails now and then; gives outputs that were recorded, or any of their type."""
    outputs = [field for field in kind.fields if field.writes]

    def act(**params: Any) -> Any:
        if world.random.random() >= world.kind:
            return Status.FAILURE
        return {field.name: _value(field, world) for field in outputs} or Status.SUCCESS

    return act


def _value(field: Field, world: RandomWorld) -> Any:
    shape = re.compile(rf"^{re.escape(field.name)}: (.*)$", re.MULTILINE)
    recorded = [value for answer in world.answers for value in shape.findall(answer)]
    if recorded and field.type in ("string", "any"):
        return world.random.choice(recorded)
    return {"integer": 1, "number": 0.5, "boolean": True, "list": [], "object": {}}.get(field.type, "anything")
